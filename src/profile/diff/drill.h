/*
 * drill.h - one step of a drill-down: which branch of a tree of shares dominates, and how sure that is.
 *
 * The first step follows the largest share of those above their limits, and the largest of all if none is; below, the
 * largest, if it is above 0. It is sure if no other such share lies within its 95% interval, which needs two measurements or more.
 *
 * In       the shares of sibling branches, measurement by measurement
 * Out      the branch to follow, the one after it
 * Owns     its branches; texts are the caller's
 */
#ifndef PACE_PROFILE_DRILL_H
#define PACE_PROFILE_DRILL_H

#include "base/types.h"
#include "base/vec.h"
#include "profile/maths/variance.h"

struct drill_branch {
	const char *name;
	u32 node;              /* the caller's */
	struct variance share; /* 0 to 1 */
	u32 n_notable;         /* measurements in which it was above its limit */
};

struct drill_step {
	const char *parent; /* whose branches they are; NULL: of all slots */
	VEC(struct drill_branch) branches;
	u32 best, second; /* their positions after drill_decide(); DRILL_NONE */
	bool is_sure;
};

#define DRILL_NONE 0xffffffffu

/* Adds one measurement of a branch; NaN is left out. */
void drill_add(struct drill_step *s, const char *name, u32 node, double share, bool is_notable);

void drill_decide(struct drill_step *s);

/* Half of the 95% interval of a branch's share; NaN: measured less than twice. */
double drill_half(const struct drill_branch *b);

/* Above its limit in most measurements. */
bool drill_is_notable(const struct drill_branch *b);

void drill_step_fini(struct drill_step *s);

#endif
