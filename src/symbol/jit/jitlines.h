/*
 * jitlines.h - the source lines of a function of a jitdump, as debug information of an ELF file.
 *
 * In       a dump that was read to its end, a function of it, the address that the function has in the ELF file
 * Out      .debug_abbrev, .debug_info and .debug_line: one unit, which has only lines
 * Owns     nothing
 * Errors   none; a function without lines has no such sections
 * Source   DWARF 4: 6.2.4 and 6.2.5, the header and the program of line numbers
 */
#ifndef PACE_SYMBOL_JITLINES_H
#define PACE_SYMBOL_JITLINES_H

#include "symbol/jit/jitdump.h"

struct jitlines {
	struct str abbrev, info, line;
};

void jitlines_make(struct jitlines *l, const struct jitdump *d, const struct jitdump_code *code,
	u64 va);
void jitlines_fini(struct jitlines *l);

#endif
