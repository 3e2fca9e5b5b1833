/*
 * bychain.h - callers beyond the end of the stack dump, taken from the kernel's call chain.
 *
 * The kernel follows frame pointers through the whole stack at the moment of the sample, but does not
 * check that functions keep them. Where the walk has arrived at a frame pointer that the kernel also
 * followed, and every function from there on is known to keep one, the kernel's addresses are the callers.
 *
 * In       a walk that ended because it needed bytes above the dump; the kernel's addresses, the interrupted
 *          one first
 * Out      callers appended to the stack's chain, for as long as functions are known to keep frame pointers;
 *          whether the root was reached: the caller of the program's main is known to be the start-up code
 * Errors   none: nothing is added where the two chains contradict each other
 * Source   Linux, arch/x86/events/core.c: perf_callchain_user()
 */
#ifndef PACE_UNWIND_BYCHAIN_H
#define PACE_UNWIND_BYCHAIN_H

#include "unwind/walk.h"

/* `ending` says why the walk ended. Returns how it ends now. */
enum stack_ending bychain_walk(struct walk *w, const struct stack_input *in,
	enum stack_ending ending);

#endif
