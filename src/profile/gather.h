/*
 * gather.h - from samples to a profile, on all cores.
 *
 * Each worker collects in two steps. While samples come, it counts what is literally the same: the
 * same callers' addresses in the same address space, under the same instruction. Only afterwards,
 * and only once for each of these, addresses are looked up in maps and become frames. Then the
 * workers' profiles are merged; sums do not depend on who counted what.
 * In       a scanned trace
 * Out      a profile without names
 * Errors   those of pass_run()
 */
#ifndef PACE_PROFILE_GATHER_H
#define PACE_PROFILE_GATHER_H

#include "base/err.h"
#include "profile/profile.h"
#include "profile/wall.h"
#include "trace/pass.h"

enum { GATHER_BESIDE = 2 };

struct gather_options {
	u64 labels;                    /* LABEL_BIT()s: what rows have to tell apart */
	bool has_stacks;               /* callers too; else only the innermost frame */
	u32 max_stack;                 /* addresses of each chain, the sampled one first; 0: all */
	unsigned n_workers;            /* 0: as many as there are cores */
	struct trace_where where;      /* other samples are as if they had not been taken */
	const struct moments *moments; /* of labels that label_needs_moments(); NULL: not known */
	u64 time_quantum;              /* ns, for LABEL_TIME; 0: a tenth of a second */
	bool has_branches; /* count the branches that samples carry instead of the samples */
	bool has_blocks;   /* with has_branches: those with cycles, which are their periods */
	bool has_history; /* with has_stacks: the branches before a sample are the end of its stack */
	bool is_weighed;                  /* weights stand in for periods */
	const char *fields[LABEL_FIELDS]; /* of tracepoints: LABEL_FIELD and so on */
	bool has_raw_fields;              /* tracepoints' fields as they are, not as text */
	/*
	 * The events of the profile are those of enum gather_wall, in ns, and samples count for what
	 * they speak for; NULL: the recording's own.
	 */
	const struct wall *wall;
	/* Who else wants these samples, in the same pass. */
	const struct visitor *beside[GATHER_BESIDE];
	size_t n_beside;
};

enum gather_wall {
	GATHER_WALL,     /* all of the following three */
	GATHER_BY_STATE, /* + enum wall_state */
	GATHER_LATENCY = GATHER_BY_STATE + WALL_STATES,
	GATHER_WALL_EVENTS,
};

/* Fills an uninitialized profile from all samples of the trace. */
int gather(struct trace *t, const struct gather_options *options, struct profile *ret_profile,
	struct err *err);

#endif
