/*
 * history.h - the branches taken before a sample, as the innermost part of its stack.
 *
 * In       entries of a branch stack as the kernel wrote them, the newest first
 * Out      words: the target and the address of each branch; separately, what is known of it; each loop once
 * Owns     nothing
 * Units    cycles since the previous branch
 * Errors   none
 * Threads  no state
 * Source   linux/perf_event.h: struct perf_branch_entry
 *
 * A sequence of branches that repeats itself is a loop. Only its newest iteration is kept; the oldest branch of
 * that iteration holds how many iterations were left out and how many cycles they took.
 */
#ifndef PACE_PROFILE_HISTORY_H
#define PACE_PROFILE_HISTORY_H

#include "base/types.h"

enum {
	HISTORY_MAX = 1024, /* branches; older ones are left out: no processor keeps so many */
	HISTORY_WORDS = 2,  /* for each branch, at these positions: */
	HISTORY_TO = 0,
	HISTORY_FROM = 1,
};

/* What is known of a branch. */
struct history_note {
	/* is_told: the processor tells is_predicted; is_abort: a transaction was aborted */
	bool is_told, is_predicted, is_abort;
	/* cycles since the previous branch; loop iterations left out before it, and their cycles */
	u32 cycles, n_iterations, loop_cycles;
};

struct history {
	u64 n; /* branches */
	u64 words[HISTORY_MAX * HISTORY_WORDS];
	struct history_note notes[HISTORY_MAX];
};

/* per sample: takes the newest branches, `max` at most. */
void history_take(struct history *h, const u8 *entries, u64 n, u64 max);

/*
 * per sample: whether a return address belongs to a call among the branches from *at on. If so, *at becomes
 * the position of the first branch older than that call.
 */
bool history_has_call(const u64 *words, u64 n, u64 return_address, u64 *at);

#endif
