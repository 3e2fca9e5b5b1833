/*
 * extent.h - where functions begin and end whose names are not in any table: call frame information
 * tells it of files that were stripped, where there is none the code itself (symbol/elf/elfstarts). The
 * first of a program have names all the same (symbol/elf/crt).
 *
 * In       the files of a DSO, with an image
 * Out      the function that covers an address, as a range
 * Units    rva, half-open
 * Errors   none: what is damaged is not found
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

/* False: no function is known there. */
bool extent_find(struct dso_files *f, struct dso_file *file, u64 rva, struct extent *ret_extent);

#endif
