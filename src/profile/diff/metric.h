/*
 * metric.h - what is shown beside counts: instructions per cycle, shares, rates. The rows of event/metricown.h that
 * have a `beside`, computed from what was counted, whatever that was counted for.
 *
 * Counts make a ratio only if they are of the same time: they were on the PMU all the time, or belong to one group.
 * Otherwise the answer is METRIC_APART, not a number.
 * In       counts of all events in one place
 * Out      at most METRIC_MAX answers for an event
 */
#ifndef PACE_PROFILE_METRIC_H
#define PACE_PROFILE_METRIC_H

#include "event/metricrow.h"
#include "profile/diff/counts.h"

enum { METRIC_MAX = 4 };

enum metric_state {
	METRIC_NONE,
	METRIC_VALUE,
	METRIC_APART,   /* the two were on the PMU at different times */
	METRIC_UNKNOWN, /* a count is missing, or a division by 0 */
};

/* What a metric's threshold says. */
enum metric_verdict { METRIC_UNJUDGED, METRIC_UNREMARKABLE, METRIC_NOTABLE };

/* How bad a share is that is better small, by perf's thresholds. */
enum metric_heat { METRIC_COLD, METRIC_WARM, METRIC_HOT, METRIC_BURNING };

struct metric {
	enum metric_state state;
	enum metric_heat heat;
	double value;
	unsigned digits;  /* after the point */
	bool is_percent;  /* value is a percentage */
	double factor;    /* for a rate: events per second that a value of 1 means; else 1 */
	const char *unit; /* "insn per cycle", "of all branches", "M/sec" */
	const struct metric_row *row;
	u32 other; /* the event it is compared with; TABLE_NONE: time */
	/* Of a metric that was asked for, see metricvalue.h: */
	const char *name; /* else NULL */
	double error; /* half of the interval around the value; 0: everything was counted all the time */
	enum metric_verdict verdict;
};

struct metric_input {
	const struct event_list *events;
	const struct count *counts; /* by event */
	double elapsed_ns;
	const u32 *
		pass_of; /* by event: events of different passes never ran together; NULL: all did */
	bool by_name; /* answers have their names, and rates are not those of any event: as in perf 7 */
};

/* Fills in the metrics of an event; returns how many, which may be 0. */
unsigned metric_of(const struct metric_input *in, u32 event, struct metric ret[METRIC_MAX]);

/* What the first call of metric_of() would do in the middle of a measurement. */
void metric_prepare(void);

#endif
