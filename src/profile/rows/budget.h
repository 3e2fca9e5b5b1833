/*
 * budget.h - which functions of a call tree get a line where there are only so many lines.
 *
 * In       an outline whose shared lines are known; the node below which lines are wanted
 * Out      by node: whether it has a line, and what the line "more" below it sums up
 * Owns     its arrays
 * Units    period
 *
 * A line may tell of a function, always with all its callers, or sum up what has no line of its own: that
 * is said below the nearest caller, or further up. What readers do not know yet is counted in bits: where
 * in a sum the time goes (its entropy), one bit for a function that is not named, and a quarter of a bit
 * for what is summed up further up than necessary. Lines go, one after the other, to what saves most bits
 * a line; so a large function comes before a sum, and a sum before a function that hardly ran.
 */
#ifndef PACE_PROFILE_BUDGET_H
#define PACE_PROFILE_BUDGET_H

#include "profile/rows/outline.h"

struct budget {
	bool *has_line; /* by node; the top has one or, if it is 0, stands for it */
	u64 *rest; /* by node with a line: what the line "more" below it sums up; 0: there is none */
	u64 *n_hidden; /* and in how many nodes that ends */
	double bits;   /* what readers do not know, of the average sample */
};

/* At most n lines below `top`, which has the first, or of all; at least one is chosen, two for a top. */
void budget_init(struct budget *b, const struct outline *o, u32 top, u64 n);
void budget_fini(struct budget *b);

#endif
