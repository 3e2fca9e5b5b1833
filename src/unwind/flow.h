/*
 * flow.h - where a function's return address is, derived from the instructions that lead to a given one.
 *
 * The effects of each instruction on the stack pointer and the frame pointer are followed from the
 * function's start on; a jump carries what is known to its target. Code behind a jump or a return that no
 * jump leads to is unknown, and so is what two ways contradict. Code behind a jump through a table is taken
 * for the table's cases.
 * In       the code of a function from its start up to an instruction
 * Out      struct flow
 * Owns     nothing
 * Errors   false: nothing is known
 * Source   Intel SDM, volume 2
 */
#ifndef PACE_UNWIND_FLOW_H
#define PACE_UNWIND_FLOW_H

#include "unwind/stack.h"

#define FLOW_UNKNOWN INT64_MIN

/* All are distances in bytes, counted downwards from the return address' slot. */
struct flow {
	s64 sp; /* where the stack pointer is; FLOW_UNKNOWN */
	s64 fp; /* where the frame pointer points; FLOW_UNKNOWN: not into the frame */
	s64 saved; /* where the caller's frame pointer is; 0: still in its register, FLOW_UNKNOWN: lost */
};

/* Requires code->into. x86 only. */
bool flow_find(const struct arch *arch, const struct stack_bytes *code, struct flow *ret_flow);

/* Remembers what was found for recent instructions. Their code must not move during its life. */
struct flow_memo;

struct flow_memo *flow_memo_new(void);
void flow_memo_free(struct flow_memo *m);

/* The same as flow_find(), from the memo if possible. */
bool flow_recall(struct flow_memo *m, const struct arch *arch, const struct stack_bytes *code,
	struct flow *ret_flow);

#endif
