/*
 * embed.h - collects from this machine's files what makes a recording readable anywhere.
 *
 * In       the places that its samples touch; a resolver, which looks them up as a reader would; the
 *          dumps of its JITs
 * Out      an embedder with all of it, ready for embedder_finish()
 * Errors   none: what is not found is left out, and readers look for it themselves. The tally counts
 *          what was left out for lack of time or room
 * Threads  looks up different DSOs on up to n_workers threads; `progress` and `is_stopped` are called
 *          from any of them, one at a time
 */
#ifndef PACE_EDIT_EMBED_H
#define PACE_EDIT_EMBED_H

#include "collect/record/growth.h"
#include "profile/gather/hits.h"
#include "symbol/embed/embedder.h"
#include "symbol/resolve/resolver.h"

enum {
	EMBED_CODE_MAX = 32 << 20,    /* bytes of code in all DSOs */
	EMBED_FUNCTION_MAX = 1 << 20, /* bytes of one function */
	EMBED_AROUND = 2 << 10,       /* for unwinding: bytes on both sides of any other place */
	EMBED_BEHIND = 64,            /* for unwinding: bytes behind a function */
	EMBED_LOOK = 32, /* for unwinding: bytes on both sides of a possible return address */
	EMBED_DUMPS_MAX = 64 << 20, /* bytes of one jitdump */
};

struct embed_options {
	unsigned n_workers;
	struct callers *callers;     /* of stack dumps, with the unwind tables; NULL: no dumps */
	const struct growth *growth; /* of perf maps while recording; NULL: they were not watched */
	u64 code_most; /* bytes of code; beyond that only hot code, see profile/code/excerpt.h */
	/*
	 * On CLOCK_MONOTONIC: no lines are looked up after this moment, or somewhat later if other
	 * programs kept the CPUs busy. 0: no deadline.
	 */
	u64 deadline_ns;
	void (*progress)(void *ctx, u64 done, u64 all); /* may be NULL */
	bool (*is_stopped)(void *ctx);                  /* may be NULL */
	void *ctx;
};

struct embed_tally {
	u64 n_places, n_named;
	u64 n_lineless;    /* places whose lines were not looked up */
	u64 n_code_cut;    /* bytes of code left out for lack of room */
	u64 least_samples; /* of the functions whose code is embedded */
	bool is_dump_cut;
	bool is_stopped; /* by is_stopped(); otherwise it ran out of time */
};

void embed_make(struct embedder *e, struct resolver *r, const struct hits *hits,
	const struct embed_options *options, struct embed_tally *ret_tally);

#endif
