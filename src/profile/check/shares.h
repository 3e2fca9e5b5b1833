/*
 * shares.h - the share of a profile that belongs to a name: the values of assertions.
 *
 * In       a named profile, its call tree, the ledger's numbers
 * Out      percent of the event's period
 * Owns     nothing
 */
#ifndef PACE_PROFILE_SHARES_H
#define PACE_PROFILE_SHARES_H

#include "profile/check/account.h"
#include "profile/tree/calls.h"
#include "profile/check/assertion.h"

struct shares {
	const struct profile *profile;
	const struct calls *calls;
	const struct account *account;
	u32 event;
	const char *unknown; /* a name asked for that the profile does not have; or NULL */
	/*
	 * The same, but naming made the name up from the address of a function in a stripped file. Such names
	 * never match: the next build has others.
	 */
	const char *made_up;
};

/* An assertion_value; ctx is struct shares. comm() needs LABEL_COMM. */
double shares_value(void *ctx, enum assertion_word word, const char *name);

#endif
