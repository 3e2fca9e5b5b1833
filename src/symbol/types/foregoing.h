/*
 * foregoing.h - of some instructions of a function what the one accessed that ran before them.
 *
 * Samples of imprecise events are of the instruction behind the one that took the time.
 * In       addresses, and all instructions of the function, ascending, with what they access
 * Out      an answer for each address
 * Owns     its tables, until foregoing_finish()
 * Errors   none: where several ways lead to an instruction, that comes out instead of an answer
 *
 * Of an instruction that one jump leads back to, the foregoing one is at the end of the loop, not before it. A
 * comparison and the branch behind it are one instruction to the processor.
 * Source   Intel optimization manual, 3.4.2.2 (macro-fusion)
 */
#ifndef PACE_SYMBOL_FOREGOING_H
#define PACE_SYMBOL_FOREGOING_H

#include "symbol/types/datatype.h"
#include "unwind/operand.h"

struct foregoing_ways {
	u32 n, n_back;
	bool differ;
	struct datatype_answer first, back;
};

struct foregoing_instruction {
	bool is_there;
	struct operand operand;
	struct datatype_answer answer;
};

struct foregoing {
	const u64 *pcs; /* ascending */
	size_t n, at;
	struct foregoing_ways *ways;
	struct foregoing_instruction last, before_last;
};

void foregoing_begin(struct foregoing *f, const u64 *pcs, size_t n);

/* Whether it matters what the instruction at pc accesses. */
bool foregoing_needs(const struct foregoing *f, u64 pc, const struct operand *o);

/* The next instruction; `a` is of no importance where it does not matter. */
void foregoing_take(struct foregoing *f, u64 pc, const struct operand *o,
	const struct datatype_answer *a);

void foregoing_finish(struct foregoing *f, struct datatype_answer *answers);

#endif
