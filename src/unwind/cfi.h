/*
 * cfi.h - call frame information of one file: the entry that covers an address.
 *
 * In       the sections .eh_frame, .eh_frame_hdr and .debug_frame, as bytes with their addresses
 * Out      where a function begins and ends, and its entry (unwind/entry.h)
 * Owns     an index, if the file has no search table
 * Life     as long as the sections
 * Units    rva
 * Errors   none: what is damaged is not found. Every read is checked
 * Threads  it may be read by any number
 * Source   DWARF 5, 6.4; LSB 5.0, 10.6 (Exception Frames)
 */
#ifndef PACE_UNWIND_CFI_H
#define PACE_UNWIND_CFI_H

#include "base/vec.h"
#include "unwind/entry.h"

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
	struct entry_section eh_frame, debug_frame;
	struct bytes table; /* of .eh_frame_hdr: pairs of s32, sorted */
	u64 n_in_table, table_base;
	VEC(struct cfi_function) index; /* sorted: .eh_frame without a table, then .debug_frame */
	/* Whoever has a frame keeps the frame pointer at its top, and says nothing of it (Go). */
	bool keeps_pointers;
};

void cfi_init(struct cfi *cfi, const struct cfi_input *in);

/*
 * The same where somebody knows the functions and where their entries are: n of them, ascending. The
 * sections may have holes elsewhere.
 */
void cfi_init_listed(struct cfi *cfi, const struct cfi_input *in,
	const struct cfi_function *functions, size_t n);

/* Where in its section the entry of the function that covers rva lies, and its CIE. False: nowhere. */
struct cfi_extent {
	struct cfi_function function;
	u64 fde_size, cie, cie_size;
};
bool cfi_extent_of(const struct cfi *cfi, u64 rva, struct cfi_extent *ret_extent);

void cfi_fini(struct cfi *cfi);

/* Whether there is anything in it. */
static inline bool cfi_is_empty(const struct cfi *cfi)
{
	return !cfi->n_in_table && !cfi->index.n;
}

/*
 * Where the entries are that may cover rva, the likelier one first, and how many. Their starts and
 * ends may be 0: the entry says whether it does.
 */
enum { CFI_CANDIDATES = 2 };
unsigned cfi_candidates(const struct cfi *cfi, u64 rva, struct cfi_function *ret);

/* The entry there; false: it makes no sense, or does not cover rva. */
bool cfi_take(const struct cfi *cfi, const struct cfi_function *candidate, u64 rva,
	struct entry_fde *ret_fde);

/* The entry of the function that covers rva, or false. */
bool cfi_find(const struct cfi *cfi, u64 rva, struct entry_fde *ret_fde);

#endif
