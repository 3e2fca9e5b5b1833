/*
 * metricrow.h - one metric as a table has it: a vendor's (event/catalog), or pace's own (event/metricown).
 */
#ifndef PACE_EVENT_METRICROW_H
#define PACE_EVENT_METRICROW_H

#include "base/types.h"

/* When the metric's events are not made a group that counts together. */
enum metric_apart {
	METRIC_TOGETHER,
	METRIC_APART_ALWAYS,
	METRIC_APART_WITH_WATCHDOG, /* the kernel's NMI watchdog takes a counter */
	METRIC_APART_WITH_SMT,      /* the threads of a core share counters */
};

struct metric_row {
	const char *name;
	const char *expr;      /* event/metricexpr.h */
	const char *groups;    /* that it is in: "TopdownL1;Default"; or NULL */
	const char *loose;     /* those of them that are too large for groups of events; or NULL */
	const char *threshold; /* is not 0 where the value deserves attention; or NULL */
	const char *brief;     /* one sentence, or NULL */
	const char *description; /* more of them, or NULL */
	const char *topic;       /* the file it is from; "pace" */
	const char *unit;        /* of value * scale; NULL: none */
	double scale;            /* 1 unless the table says otherwise */
	const char *pmu;         /* its names are those of this PMU's events; NULL: of any PMU's */
	enum metric_apart apart;
};

#endif
