/*
 * ending.h - how a stack ended: what is said of it, and in words behind its call chain.
 *
 * Stacks that were walked while recording are in the file as call chains like the kernel's. What such
 * a chain cannot say, whether it was found to its root and why not, stands behind its last address:
 *
 *     ... main, __libc_start_main, _start, HV                  complete: number 0
 *     ... leaf, middle, HV, USER, KERNEL                       binary 10: number 2 of ending.c
 *
 * These are PERF_CONTEXT_HV, and the digits of the ending's number, the highest first: PERF_CONTEXT_USER is 1,
 * PERF_CONTEXT_KERNEL 0. All of them are markers that announce in which mode the addresses behind them
 * ran, and none follow: who reads chains for the addresses finds the addresses, in either direction.
 * Linux writes no PERF_CONTEXT_HV, so that no chain of the kernel's ends like this.
 *
 * Owns     nothing
 * Errors   none: words that are no ending are left where they are
 * Source   linux/perf_event.h: enum perf_callchain_context; tried with perf 6.1 (report, script)
 */
#ifndef PACE_UNWIND_ENDING_H
#define PACE_UNWIND_ENDING_H

#include "unwind/stack.h"

enum { ENDING_WORDS = 5 }; /* at most: what endings up to 15 need */

/* "stack dump too small", ... */
const char *ending_text(enum stack_ending ending);

/* Whether it is known to have ended before its root. */
static inline bool ending_is_cut(enum stack_ending ending)
{
	return ending != STACK_COMPLETE && ending != STACK_ENDINGS;
}

/* Whether a file is to blame. */
static inline bool ending_is_of_file(enum stack_ending ending)
{
	return ending == STACK_NO_CFI || ending == STACK_NO_FILE || ending == STACK_NO_CODE_FILE;
}

/* Fills in the words for an ending; how many. */
u32 ending_words(enum stack_ending ending, u64 words[ENDING_WORDS]);

/* Takes the ending off a chain; false if it has none. */
bool ending_take(struct sample_words *chain, enum stack_ending *ret_ending);

/* per sample: whether it can have one: a marker is its last word */
static inline bool ending_may_be(const struct sample_words *chain)
{
	return chain->n && load_u64(chain->at + 8 * (chain->n - 1)) >= PERF_CONTEXT_MAX;
}

#endif
