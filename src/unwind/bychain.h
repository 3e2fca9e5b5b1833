/*
 * bychain.h - further up than the copy of a stack reaches: by the chain that the kernel has made.
 *
 * The kernel follows frame pointers through the whole stack, at the moment of the sample, but not
 * whether anybody keeps them. Where a walk has come to a frame pointer that the kernel has come by,
 * and each function from there on keeps one by what is said of it, the kernel's addresses are the callers.
 *
 * In       a walk that a miss above the copy has ended; the kernel's addresses, the interrupted one first
 * Out      callers behind the stack's chain, as far as functions say that they keep frame pointers; whether the
 *          root was reached: a program's main is known to be called by what begins it
 * Errors   none: nothing is added where something contradicts
 * Source   Linux, arch/x86/events/core.c: perf_callchain_user()
 */
#ifndef PACE_UNWIND_BYCHAIN_H
#define PACE_UNWIND_BYCHAIN_H

#include "unwind/walk.h"

/* `ending`: why the walk has ended; how it ends now. */
enum stack_ending bychain_walk(struct walk *w, const struct stack_input *in,
	enum stack_ending ending);

#endif
