/*
 * entry.h - the entries of .eh_frame and .debug_frame: CIEs, which say what functions have in common,
 * and FDEs, one for each function.
 *
 * In       a section, whose bytes have the addresses they are loaded to as their offsets
 * Out      which code an FDE is about, and the instructions that make its rows (unwind/rows.h)
 * Owns     nothing: instructions point into the section
 * Units    rva
 * Errors   false: it is no FDE, or makes no sense
 * Source   DWARF 5, 6.4.1; LSB 5.0, 10.6 (Exception Frames)
 */
#ifndef PACE_UNWIND_ENTRY_H
#define PACE_UNWIND_ENTRY_H

#include "unwind/encoded.h"

/* A letter of our own in what augments a CIE, of sections that are made here (symbol/go/gocfi). */
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
	u8 return_reg, pointers;  /* pointers: how FDEs write theirs */
	bool is_signal, has_data; /* has_data: FDEs have a size of augmentation data */
	bool changes_stack;       /* callers may lie on another stack than what is called */
	struct encoded_bases bases;
	struct bytes instructions;
};

struct entry_fde {
	struct entry_cie cie;
	u64 start, end;
	struct bytes instructions;
};

/* Moves `section` over one entry, a CIE or an FDE; false at the end. */
bool entry_skip(struct bytes *section);

/*
 * The FDE at the cursor. What *fde holds before of another one of the same section saves reading its
 * CIE again; else it is zero.
 */
bool entry_fde(const struct entry_section *section, struct bytes at, struct entry_fde *fde);

#endif
