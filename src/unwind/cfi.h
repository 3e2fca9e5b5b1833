/*
 * cfi.h - call frame information: for an instruction, where its caller's registers are.
 *
 * In       the sections .eh_frame, .eh_frame_hdr and .debug_frame of one file, as bytes with their
 *          addresses
 * Out      the FDE (one function's entry) that covers an address; its rows: from which instruction
 *          on the CFA and the registers are where
 * Owns     cfi: an index if the file has no search table; cfi_cache: rows, compiled when a function
 *          is met first
 * Life     rows point into the sections; they are valid until the cache is cleared
 * Units    rva
 * Errors   none: what is damaged is not found. Every read is checked, sizes and depths are bounded
 * Threads  a cfi may be read by any number; a cache belongs to one
 * Source   DWARF 5, 6.4; LSB 5.0, 10.6 (Exception Frames); System V ABI supplements for x86-64 and
 *          i386; DWARF for the Arm 64-bit architecture
 */
#ifndef PACE_UNWIND_CFI_H
#define PACE_UNWIND_CFI_H

#include "base/bytes.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum { CFI_REGS = 40 }; /* DWARF numbers that rows tell of: no integer register has a higher one */

struct cfi_input {
	/* `offset` of each is the address that it is loaded to; empty where there is none. */
	struct bytes eh_frame, eh_frame_hdr, debug_frame;
	u64 text, data; /* what textrel and datarel pointers count from: .text, .got */
	bool is_64;
};

struct cfi_function {
	u64 start, end;
	u64 entry; /* offset of the FDE */
	bool is_debug_frame;
};

struct cfi {
	struct cfi_input in;
	struct bytes table; /* of .eh_frame_hdr: pairs of s32, sorted */
	u64 n_in_table;
	VEC(struct cfi_function) index; /* sorted: .eh_frame without a table, then .debug_frame */
};

enum cfi_kind {
	CFI_SAME,       /* the caller has the same value */
	CFI_UNDEFINED,  /* nobody knows; of the return address: there is no caller */
	CFI_OFFSET,     /* in memory at CFA + value */
	CFI_VAL_OFFSET, /* CFA + value */
	CFI_REGISTER,   /* in register `from`; for the CFA: plus value */
	CFI_EXPRESSION, /* in memory where the expression says */
	CFI_VAL_EXPRESSION,
};

struct cfi_rule {
	u8 reg; /* whose rule it is */
	u8 kind;
	u8 from;
	u32 size; /* of the expression */
	union {
		s64 value;
		const u8 *expression;
	};
};

struct cfi_row {
	u64 start; /* valid from here to the next row, or to the function's end */
	struct cfi_rule cfa;
	u32 first_rule;
	u32 n_rules; /* registers that are not in it: CFI_SAME */
};

/* What a function compiles to. */
struct cfi_code {
	const struct cfi *cfi;
	u64 start, end;
	u32 first_row, n_rows; /* n_rows 0: its entry makes no sense */
	u8 return_reg;
	bool is_signal; /* a signal's trampoline: its caller was interrupted, it called nothing */
};

struct cfi_cache {
	VEC(struct cfi_code) codes;
	VEC(struct cfi_row) rows;
	VEC(struct cfi_rule) rules;
	struct table index;
};

void cfi_init(struct cfi *cfi, const struct cfi_input *in);

/*
 * The same where somebody knows the functions and where their entries are: n of them, ascending. The
 * sections may have holes elsewhere.
 */
void cfi_init_listed(struct cfi *cfi, const struct cfi_input *in,
	const struct cfi_function *functions, size_t n);

/* Where in its section a function's entry lies, and the CIE that it refers to. False: nowhere. */
struct cfi_extent {
	u64 fde, fde_size, cie, cie_size;
};
bool cfi_extent_of(const struct cfi *cfi, const struct cfi_function *function,
	struct cfi_extent *ret_extent);
void cfi_fini(struct cfi *cfi);

/* Whether there is anything in it. */
static inline bool cfi_is_empty(const struct cfi *cfi)
{
	return !cfi->n_in_table && !cfi->index.n;
}

/* The function that covers rva, or false. */
bool cfi_find(const struct cfi *cfi, u64 rva, struct cfi_function *ret_function);

/*
 * Row and function for rva: false if nothing covers it. Positions in the cache's vectors. The cache
 * may be cleared on the way if it grew too large: positions handed out before are void then, which
 * *ret_is_cleared says.
 */
bool cfi_row_of(struct cfi_cache *cache, const struct cfi *cfi, u64 rva, u32 *ret_code,
	u32 *ret_row, bool *ret_is_cleared);

void cfi_cache_fini(struct cfi_cache *cache);

#endif
