/*
 * extent.h - where functions begin and end whose names are not in any table: call frame information
 * tells it of files that were stripped, where there is none the code itself (symbol/elfstarts). The
 * first of a program have names all the same (symbol/crt).
 *
 * In       an ELF file
 * Out      the function that covers an address, as a range
 * Owns     what it reads of the file to find them
 * Life     as long as the file is open
 * Units    rva, half-open
 * Errors   none: what is damaged is not found
 * Threads  one
 */
#ifndef PACE_SYMBOL_EXTENT_H
#define PACE_SYMBOL_EXTENT_H

#include "symbol/crt.h"
#include "symbol/elfstarts.h"
#include "symbol/origin.h"
#include "unwind/cfi.h"

struct extent {
	u64 start, end;
	enum origin origin; /* ORIGIN_CRT, ORIGIN_EXTENT */
	const char *name;   /* static; ORIGIN_EXTENT: NULL */
};

struct extents {
	struct cfi cfi;
	struct crt crt;
	struct elfstarts starts;
	bool is_open;
};

/* False: no function is known there. The file is looked at with the first question. */
bool extent_find(struct extents *e, const struct elf *elf, u64 rva, struct extent *ret_extent);

void extents_fini(struct extents *e);

#endif
