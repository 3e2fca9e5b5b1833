/*
 * renaming.h - finds files that have another name on the other side of a comparison.
 *
 * A file that only B has is taken for a file that only A has if the latter has at least half of its functions.
 * In       the rows of profile/diff/delta, not paired yet
 * Out      pairs of names, which belong to the delta
 * Owns     the lists
 * Errors   none
 * Threads  no state
 */
#ifndef PACE_PROFILE_RENAMING_H
#define PACE_PROFILE_RENAMING_H

#include "profile/diff/delta.h"

struct renaming { /* b[i] is called a[i] in A */
	VEC(const char *) a, b;
	struct table index; /* of b, by the text's address */
};

void renaming_find(struct renaming *ret, const struct delta *d);
void renaming_fini(struct renaming *r);

/* The name in A of a file of B: an interned name of the delta, or b itself. */
const char *renaming_of(const struct renaming *r, const char *b);

#endif
