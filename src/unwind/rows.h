/*
 * rows.h - for each instruction of a function, where its caller's registers are.
 *
 * In       an entry of call frame information: a small program that makes a table
 * Out      the table's rows: where the CFA and the registers are, from which instruction on
 * Owns     the rows of the functions met so far, each compiled when it is first met
 * Life     rows point into the sections of their cfi; they are valid until the cache is cleared
 * Units    rva
 * Errors   none: a damaged program has the rows before the damage. Sizes and depths are bounded
 * Threads  one
 * Source   DWARF 5, 6.4.2; System V ABI supplements for x86-64 and i386; DWARF for the Arm 64-bit
 *          architecture
 */
#ifndef PACE_UNWIND_ROWS_H
#define PACE_UNWIND_ROWS_H

#include "base/table.h"
#include "unwind/cfi.h"

enum { ROW_REGS = 40 }; /* DWARF numbers below this have rules: all integer registers */

enum row_kind {
	ROW_SAME,       /* the caller has the same value */
	ROW_UNDEFINED,  /* unknown; for the return address: there is no caller */
	ROW_OFFSET,     /* in memory at CFA + value */
	ROW_VAL_OFFSET, /* CFA + value */
	ROW_REGISTER,   /* in register `from`; for the CFA: plus value */
	ROW_EXPRESSION, /* in memory where the expression says */
	ROW_VAL_EXPRESSION,
};

struct row_rule {
	u8 reg; /* the register that the rule restores */
	u8 kind;
	u8 from;
	u32 size; /* of the expression */
	union {
		s64 value;
		const u8 *expression;
	};
};

struct row {
	u64 start; /* valid from here to the next row, or to the function's end */
	struct row_rule cfa;
	u32 first_rule;
	u32 n_rules; /* registers without a rule: ROW_SAME */
	/*
	 * True for nearly all rows: the CFA counts from a register, the return address and all other
	 * registers are ROW_OFFSET.
	 */
	bool is_plain;
	s32 lowest, highest; /* of a plain row: range of the register slots, relative to the CFA */
	s32 return_at;
};

/* What a function compiles to. */
struct rows_function {
	const struct cfi *cfi;
	u64 entry; /* as in struct cfi_function */
	bool is_debug_frame;
	u64 start, end;
	u64 covered_to; /* the entry's end; `end` is lower if the rest of the entry is damaged */
	u32 first_row, n_rows; /* n_rows 0: the entry is damaged */
	u8 return_reg;
	bool is_signal; /* a signal trampoline: its caller was interrupted, it called nothing */
	bool changes_stack;
};

struct rows {
	VEC(struct rows_function) functions;
	VEC(struct row) at;
	VEC(struct row_rule) rules;
	struct table index;
	/* How many rows and rules are kept at most, about: for those that go on for days. 0: as many as pays. */
	u32 most;
};

/*
 * Finds the row and the function for rva, as positions in the vectors. Returns false if nothing covers it.
 * The vectors are cleared first if they have grown too large: *ret_is_cleared says that positions from
 * earlier calls are void.
 */
bool rows_find(struct rows *rows, const struct cfi *cfi, u64 rva, u32 *ret_function, u32 *ret_row,
	bool *ret_is_cleared);

void rows_fini(struct rows *rows);

#endif
