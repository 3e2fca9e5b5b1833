/*
 * renaming.h - programs that have another name on the other side of a comparison.
 *
 * A file that only B has is one that only A has if at least half of its functions are that one's.
 * In       the rows of profile/diff/delta, not paired yet
 * Out      pairs of names, which are the delta's
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

/* What a file of B is called in A: an interned name of the delta's, or b. */
const char *renaming_of(const struct renaming *r, const char *b);

#endif
