/*
 * where.h - which samples of a trace are selected: by CPU, time and task.
 *
 * In       sets that stay the caller's
 * Out      true or false for each sample
 * Units    times as session_sample.time has them
 * Threads  any number
 */
#ifndef PACE_TRACE_WHERE_H
#define PACE_TRACE_WHERE_H

#include "base/num.h"
#include "event/cpus.h"
#include "session/spans.h"
#include "session/switching.h"

struct visit;

/* NULL or an empty set: all. */
struct trace_where {
	const struct cpus *cpus;
	const struct spans *spans;
	const struct switching *switching;
	const struct num_list *pids, *tids;
	const char *comms; /* "name,name": the thread's at that moment */
};

/* The fields of samples (PERF_SAMPLE_*) that the selection needs. */
u64 trace_where_needs(const struct trace_where *w);

/* Whether it selects every sample. NULL does. */
bool trace_where_is_all(const struct trace_where *w);

/* Whether it selects the sample of a visit. */
bool trace_where_has(const struct trace_where *w, struct visit *v);

#endif
