/*
 * flow.h - where a function's return address is, out of the instructions that led to one of them.
 *
 * From the function's first instruction on it is followed what each does to the stack pointer and to
 * the frame pointer; where a jump leads to, what was known there is known, too. What is behind a jump
 * or a return, and no jump leads to, is unknown, as is what two ways contradict; but behind jumps through
 * tables there are their cases.
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

/* All count from the return address' slot downwards, in bytes. */
struct flow {
	s64 sp; /* where the stack pointer is; FLOW_UNKNOWN */
	s64 fp; /* where the frame pointer points to; FLOW_UNKNOWN: it is no pointer to the frame */
	s64 saved; /* where the caller's frame pointer is; 0: still in its register, FLOW_UNKNOWN: nowhere */
};

/* Needs code->into. Only x86. */
bool flow_find(const struct arch *arch, const struct stack_bytes *code, struct flow *ret_flow);

/* What was found for instructions lately. Their code stays where it is as long as this lives. */
struct flow_memo;

struct flow_memo *flow_memo_new(void);
void flow_memo_free(struct flow_memo *m);

/* As flow_find(). */
bool flow_recall(struct flow_memo *m, const struct arch *arch, const struct stack_bytes *code,
	struct flow *ret_flow);

#endif
