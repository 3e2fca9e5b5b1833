/*
 * extent.h - where functions begin and end whose names are not known: call frame information tells
 * it of files that were stripped.
 *
 * In       an ELF file with .eh_frame or .debug_frame
 * Out      the function that covers an address, as a range
 * Owns     an index, if the file has no search table
 * Life     as long as the file is open
 * Units    rva, half-open
 * Errors   none: what is damaged is not found
 * Threads  one
 */
#ifndef PACE_SYMBOL_EXTENT_H
#define PACE_SYMBOL_EXTENT_H

#include "symbol/elf.h"
#include "unwind/cfi.h"

struct extents {
	struct cfi cfi;
	bool is_open;
};

/* False: no function is known there. The file is looked at with the first question. */
bool extent_find(struct extents *e, const struct elf *elf, u64 rva, u64 *ret_start, u64 *ret_end);

void extents_fini(struct extents *e);

#endif
