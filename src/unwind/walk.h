/*
 * walk.h - the state of one stack walk, shared by the different ways to find a caller.
 *
 * In       registers, a copy of the stack, a way to find code (unwind/stack.h)
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
	u64 at; /* address that was looked up for the last frame: an instruction of its call */
	bool is_return;         /* the last frame is suspended in a call */
	bool has_missed_above;  /* a read failed because the copy ends before it */
	bool has_left;          /* the last frames are on another stack than the dump */
	bool has_missed_below;  /* a register's slot lies below the stack pointer */
	struct stack_code code; /* of the last frame */
};

static inline bool walk_has(const struct walk *w, unsigned reg)
{
	return reg < ROW_REGS && w->known >> reg & 1;
}

/* Finds the row for an address and sets w->code. Returns false if nothing describes the address. */
bool walk_find_row(struct walk *w, u64 ip, u32 *ret_function, u32 *ret_row);

/* Copies the registers of the sample into the walk. */
void walk_take_regs(struct walk *w, const struct stack_input *in);

/*
 * Reads `size` bytes of the dump at an address. Returns false if the dump does not have them. ctx: the walk.
 */
bool walk_read(void *ctx, u64 va, unsigned size, u64 *ret_v);

/* Whether the address is above the dump. A dump that is not full ends at the end of the stack. */
bool walk_is_cut_off(const struct walk *w, u64 va);

/* Takes the stack pointer of the code that a signal interrupted: it may be on another stack. */
void walk_go_to_interrupted(struct walk *w);

/* Why a value that should be in memory is missing. */
enum stack_ending walk_ending_of_miss(const struct walk *w);

/* Fetches the code at an address, as far as it is known. */
void walk_look(const struct walk *w, u64 ip, struct stack_bytes *ret_bytes);

#endif
