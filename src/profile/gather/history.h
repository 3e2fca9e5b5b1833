/*
 * history.h - the branches that were taken before a sample, as the innermost part of its stack.
 *
 * In       entries of a branch stack as the kernel wrote them, the newest first
 * Out      words: where each branch went and where it was; apart from them what is known of it; loops once
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
	HISTORY_WORDS = 2,  /* for each: to, from */
	HISTORY_TO = 0,     /* which they are */
	HISTORY_FROM = 1,
};

/* What is known of a branch. */
struct history_note {
	/* whether it was predicted, if the processor tells; whether a transaction was aborted */
	bool is_told, is_predicted, is_abort;
	/* cycles up to it; loops left out before it, and their cycles */
	u32 cycles, n_iterations, loop_cycles;
};

struct history {
	u64 n; /* branches */
	u64 words[HISTORY_MAX * HISTORY_WORDS];
	struct history_note notes[HISTORY_MAX];
};

/* per sample: the newest branches, `max` at most. */
void history_take(struct history *h, const u8 *entries, u64 n, u64 max);

/*
 * per sample: whether a return address belongs to a call among the branches from *at on; then *at is the
 * first one older than that.
 */
bool history_has_call(const u64 *words, u64 n, u64 return_address, u64 *at);

#endif
