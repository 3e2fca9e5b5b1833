/*
 * metricvalue.h - the values of metrics that were asked for (stat -M), from what was counted in one place.
 *
 * A count that was on the PMU for the share s of its time is known up to a part e of it: half of the 95% interval of its
 * rate, if slices of the run have shown how steady that was (counts_scaling_error()); else 1 - s, which is: unseen were
 * between no events at all and twice as many as the seen time lets expect. A metric m(c1, c2, ...) then has the error
 *
 *     sqrt(d1^2 + d2^2 + ...)     di = the larger of |m(..., ci (1 + ei), ...) - m| and |m(..., ci (1 - ei), ...) - m|
 *
 * as if the errors of the counts were independent. Those of one group mostly cancel out in ratios, so this bound is
 * rather too wide than too narrow.
 *
 * In       a set of metrics with its events; counts by event
 * Out      values in the units of their rows
 */
#ifndef PACE_PROFILE_METRICVALUE_H
#define PACE_PROFILE_METRICVALUE_H

#include "event/metricset.h"
#include "profile/diff/metric.h"

struct metricvalue_input {
	const struct metricset *set;
	const struct event_list *events;
	const struct count *counts; /* by event, not added up over PMUs */
	const double *errors;       /* by event: a measured part e; < 0: none was */
	double elapsed_ns;
};

/* Computes a metric that was asked for. Texts live as long as the set. */
struct metric metricvalue_of(const struct metricvalue_input *in, const struct metric_use *use);

/* The event of the list beside which a metric is shown: the first it needs, of stat's clocks only if there is no other. */
u32 metricvalue_beside(const struct event_list *events, const struct metric_use *use);

#endif
