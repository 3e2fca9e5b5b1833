/*
 * calls.h - the call tree of a profile, function by function.
 *
 * A profile's stacks are made of addresses; here they are merged by symbol, so that all calls from
 * anywhere in f to anywhere in g are one edge. Each node is a path from the root. Inlined functions are
 * below the function that contains them, as if they had been called.
 * In       a profile with names
 * Out      nodes, parents before children; the node of each row of the profile
 * Owns     its arrays
 */
#ifndef PACE_PROFILE_CALLS_H
#define PACE_PROFILE_CALLS_H

#include "profile/gather/profile.h"

struct calls_node {
	u32 parent; /* node 0 is the root: no function */
	u32 symbol;
	u32 function; /* the node itself; for inlined code, the node of the function that contains it */
	u32 depth;       /* the root's is 0 */
	u32 first_child; /* 0: none */
	u32 next_sibling;
};

struct calls {
	VEC(struct calls_node) nodes;
	u32 *of_row;       /* by position in profile->rows */
	size_t *first_row; /* by event, and the end: where its rows begin in `rows` */
	u32 *rows;         /* positions in profile->rows, by event, ascending */
};

void calls_init(struct calls *c, const struct profile *p);
void calls_fini(struct calls *c);

/* The same nodes for a profile with some of the rows: rows[i] is the whole's position of row i. The whole must stay. */
void calls_init_part(struct calls *c, const struct calls *whole, const struct profile *part,
	const u32 *rows);
void calls_fini_part(struct calls *c);

#endif
