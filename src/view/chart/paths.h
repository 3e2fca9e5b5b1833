/*
 * paths.h - intervals of time as SVG paths: one path for each look, in which each horizontal piece is one interval.
 *
 * In       intervals, in the order of time within a look
 * Out      <path class="r" d="M5 9h3m2 0h7"/>: x is ticks since the beginning
 * Owns     the unfinished paths, until paths_flush()
 * Units    ns in; ticks and pixels out. A tick is such that all x are integers below 2^24, which single precision has exactly
 */
#ifndef PACE_VIEW_PATHS_H
#define PACE_VIEW_PATHS_H

#include "base/out.h"
#include "profile/chart/chart.h"

/* What is drawn of a lane; the states come first. */
enum paths_look {
	PATHS_HIGHLIGHT = LANE_STATES,
	PATHS_BRIEF, /* ran for less than a pixel */
	PATHS_LIFE,
	PATHS_DISK,
	PATHS_NET,
	PATHS_SYNC,
	PATHS_POLL,
	PATHS_ERROR,
	PATHS_LOOKS
};

struct paths_pen {
	struct str d;
	u64 x;
	double y;
	u32 n;
};

struct paths {
	struct out *out;
	u64 begin, tick_ns;
	struct paths_pen pens[PATHS_LOOKS];
};

/* The shortest round length that divides the span into fewer than 2^24 parts. */
u64 paths_tick(u64 span_ns);

void paths_init(struct paths *p, struct out *out, u64 begin, u64 tick_ns);
void paths_fini(struct paths *p);

static inline u64 paths_x(const struct paths *p, u64 time)
{
	return time <= p->begin ? 0 : (time - p->begin + p->tick_ns / 2) / p->tick_ns;
}

/* An interval whose bar's middle is at y; it is at least a tick long. */
void paths_add(struct paths *p, enum paths_look look, u64 from, u64 until, double y);

/* A moment: a vertical line. */
void paths_mark(struct paths *p, enum paths_look look, u64 time, double y, double height);

/* Writes the paths of a lane. */
void paths_flush(struct paths *p);

const char *paths_class(enum paths_look look);

#endif
