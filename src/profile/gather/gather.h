/*
 * gather.h - from samples to a profile, on all cores.
 *
 * Each worker has its own counter (profile/gather/aggregate.h); their profiles are merged at the end. Sums do not
 * depend on which worker counted which sample.
 * In       a scanned trace
 * Out      a profile without names
 * Errors   those of pass_run()
 */
#ifndef PACE_PROFILE_GATHER_H
#define PACE_PROFILE_GATHER_H

#include "base/err.h"
#include "profile/gather/aggregate.h"
#include "trace/pass.h"

enum { GATHER_VISITORS = 2 };

struct gather_options {
	struct aggregate_options count;
	unsigned n_workers;       /* 0: as many as there are cores */
	struct trace_where where; /* all other samples are ignored */
	const struct sideband
		*sideband; /* for labels that label_needs_sideband(); NULL: not known */
	u64 time_quantum;  /* ns, for LABEL_TIME; 0: 100 ms */
	const char *fields[LABEL_FIELDS]; /* tracepoint fields: LABEL_FIELD + i */
	bool has_raw_fields;              /* tracepoint fields as raw values, not as text */
	/* Other visitors of the same samples, in the same pass. */
	const struct visitor *visitors[GATHER_VISITORS];
	size_t n_visitors;
};

/* Fills an uninitialized profile from all samples of the trace. */
int gather(struct trace *t, const struct gather_options *options, struct profile *ret_profile,
	struct err *err);

#endif
