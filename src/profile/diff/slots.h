/*
 * slots.h - shares of TopDown from counts of events: of one kind of core, in one place.
 *
 * A share is computed from the counts of one group only, so it is never made of different moments.
 * In       a plan, whose groups are the first events of the list; counts by event
 * Out      shares of all slots, 0 to 1; NaN: not known
 */
#ifndef PACE_PROFILE_SLOTS_H
#define PACE_PROFILE_SLOTS_H

#include "event/tmaplan.h"
#include "profile/diff/counts.h"

struct slots {
	double share[TMA_NODES_MAX];
	bool is_notable[TMA_NODES_MAX];
	double whole;    /* what level 1 adds up to, by counts that tell: 1; NaN: nothing tells */
	double running;  /* the smallest share of its time that an event was on the PMU */
	bool is_counted; /* a share is known */
	bool has_run;    /* the events were on the PMU, whatever they counted */
};

void slots_of(struct slots *s, const struct tma_plan *plan, u32 core, const struct count *counts);

/* The counts of one place, by event: of the last interval, or the mean of all runs. */
void slots_take(const struct counts *c, u32 place, bool is_interval, struct count *ret_counts);

#endif
