/*
 * bounds.h - keeps a chart within its limits, by merging what is shortest and closest.
 *
 * Each function does nothing while there is room. Then it doubles the length below which things may be merged, until a
 * quarter of the limit is free again. What is merged stays in sums and counts; of a CPU's frequencies and of samples every
 * second is kept; of times off CPUs with stacks, the longer ones.
 * Threads  one
 */
#ifndef PACE_PROFILE_BOUNDS_H
#define PACE_PROFILE_BOUNDS_H

#include "profile/chart/chart.h"

void bounds_merge_pieces(struct chart *t);
void bounds_merge_wakes(struct chart *t);
void bounds_merge_ios(struct chart *t);
void bounds_drop_waits(struct chart *t);

/* per event */
static inline void bounds_keep_pieces(struct chart *t)
{
	if (t->limits.pieces && t->n_pieces > t->limits.pieces)
		bounds_merge_pieces(t);
}

static inline void bounds_keep_wakes(struct chart *t)
{
	if (t->limits.wakes && t->wakes.n > t->limits.wakes)
		bounds_merge_wakes(t);
}

static inline void bounds_keep_ios(struct chart *t)
{
	if (t->limits.ios && t->ios.n > t->limits.ios)
		bounds_merge_ios(t);
}

static inline void bounds_keep_waits(struct chart *t)
{
	if (t->waits.n > t->limits.waits)
		bounds_drop_waits(t);
}

void bounds_keep_samples(struct chart *t);
void bounds_keep_speeds(const struct chart *t, struct chart_cpu *c);

#endif
