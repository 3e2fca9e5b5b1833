/*
 * expression.h - evaluates DWARF expressions.
 *
 * In       the expression's bytes; registers; a function that reads memory; optionally an initial value
 * Out      the value on top of the stack at the end
 * Owns     nothing
 * Errors   false: an unknown operation, or one that needs a missing value; a stack overflow or underflow;
 *          too many steps (expressions can jump back)
 * Source   DWARF 5, 2.5 and 6.4.2.1: the subset that call frame information may use
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
	u64 bias; /* va - rva: added to operands of DW_OP_addr */
};

/*
 * `first` is pushed before the first operation (the CFA, for register rules); NULL: the stack starts empty.
 */
bool expression_eval(struct bytes code, const struct expression_world *world, const u64 *first,
	u64 *ret_v);

#endif
