/*
 * insnstat.h - instructions by name, and how many samples of each access data whose type is known.
 *
 * In       functions with their instructions, and the types of what these access
 * Out      a row for each name, the one with the most samples first
 * Owns     its rows and names
 *
 * Invariant: the samples of all rows sum to those of the annotation. Samples without an instruction have rows, too, whose names
 * say why, in parentheses.
 */
#ifndef PACE_PROFILE_INSNSTAT_H
#define PACE_PROFILE_INSNSTAT_H

#include "base/str.h"
#include "base/table.h"
#include "profile/code/rowtypes.h"

enum insnstat_kind {
	INSNSTAT_GOOD, /* what it accesses is known */
	INSNSTAT_BAD,
	INSNSTAT_NONE, /* it accesses no memory */
	INSNSTAT_KINDS,
};

struct insnstat_count {
	u64 samples, places; /* places: sampled addresses; of no instruction: 0 */
};

struct insnstat_row {
	const char *name;
	struct insnstat_count of[INSNSTAT_KINDS];
};

struct insnstat {
	VEC(struct insnstat_row) rows;
	struct insnstat_row all;
	struct table index;
	struct intern names;
};

/* Counts samples that lie in no function. */
void insnstat_add_nameless(struct insnstat *s, const struct annotation *a);

/* is_before: by event, whether the instruction that ran before the sampled one counts. */
void insnstat_add(struct insnstat *s, const struct assembly *a, const struct rowtypes *types,
	const bool *is_before);
void insnstat_sort(struct insnstat *s);
void insnstat_fini(struct insnstat *s);

#endif
