/*
 * cfi.h - call frame information of one file: the entry that covers an address.
 *
 * In       the sections .eh_frame, .eh_frame_hdr and .debug_frame, as bytes with their addresses
 * Out      where a function begins and ends, and its entry (unwind/entry.h)
 * Owns     an index, if the file has no search table
 * Life     as long as the sections
 * Units    rva
 * Errors   none: damaged entries are not found. Every read is bounds-checked
 * Threads  any number may read it
 * Source   DWARF 5, 6.4; LSB 5.0, 10.6 (Exception Frames)
 */
#ifndef PACE_UNWIND_CFI_H
#define PACE_UNWIND_CFI_H

#include "base/vec.h"
#include "unwind/entry.h"

struct cfi_input {
	/* The `offset` of each is the address it is loaded at; empty: the file has no such section. */
	struct bytes eh_frame, eh_frame_hdr, debug_frame;
	u64 text, data; /* bases of textrel and datarel pointers: .text, .got */
	bool is_64;
};

struct cfi_function {
	u64 start, end;
	u64 entry; /* offset of the FDE */
	bool is_debug_frame;
};

struct cfi {
	struct entry_section eh_frame, debug_frame;
	struct bytes table; /* in .eh_frame_hdr: pairs of s32, sorted */
	u64 n_in_table, table_base;
	VEC(struct cfi_function) index; /* sorted: .eh_frame without a table, then .debug_frame */
	/* Functions that have a frame keep the frame pointer at its top without describing it (Go). */
	bool keeps_pointers;
};

void cfi_init(struct cfi *cfi, const struct cfi_input *in);

/*
 * Initializes cfi from a list of functions and their entries: `n` of them, in ascending order. The sections
 * may have holes between the entries.
 */
void cfi_init_listed(struct cfi *cfi, const struct cfi_input *in,
	const struct cfi_function *functions, size_t n);

/*
 * The FDE of the function that covers rva, and its CIE: offsets and sizes in their section. False: no FDE
 * covers it.
 */
struct cfi_extent {
	struct cfi_function function;
	u64 fde_size, cie, cie_size;
};
bool cfi_extent_of(const struct cfi *cfi, u64 rva, struct cfi_extent *ret_extent);

void cfi_fini(struct cfi *cfi);

static inline bool cfi_is_empty(const struct cfi *cfi)
{
	return !cfi->n_in_table && !cfi->index.n;
}

/*
 * Returns the number of entries that may cover rva, the more likely one first. Their start and end may
 * be 0: only the entry itself says whether it covers rva.
 */
enum { CFI_CANDIDATES = 2 };
unsigned cfi_candidates(const struct cfi *cfi, u64 rva, struct cfi_function *ret);

/* Reads the candidate's entry. Returns false if it is damaged or does not cover rva. */
bool cfi_take(const struct cfi *cfi, const struct cfi_function *candidate, u64 rva,
	struct entry_fde *ret_fde);

/* Finds the entry of the function that covers rva. Returns false if there is none. */
bool cfi_find(const struct cfi *cfi, u64 rva, struct entry_fde *ret_fde);

#endif
