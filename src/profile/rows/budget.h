/*
 * budget.h - chooses the functions of a call tree that get a line when the number of lines is limited.
 *
 * In       an outline whose shared lines are known; the node below which lines are wanted
 * Out      for each node whether it has a line, and what the line "more" below it sums up
 * Owns     its arrays
 * Units    period
 *
 * A line shows either a function, whose callers then all have lines too, or the sum of functions without a
 * line, below their nearest shown caller or further up. What readers do not learn is counted in bits: the
 * entropy of each sum, one bit for a function that is not named, and a quarter of a bit for anything summed
 * up further up than necessary. Each line goes to whatever saves the most bits per line; so a large function
 * comes before a sum, and a sum before a function that hardly ran.
 */
#ifndef PACE_PROFILE_BUDGET_H
#define PACE_PROFILE_BUDGET_H

#include "profile/rows/outline.h"

struct budget {
	bool *has_line; /* by node; always true for the top, although node 0 is not shown */
	u64 *rest; /* by node with a line: period that the line "more" below it sums up; 0: no such line */
	u64 *n_hidden; /* by node with a line: number of nodes with own samples in that sum */
	double bits;   /* unknown to readers, per average sample */
};

/* Chooses at most n lines: `top`, which has the first, and nodes below it; 0: of all. At least one, two with a top. */
void budget_init(struct budget *b, const struct outline *o, u32 top, u64 n);
void budget_fini(struct budget *b);

#endif
