/*
 * tracks.h - samples for formats that show time: by thread and event, each track in the order of time.
 *
 * If times are not known (imported profiles, recordings without them), a track has its stacks one after the other, as if each had lasted as
 * long as its value.
 * In       rows with nodes and places (FORM_WANTS_STACKS), and rowset.times
 * Out      tracks, in the order of their first samples; their items sum to the tree's values, unless the timeline was thinned
 * Owns     its arrays and names, until tracks_fini()
 */
#ifndef PACE_VIEW_TRACKS_H
#define PACE_VIEW_TRACKS_H

#include "base/str.h"
#include "base/table.h"
#include "base/vec.h"
#include "profile/rows/rowset.h"

struct track {
	const char *name; /* the thread's last one; "" if it is not known */
	u32 pid, tid;     /* 0 if times are not known */
	u32 part;
	size_t first, n; /* in items */
};

struct track_item {
	u64 time; /* ns; since the track's begin if times are not known */
	u64 value;
	u32 node;
	u32 cpu; /* (u32)-1: not known */
};

struct tracks {
	VEC(struct track) at;
	struct track_item *items;
	size_t n_items;
	bool has_times;
	u64 first_time, last_time; /* of all items */
	struct table index;        /* of tracks */
	struct intern names;
};

void tracks_init(struct tracks *l, const struct rowset *r);
void tracks_fini(struct tracks *l);

#endif
