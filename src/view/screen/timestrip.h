/*
 * timestrip.h - when samples were taken, as a heat line for all of them and one for each busy thread; a range to choose.
 *
 * In       samples, each with its time and thread; keys and clicks
 * Out      a grid; a range of time, if the user takes one
 * Owns     what was added, until timestrip_fini()
 * Units    ns of the recording's clock; a range has both of its ends
 * Errors   none
 */
#ifndef PACE_VIEW_TIMESTRIP_H
#define PACE_VIEW_TIMESTRIP_H

#include "base/str.h"
#include "base/vec.h"
#include "view/screen/screen.h"
#include "view/screen/textpage.h"

struct timestrip_sample {
	u64 time;
	u32 lane, n;
};

struct timestrip_lane {
	struct str name;
	u64 n; /* samples */
	u32 id;
};

struct timestrip {
	const char *title;
	struct screen *screen;
	VEC(struct timestrip_sample) samples;
	VEC(struct timestrip_lane) lanes; /* by number; drawn: the busiest first */
	VEC(u32) order;
	u64 first, last;   /* the times of samples */
	u64 *counts;       /* of the lanes in `order`, those of all first, by column */
	unsigned columns;  /* that they are for */
	unsigned at, mark; /* columns: the cursor, and where the range begins */
	bool has_mark, is_over, is_taken;
	u64 from, to; /* if is_taken */
	struct str message;
	struct textpage page;
};

extern const struct keytable timestrip_keys;

void timestrip_init(struct timestrip *t, const char *title);
/* Adds a lane and returns its number. */
u32 timestrip_add_lane(struct timestrip *t, const char *name, u32 id);
/* Adds n samples of a lane that were taken at that time. */
void timestrip_add(struct timestrip *t, u64 time, u32 lane, u32 n);
void timestrip_fini(struct timestrip *t);

void timestrip_draw(struct timestrip *t, struct grid *g);
void timestrip_take(struct timestrip *t, const struct screen_event *e);

/* Until a key ends it; true: *t has a range. */
bool timestrip_run(struct timestrip *t, struct screen *s);

#endif
