/*
 * gather.h - from samples to a profile, on all cores.
 *
 * Each worker has a counter of its own (profile/gather/aggregate.h); afterwards their profiles are merged. Sums do not
 * depend on who counted what.
 * In       a scanned trace
 * Out      a profile without names
 * Errors   those of pass_run()
 */
#ifndef PACE_PROFILE_GATHER_H
#define PACE_PROFILE_GATHER_H

#include "base/err.h"
#include "profile/gather/aggregate.h"
#include "trace/pass.h"

enum { GATHER_BESIDE = 2 };

struct gather_options {
	struct aggregate_options count;
	unsigned n_workers;             /* 0: as many as there are cores */
	struct trace_where where;       /* other samples are as if they had not been taken */
	const struct sideband *moments; /* of labels that label_needs_moments(); NULL: not known */
	u64 time_quantum;               /* ns, for LABEL_TIME; 0: a tenth of a second */
	const char *fields[LABEL_FIELDS]; /* of tracepoints: LABEL_FIELD and so on */
	bool has_raw_fields;              /* tracepoints' fields as they are, not as text */
	/* Who else wants these samples, in the same pass. */
	const struct visitor *beside[GATHER_BESIDE];
	size_t n_beside;
};

/* Fills an uninitialized profile from all samples of the trace. */
int gather(struct trace *t, const struct gather_options *options, struct profile *ret_profile,
	struct err *err);

#endif
