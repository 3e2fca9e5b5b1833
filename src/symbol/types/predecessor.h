/*
 * predecessor.h - for some instructions of a function, what the instruction that ran before them accessed.
 *
 * Imprecise events sample the instruction after the one that took the time.
 * In       addresses, and all instructions of the function, ascending, with what they access
 * Out      an answer for each address; its pc: the instruction that ran before, 0 if that may have been several
 * Owns     its tables, until predecessor_finish()
 * Errors   none: if several paths lead to an instruction, the answer is that outcome
 *
 * If one jump leads back to an instruction, its predecessor is at the end of the loop, not before the loop. A
 * comparison and the branch after it are one instruction to the processor.
 * Source   Intel optimization manual, 3.4.2.2 (macro-fusion)
 */
#ifndef PACE_SYMBOL_PREDECESSOR_H
#define PACE_SYMBOL_PREDECESSOR_H

#include "symbol/types/datatype.h"
#include "unwind/operand.h"

struct predecessor_ways {
	u32 n, n_back;
	bool differ, pcs_differ;
	struct datatype_answer first, back;
};

struct predecessor_instruction {
	bool is_there;
	struct operand operand;
	struct datatype_answer answer;
};

struct predecessor {
	const u64 *pcs; /* ascending */
	size_t n, at;
	struct predecessor_ways *ways;
	struct predecessor_instruction last, before_last;
};

void predecessor_begin(struct predecessor *f, const u64 *pcs, size_t n);

/* Whether the access of the instruction at pc will be needed. */
bool predecessor_needs(const struct predecessor *f, u64 pc, const struct operand *o);

/* Takes the next instruction; `a` is ignored if it is not needed. */
void predecessor_take(struct predecessor *f, u64 pc, const struct operand *o,
	const struct datatype_answer *a);

void predecessor_finish(struct predecessor *f, struct datatype_answer *answers);

#endif
