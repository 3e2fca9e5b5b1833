/*
 * lanes.h - samples for formats that show time: by thread and event, each lane in the order of time.
 *
 * If times are not known (imported profiles, recordings without them), a lane has its stacks one after the other, as if each had lasted as
 * long as its value.
 * In       rows with nodes and places (FORM_WANTS_STACKS), and rowset.times
 * Out      lanes, in the order of their first samples; their items sum to the tree's values, unless the timeline was thinned
 * Owns     its arrays and names, until lanes_fini()
 */
#ifndef PACE_VIEW_LANES_H
#define PACE_VIEW_LANES_H

#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "profile/rows/rowset.h"

struct lane {
	const char *name; /* the thread's last one; "" if it is not known */
	u32 pid, tid;     /* 0 if times are not known */
	u32 part;
	size_t first, n; /* in items */
};

struct lane_item {
	u64 time; /* ns; since the lane's begin if times are not known */
	u64 value;
	u32 node;
	u32 cpu; /* (u32)-1: not known */
};

struct lanes {
	VEC(struct lane) at;
	struct lane_item *items;
	size_t n_items;
	bool has_times;
	u64 first_time, last_time; /* of all items */
	struct table index;        /* of lanes */
	struct intern names;
};

void lanes_init(struct lanes *l, const struct rowset *r);
void lanes_fini(struct lanes *l);

#endif
