/*
 * brief.h - a short summary of a recording: its hottest functions, and whether its stacks are complete.
 *
 * In       a named profile and its ledger
 * Out      shares; names that belong to the profile
 * Owns     nothing
 */
#ifndef PACE_PROFILE_BRIEF_H
#define PACE_PROFILE_BRIEF_H

#include "profile/check/ledger.h"
#include "profile/gather/profile.h"

enum { BRIEF_FUNCTIONS = 5 };

struct brief_function {
	u32 symbol;
	double share; /* of the event's period, 0..1 */
};

struct brief {
	u32 event; /* with the most samples */
	size_t n;
	struct brief_function functions[BRIEF_FUNCTIONS]; /* by self period, the hottest first */
	u64 n_stacks, n_whole; /* all stacks, and complete ones; of all events */
	/* The most frequent cause of incomplete stacks, with its remedy; NULL: there is none. */
	const struct ledger_entry *worst;
	const struct ledger_entry *interpreted; /* the most frequent interpreter; NULL: none */
	const struct ledger_entry *nameless; /* the most frequent file without names; NULL: none */
};

void brief_init(struct brief *b, const struct profile *p, const struct ledger *l);

#endif
