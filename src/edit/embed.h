/*
 * embed.h - what a recording needs of this machine's files to be read anywhere.
 *
 * In       the places that its samples touch; a resolver, which looks them up as any reader would; the
 *          dumps of its JITs
 * Out      an embedder with all of it, ready for embedder_finish()
 * Errors   none: what is not found is not in it, and readers look for it themselves. What was left out
 *          for want of time or room is in the tally
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
	EMBED_CODE_MAX = 32 << 20,    /* bytes of code in all */
	EMBED_FUNCTION_MAX = 1 << 20, /* of one function */
	EMBED_AROUND = 2 << 10, /* for unwinding: before and behind a place in no such function */
	EMBED_BEHIND = 64,      /* the same, bytes behind a function */
	EMBED_LOOK = 32,        /* the same, around an address that may have been a return address */
	EMBED_DUMPS_MAX = 64 << 20, /* bytes of one jitdump */
};

struct embed_options {
	unsigned n_workers;
	struct callers
		*callers; /* of stack dumps, whose unwinding is to travel; NULL: there are none */
	const struct growth *growth; /* of perf maps meanwhile; NULL: nobody looked */
	u64 code_most; /* bytes of code; more only of what is hot, see profile/code/excerpt.h */
	/*
	 * Of CLOCK_MONOTONIC, after which no more lines are looked up; later if the processors did
	 * something else until then. 0: none.
	 */
	u64 deadline_ns;
	void (*progress)(void *ctx, u64 done, u64 all); /* NULL: nobody wants to know */
	bool (*is_stopped)(void *ctx);                  /* NULL: nothing stops it */
	void *ctx;
};

struct embed_tally {
	u64 n_places, n_named;
	u64 n_lineless;    /* places whose lines were not looked up */
	u64 n_code_cut;    /* bytes of code that were too many */
	u64 least_samples; /* of functions whose code is carried */
	bool is_dump_cut;
	bool is_stopped; /* by is_stopped(); else it was late */
};

void embed_make(struct embedder *e, struct resolver *r, const struct hits *hits,
	const struct embed_options *options, struct embed_tally *ret_tally);

#endif
