/*
 * hits.h - which DSOs a recording's samples touch, and where in them.
 *
 * In       a scanned trace
 * Out      one flag for each DSO of the machine; if they are asked for, the distinct places of code
 *          that samples, their callers and their branches name; the session's tally completed
 * Errors   those of pass_run()
 */
#ifndef PACE_PROFILE_HITS_H
#define PACE_PROFILE_HITS_H

#include "trace/pass.h"

struct hit {
	u64 address; /* as map_offset() has it */
	u32 dso;     /* its id */
	bool is_return;
	bool is_look;  /* its code was only looked at: it decided that no frame is there, or how to leave one */
	u64 n_samples; /* that were taken there; others only led through */
};

struct hits {
	bool *dsos;             /* machine->dsos.at.n flags */
	VEC(struct hit) places; /* by DSO, then by address: each once */
};

struct hits_options {
	unsigned n_workers;
	bool has_places;
	bool has_callers; /* with places: takes them from stack dumps; else whatever a dump points to is hit */
};

int hits_find(struct trace *t, const struct hits_options *options, struct hits *ret_hits,
	struct err *err);
void hits_fini(struct hits *h);

#endif
