/*
 * pass.h - one pass over all samples of a scanned trace, in no order, on all cores, for any number of visitors.
 *
 * In       a trace after trace_scan()
 * Out      each sample that `where` selects, to each visitor; the session's tally, which the first pass
 *          completes and later ones leave alone
 * Errors   those of session_samples()
 * Threads  visitor->sample runs on up to n_workers threads, each with its own context
 */
#ifndef PACE_TRACE_PASS_H
#define PACE_TRACE_PASS_H

#include "trace/visit.h"
#include "trace/where.h"

struct visitor {
	u64 wanted;       /* PERF_SAMPLE_* fields; the others may be missing */
	bool has_callers; /* it asks for visit_callers() */
	bool is_serial;   /* it can have one worker only */
	void *ctx;
	/* Makes a context for one more worker. All are made before the first sample comes. */
	void *(*join)(void *ctx);
	void (*sample)(void *worker, struct visit *v);
	/* The bytes of what a worker has made from its samples; NULL: nothing that grows. */
	u64 (*held)(const void *worker);
	/* After the last sample, for one worker after the other: takes over its results and frees it. */
	void (*leave)(void *ctx, void *worker);
};

struct pass_options {
	const struct trace_where *where; /* NULL: all */
	unsigned n_workers;              /* at most; 0: as many as there are cores */
	u64 n_passed_over;               /* out: samples that `where` does not select */
};

int pass_run(struct trace *t, struct pass_options *options, const struct visitor *const *visitors,
	size_t n, struct err *err);

#endif
