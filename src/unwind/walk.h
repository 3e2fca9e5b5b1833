/*
 * walk.h - one stack while it is walked: what the ways to find a caller share.
 *
 * In       registers, a copy of the stack, where code lies (unwind/stack.h)
 * Out      the registers of one frame after the other
 * Life     one stack_walk()
 * Threads  one
 */
#ifndef PACE_UNWIND_WALK_H
#define PACE_UNWIND_WALK_H

#include "arch/arch.h"
#include "unwind/stack.h"

struct walk {
	struct stack *stack;
	const struct arch *arch;
	const struct stack_places *places;
	const struct sample_stack *dump;
	u64 dump_start;
	u64 regs[ROW_REGS];
	u64 known; /* bit n: regs[n] */
	u64 cfa;
	u64 at;         /* what was looked up for the last frame: an instruction of its call */
	bool is_return; /* the last frame has called somebody */
	bool has_missed_above;  /* a read failed because the copy ends before it */
	bool has_left;          /* the last frames are not on the stack that was dumped */
	bool has_missed_below;  /* a register's place lies below the stack pointer */
	struct stack_code code; /* of the last frame */
};

static inline bool walk_has(const struct walk *w, unsigned reg)
{
	return reg < ROW_REGS && w->known >> reg & 1;
}

/* The row for an address, which is in w->code then. False: nothing is said of it. */
bool walk_find_row(struct walk *w, u64 ip, u32 *ret_function, u32 *ret_row);

/* The registers of the sample. */
void walk_take_regs(struct walk *w, const struct stack_input *in);

/* `size` bytes of the copy at an address; false: it has none there. ctx: the walk. */
bool walk_read(void *ctx, u64 va, unsigned size, u64 *ret_v);

/* Behind the end of the copy. One that is not full ends where the stack does. */
bool walk_is_cut_off(const struct walk *w, u64 va);

/* The stack pointer is that of who was interrupted by a signal: perhaps on another stack. */
void walk_go_to_interrupted(struct walk *w);

/* Why a value that should be in memory is not there. */
enum stack_ending walk_ending_of_miss(const struct walk *w);

/* The code at an address, as far as anybody knows it. */
void walk_look(const struct walk *w, u64 ip, struct stack_bytes *ret_bytes);

#endif
