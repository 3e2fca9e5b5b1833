/*
 * metricown.h - pace's own table of metrics, in the form of the vendors' tables.
 *
 * A row can be asked for by its name (stat -M), like any metric. A row with `beside` is also shown beside each count
 * of that event, whatever it was counted for: the names of its formula then stand for counted events of these kinds
 * (profile/diff/kind.h), and "event" stands for the event itself.
 *
 * Formulas are about counts without a unit: clocks count nanoseconds. Only duration_time, user_time and system_time
 * are in seconds.
 * Source   perf-stat(1) for units and limits of the ratios that it prints
 */
#ifndef PACE_EVENT_METRICOWN_H
#define PACE_EVENT_METRICOWN_H

#include "event/metricrow.h"

struct metricown {
	struct metric_row row; /* without a name it cannot be asked for */
	/* The models of CPUs that have it, a pattern as in mapfile.csv (cpuid.h); NULL: all. */
	const char *models;
	const char *beside; /* "*": every event that no other row is shown beside; NULL: none */
	const char *words;  /* what stands beside the count instead of row.unit; NULL: that */
	unsigned digits;    /* after the point, there */
	/* Its events count the same with different filters, such as Intel's in_tx: these need not agree. */
	bool has_filters;
	bool has_prefix; /* large values have a K, M or G before the unit, there */
	/* The unit before its name where metrics have their names, as in perf 7; NULL: row.unit, "": the ratio itself. */
	const char *unit_by_name;
	bool is_only_by_name; /* it stands beside the count only where metrics have their names, as in perf 7 */
	/* The value is bad, worse, worst above these; 0: it is neither good nor bad. */
	double limits[3];
};

extern const struct metricown metricown[];
extern const size_t metricown_n;

/* Whether the row is about this model ("": not known). */
bool metricown_is_for(const struct metricown *m, const char *cpuid);

#endif
