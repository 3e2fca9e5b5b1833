/*
 * history.h - the branches that were taken before a sample, as the innermost part of its stack.
 *
 * In       entries of a branch stack as the kernel wrote them, the newest first
 * Out      words: where each branch went, where it was, and what is known of it; loops once
 * Owns     nothing
 * Units    cycles since the branch before
 * Errors   none
 * Threads  no state
 * Source   linux/perf_event.h: struct perf_branch_entry
 *
 * A piece of the history that comes again right before itself is a loop: only its newest time is kept, and
 * the oldest branch of that knows how many others there were and how many cycles they took.
 */
#ifndef PACE_PROFILE_HISTORY_H
#define PACE_PROFILE_HISTORY_H

#include "base/types.h"

enum {
	HISTORY_MAX = 1024, /* branches; what is older is left out: no processor keeps so many */
	HISTORY_WORDS = 4,  /* for each: to, from, what profile_frame.branch is of either */
	HISTORY_TO = 0,     /* which they are */
	HISTORY_FROM = 1,
	HISTORY_OF_TO = 2,
	HISTORY_OF_FROM = 3,
};

/* What profile_frame.branch says; of a frame that is no branch's it is 0. */
struct history_note {
	bool is_to, is_from;
	/* is_to: whether it was predicted, if the processor tells; whether a transaction was aborted */
	bool is_told, is_predicted, is_abort;
	/* is_from: cycles up to it; loops left out before it, and their cycles */
	u32 cycles, n_iterations, loop_cycles;
};

struct history_note history_note(u64 branch);

/* per sample: returns how many branches it comes to; ret_words has room for HISTORY_MAX of them. */
u64 history_take(const u8 *entries, u64 n, u64 *ret_words);

/*
 * per sample: whether a return address belongs to a call among the branches from *at on; then *at is the
 * first one older than that.
 */
bool history_has_call(const u64 *words, u64 n, u64 return_address, u64 *at);

#endif
