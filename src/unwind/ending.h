/*
 * ending.h - how a stack walk ended: as text, and as words appended to a call chain.
 *
 * Stacks that were walked while recording are stored in the file as call chains like the kernel's. Such a
 * chain cannot say whether it reached the root, nor why it did not. This is encoded behind its last address:
 *
 *     ... main, __libc_start_main, _start, HV                  complete: number 0
 *     ... leaf, middle, HV, USER, KERNEL                       binary 10: number 2 of ending.c
 *
 * The words are PERF_CONTEXT_HV and then the binary digits of the ending's number, the highest first:
 * PERF_CONTEXT_USER is 1, PERF_CONTEXT_KERNEL is 0. All of them are markers that give the mode of the addresses
 * behind them, and no address follows: readers that only want addresses skip them, in either direction.
 * Linux never writes PERF_CONTEXT_HV, so none of the kernel's chains ends like this.
 *
 * Owns     nothing
 * Errors   none: words that are not an ending are left in place
 * Source   linux/perf_event.h: enum perf_callchain_context; tried with perf 6.1 (report, script)
 */
#ifndef PACE_UNWIND_ENDING_H
#define PACE_UNWIND_ENDING_H

#include "unwind/stack.h"

enum { ENDING_WORDS = 5 }; /* at most: enough for endings up to 15 */

/* "stack dump too small", ... */
const char *ending_text(enum stack_ending ending);

/* Whether the stack is known to have ended before its root. */
static inline bool ending_is_cut(enum stack_ending ending)
{
	return ending != STACK_COMPLETE && ending != STACK_ENDINGS;
}

/* Whether a missing or incomplete file is the cause. */
static inline bool ending_is_of_file(enum stack_ending ending)
{
	return ending == STACK_NO_CFI || ending == STACK_NO_FILE || ending == STACK_NO_CODE_FILE;
}

/* Writes the words for an ending. Returns their number. */
u32 ending_words(enum stack_ending ending, u64 words[ENDING_WORDS]);

/* Removes the ending from a chain. Returns false if it has none. */
bool ending_take(struct sample_words *chain, enum stack_ending *ret_ending);

/* per sample: whether the chain can have an ending, that is, whether its last word is a marker */
static inline bool ending_may_be(const struct sample_words *chain)
{
	return chain->n && load_u64(chain->at + 8 * (chain->n - 1)) >= PERF_CONTEXT_MAX;
}

#endif
