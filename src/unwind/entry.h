/*
 * entry.h - the entries of .eh_frame and .debug_frame: CIEs, which say what functions have in common,
 * and FDEs, one for each function.
 *
 * In       a section; the offsets of its bytes are the addresses they are loaded at
 * Out      the code that an FDE covers, and the instructions that make its rows (unwind/rows.h)
 * Owns     nothing: instructions point into the section
 * Units    rva
 * Errors   false: not an FDE, or a damaged one
 * Source   DWARF 5, 6.4.1; LSB 5.0, 10.6 (Exception Frames)
 */
#ifndef PACE_UNWIND_ENTRY_H
#define PACE_UNWIND_ENTRY_H

#include "unwind/encoded.h"

/* A letter of our own in a CIE's augmentation string, used in sections made by symbol/go/gocfi. */
#define ENTRY_CHANGES_STACK 'T'

struct entry_section {
	struct bytes bytes;
	struct encoded_bases bases;
	bool is_debug_frame;
};

struct entry_cie {
	u64 offset; /* in its section */
	u64 code_align;
	s64 data_align;
	u8 return_reg, pointers;  /* pointers: the encoding in FDEs */
	bool is_signal, has_data; /* has_data: FDEs have augmentation data, with a size */
	bool changes_stack;       /* callers may be on another stack than their callees */
	struct encoded_bases bases;
	struct bytes instructions;
};

struct entry_fde {
	struct entry_cie cie;
	u64 start, end;
	struct bytes instructions;
};

/* Moves `section` past one entry, a CIE or an FDE. Returns false at the end. */
bool entry_skip(struct bytes *section);

/*
 * Reads the FDE at the cursor. If *fde still holds another one of the same section, a CIE that both share
 * is not read again; otherwise *fde must be zero.
 */
bool entry_fde(const struct entry_section *section, struct bytes at, struct entry_fde *fde);

#endif
