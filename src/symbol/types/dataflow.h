/*
 * dataflow.h - what the registers of a function point to, instruction by instruction.
 *
 * Where the debug information locates a variable in a register, that is used. In between, the effect of each
 * instruction on the registers is followed: a pointer that is loaded from a member, copied, advanced, kept in the
 * frame, returned by a call. Where paths meet, a register has the value that it has on any of them: if it
 * is used as an address there, it must be one on all of them. A value that two paths contradict is unknown.
 * In       a range of one function's code, its scope (symbol/types/datascope)
 * Out      for each instruction the registers before it
 * Owns     its tables, while it runs
 * Units    addresses as in the file (rva)
 * Errors   the first undecodable instruction ends it; values that cannot be followed are unknown
 * Threads  one
 */
#ifndef PACE_SYMBOL_DATAFLOW_H
#define PACE_SYMBOL_DATAFLOW_H

#include "symbol/types/datascope.h"
#include "unwind/operand.h"

enum datavalue_kind {
	VALUE_UNKNOWN,
	VALUE_POINTS,  /* to an object */
	VALUE_ADDRESS, /* the constant address `object.offset` in the file */
	VALUE_DISPUTED,
};

struct datavalue {
	u8 kind; /* enum datavalue_kind */
	struct dataobject object;
};

enum { DATAFLOW_SLOTS = 24 }; /* slots of the frame that are followed */

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

/* Returns false, without calling the sink, if the function has more jumps than can be followed. */
bool dataflow_run(struct datascope *s, const struct dataflow_code *code,
	const struct dataflow_sink *sink);

/*
 * The constant address in the file that it accesses, or that its index is added to. Returns false if it has
 * none.
 */
bool dataflow_address(u64 pc, const struct operand *o, const struct datastate *state,
	u64 *ret_address);

/* The object that an instruction accesses, or that a lea points to. Returns false if it is unknown. */
bool dataflow_object(struct datascope *s, u64 pc, const struct operand *o,
	const struct datastate *state, struct dataobject *ret);

#endif
