/*
 * shares.h - what parts of a profile a name has: the values that claims are about.
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
	const char *unknown; /* set: a name was asked for that nothing in the profile has */
	/*
	 * Set: the same, but naming made it up for functions of a stripped file, after where they begin. Such
	 * names are never meant: the next build has others.
	 */
	const char *made_up;
};

/* A assertion_value; ctx is struct shares. comm() needs LABEL_COMM. */
double shares_value(void *ctx, enum assertion_word word, const char *name);

#endif
