/*
 * statrows.h - counts as a table of cells, for programs.
 *
 * In       the lines of an interval or of a whole measurement
 * Out      struct rowset: a row for each event in each place, and its metrics below it; or flat: a row for each
 *          metric, with what the measurement took as if these were events
 * Owns     what statrows_init() makes
 */
#ifndef PACE_VIEW_STATROWS_H
#define PACE_VIEW_STATROWS_H

#include "profile/rowset.h"
#include "view/stat.h"

struct statrow {
	u32 line;   /* UINT32_MAX: a time of the run */
	u32 metric; /* of the line; else which time */
};

struct statrows {
	struct rowset rows;
	const struct stat_view *view;
	const struct stat_lines *lines;
	const struct stat_facts *facts;
	u64 time_ns; /* UINT64_MAX: of the whole */
	VEC(struct statrow) at;
};

/* facts: of a measurement that is over; NULL: of an interval. */
void statrows_init(struct statrows *r, const struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, u64 time_ns, bool is_flat);
void statrows_fini(struct statrows *r);

#endif
