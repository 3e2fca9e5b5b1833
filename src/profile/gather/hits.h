/*
 * hits.h - which DSOs a recording's samples touch, and where in them.
 *
 * In       a scanned trace
 * Out      one flag for each DSO of the machine; on request, the distinct code addresses that samples, their
 *          callers and their branches name; the session's tally completed
 * Errors   those of pass_run()
 */
#ifndef PACE_PROFILE_HITS_H
#define PACE_PROFILE_HITS_H

#include "trace/pass.h"

struct hit {
	u64 address; /* as map_offset() returns it */
	u32 dso;     /* its id */
	bool is_return;
	bool is_look; /* an unwinder only looked at its code, to learn what a word on the stack is */
	u64 n_samples; /* taken at this address; callers and branches do not count */
};

struct hits {
	bool *dsos;             /* machine->dsos.at.n flags */
	VEC(struct hit) places; /* distinct; by DSO, then by address */
};

struct hits_options {
	unsigned n_workers;
	bool has_places;
	bool has_callers; /* with places: unwinds stack dumps; else every address in a dump is a hit */
};

int hits_find(struct trace *t, const struct hits_options *options, struct hits *ret_hits,
	struct err *err);
void hits_fini(struct hits *h);

#endif
