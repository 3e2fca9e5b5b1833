/*
 * dataflow.h - what the registers of a function point to, instruction by instruction.
 *
 * What the debug information says of variables in registers holds where it says so. In between, what
 * an instruction makes of a register is followed: a pointer that is loaded out of a member, copied,
 * moved on, kept in the frame, returned by a call. Where ways meet, a register has what it has on any of
 * them: what is used as an address there is one on all of them. What two contradict in is unknown.
 * In       a stretch of one function's code, its scope (symbol/types/datascope)
 * Out      for each instruction the registers before it
 * Owns     its tables, while it runs
 * Units    addresses as the file counts (rva)
 * Errors   code that cannot be decoded ends it; what is not followed is unknown
 * Threads  one
 */
#ifndef PACE_SYMBOL_DATAFLOW_H
#define PACE_SYMBOL_DATAFLOW_H

#include "symbol/types/datascope.h"
#include "unwind/operand.h"

enum datavalue_kind {
	VALUE_UNKNOWN,
	VALUE_POINTS,  /* to an object */
	VALUE_ADDRESS, /* the address `object.offset` of the file */
	VALUE_DISPUTED,
};

struct datavalue {
	u8 kind; /* enum datavalue_kind */
	struct dataobject object;
};

enum { DATAFLOW_SLOTS = 24 }; /* places of the frame that are followed */

struct datastate {
	struct datavalue regs[OPERAND_REGS];
	u32 n_slots;
	struct {
		s64 offset; /* from the frame's address */
		struct datavalue value;
	} slots[DATAFLOW_SLOTS];
};

struct dataflow_code {
	const u8 *at;
	u64 n, start;
};

/* Called for each instruction once, ascending, with the registers before it. */
struct dataflow_sink {
	void *ctx;
	void (*take)(void *ctx, u64 pc, const struct operand *o, const struct datastate *state);
};

/* False: it has more jumps than any function that is worth it; the sink was not called. */
bool dataflow_run(struct datascope *s, const struct dataflow_code *code,
	const struct dataflow_sink *sink);

/* The address of the file that it accesses, or that its index counts from; false: it is none of its. */
bool dataflow_address(u64 pc, const struct operand *o, const struct datastate *state,
	u64 *ret_address);

/* What an instruction accesses, or what a lea points to; false: it is not known. */
bool dataflow_object(struct datascope *s, u64 pc, const struct operand *o,
	const struct datastate *state, struct dataobject *ret);

#endif
