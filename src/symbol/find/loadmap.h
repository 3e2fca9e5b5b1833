/*
 * loadmap.h - whether a file is one that a recording's maps can be of: what a loader maps as code is
 * told by the segments of the file.
 *
 * In       a DSO with the span of its maps of code; an ELF file
 * Units    bytes of the file; spans are half-open
 * Source   System V ABI, chapter 5, Program Loading; Linux fs/binfmt_elf.c, glibc elf/dl-map-segments.h:
 *          the first segment is mapped with room for all
 */
#ifndef PACE_SYMBOL_LOADMAP_H
#define PACE_SYMBOL_LOADMAP_H

#include "machine/dso.h"
#include "symbol/elf/elf.h"

enum loadmap_fit {
	LOADMAP_OTHER, /* some of the code that was mapped is not code of this file */
	LOADMAP_PART,  /* all of it is, but there is more */
	LOADMAP_WHOLE, /* it begins and ends with the code of this file */
};

/* Of a DSO of which some code was mapped. */
enum loadmap_fit loadmap_compare(const struct dso *dso, const struct elf *elf);

#endif
