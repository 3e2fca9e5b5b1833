/*
 * extent.h - the start and end of functions that have no name in any table: from call frame information in
 * stripped files or, where there is none, from the code itself (symbol/elf/elfstarts). Only a program's start-up
 * functions have names (symbol/elf/crt).
 *
 * In       the files of a DSO, with an image
 * Out      the function that covers an address, as a range
 * Units    rva, half-open
 * Errors   none: damaged entries are not found
 * Threads  any number
 */
#ifndef PACE_SYMBOL_EXTENT_H
#define PACE_SYMBOL_EXTENT_H

#include "symbol/resolve/dsofiles.h"
#include "symbol/name/origin.h"

struct extent {
	u64 start, end;
	enum origin origin; /* ORIGIN_CRT, ORIGIN_EXTENT */
	const char *name;   /* static; ORIGIN_EXTENT: NULL */
};

/* Returns false if no function is known there. */
bool extent_find(struct dso_files *f, struct dso_file *file, u64 rva, struct extent *ret_extent);

#endif
