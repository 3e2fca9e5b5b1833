/*
 * stat_live.h - intervals of counts on a terminal, in place: for each event a strip of its last intervals.
 *
 *     # 12.0 s; the last 9 intervals of 1.0 s
 *              1,003.21 msec task-clock        ▁▂▃▅▇█▃▁▁ #    1.003 CPUs utilized
 *
 * In       the lines of one interval after the other; the size of the terminal
 * Out      text that takes the place of the one before. Strips go from 0 to the highest rate that they show; what was
 *          not counted is a gap. What is too wide is cut, and what is too high is left out and said
 * Owns     the strips
 * Threads  one
 */
#ifndef PACE_VIEW_STAT_LIVE_H
#define PACE_VIEW_STAT_LIVE_H

#include "view/stat/stat.h"

enum { STAT_STRIP_MOST = 60 }; /* intervals */

/* The counts of one event for each ns in one place, the last interval last; NAN: it was not counted. */
struct stat_strip {
	size_t event, place; /* their indexes in the counts */
	double rates[STAT_STRIP_MOST];
};

struct stat_live {
	VEC(struct stat_strip) strips;
	unsigned columns, rows; /* of the terminal; set before each interval */
	bool is_ascii;
	unsigned
		n_drawn; /* lines of the last text that still stand above the cursor; 0: draw below */
	unsigned metric_columns; /* of the widest metric so far */
};

void stat_live_fini(struct stat_live *live);

/* Adds the interval's counts to the strips, and the text that shows them. interval_ns: how long it was. */
void stat_live_add(struct stat_live *live, const struct stat_view *v,
	const struct stat_lines *lines, u64 time_ns, double interval_ns, struct str *text);

#endif
