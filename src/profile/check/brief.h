/*
 * brief.h - what a recording has, in a few words: its hottest functions, and whether its stacks are whole.
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
	u32 event; /* the one with most samples */
	size_t n;
	struct brief_function functions[BRIEF_FUNCTIONS]; /* by what was spent in themselves */
	u64 n_stacks, n_whole;                            /* of all events; 0: none was looked at */
	/* Where most of the others end, and what would repair it; NULL: there are none. */
	const struct ledger_entry *worst;
	const struct ledger_entry *interpreted; /* the same of an interpreter */
	const struct ledger_entry *nameless;    /* the same of code without names */
};

void brief_init(struct brief *b, const struct profile *p, const struct ledger *l);

#endif
