/*
 * metric.h - what a count means beside another one: instructions per cycle, shares, rates.
 *
 * Only counts of the same time make a ratio: both were on the PMU all the time, or both belong to
 * one group. Where that is not so, the answer is that, and not a number.
 * In       counts of all events in one place
 * Out      at most METRIC_MAX answers for an event
 */
#ifndef PACE_PROFILE_METRIC_H
#define PACE_PROFILE_METRIC_H

#include "profile/diff/counts.h"

enum { METRIC_MAX = 2 };

enum metric_state {
	METRIC_NONE,
	METRIC_VALUE,
	METRIC_APART, /* the two were on the PMU at different times */
};

struct metric {
	enum metric_state state;
	double value;
	unsigned digits;  /* behind the point */
	bool is_percent;  /* of `unit` */
	double factor;    /* of a rate: events a second that 1 stands for; else 1 */
	const char *unit; /* "insn per cycle", "of all branches", "M/sec" */
	u32 other;        /* the event it is compared with; TABLE_NONE: time */
};

struct metric_input {
	const struct event_list *events;
	const struct count *counts; /* by event */
	double elapsed_ns;
	const u32 *
		pass_of; /* by event: those of different passes never ran together; NULL: all did */
};

/* What to say of an event; how many answers are filled in, which may be 0. */
unsigned metric_of(const struct metric_input *in, u32 event, struct metric ret[METRIC_MAX]);

#endif
