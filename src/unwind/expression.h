/*
 * expression.h - what a DWARF expression computes.
 *
 * In       its bytes; registers; a function that reads memory; the value it starts with, if any
 * Out      the value on top of the stack at the end
 * Owns     nothing
 * Errors   false: an operation that nobody knows or that needs what is not there, a stack that is
 *          too deep or empty, too many steps (expressions can jump back)
 * Source   DWARF 5, 2.5 and 6.4.2.1: what call frame information may use of it
 */
#ifndef PACE_UNWIND_EXPRESSION_H
#define PACE_UNWIND_EXPRESSION_H

#include "base/bytes.h"
#include "base/types.h"

struct expression_world {
	const u64 *regs; /* by DWARF number */
	u64 known;       /* bit n: regs[n] has a value */
	unsigned n_regs;
	u8 address_size;
	bool (*read)(void *ctx, u64 va, unsigned size, u64 *ret_v);
	void *ctx;
	u64 bias; /* what DW_OP_addr has to be moved by: va - rva */
};

/* `first`: pushed before the start (the CFA, for registers' rules); NULL: nothing is. */
bool expression_eval(struct bytes code, const struct expression_world *world, const u64 *first,
	u64 *ret_v);

#endif
