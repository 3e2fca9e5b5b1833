/*
 * loadmap.h - whether a recording's maps can be those of a given file: the segments of the file tell what
 * a loader maps as code.
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
	LOADMAP_OTHER, /* some of the mapped code is not code of this file */
	LOADMAP_PART,  /* all of it is, but the file has more */
	LOADMAP_WHOLE, /* the mapped code is exactly the code of this file */
};

/* The DSO must have maps of code. */
enum loadmap_fit loadmap_compare(const struct dso *dso, const struct elf *elf);

#endif
