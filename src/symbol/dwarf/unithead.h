/*
 * unithead.h - the own entry of a DWARF unit: where its code and its lines are.
 *
 * A file has thousands of units, of which a few are asked for; but all have to say where their code
 * is. libdw reads, and keeps, the abbreviations of each up to that of its own entry, which gcc writes last.
 *
 * In       the bytes of .debug_info and .debug_abbrev
 * Out      struct unithead
 * Owns     nothing
 * Errors   false: it makes no sense, or is of a kind that is left to libdw: split units, types,
 *          addresses and lists by number
 * Source   DWARF 5, 7.5.1.1 (headers), 7.5.3 (abbreviations), 3.1.1 (attributes)
 */
#ifndef PACE_SYMBOL_UNITHEAD_H
#define PACE_SYMBOL_UNITHEAD_H

#include "symbol/dwarf/dietree.h"

struct unithead {
	struct dietree_unit unit; /* its `end` is where the next one begins */
	u32 tag;
	bool has_low, has_high, has_ranges, has_lines, has_entry;
	u64 low, high;     /* high: an address, whatever it is in the file */
	u64 ranges, lines; /* offsets in .debug_ranges or .debug_rnglists, in .debug_line */
	u32 dir_form;      /* of where it was compiled; 0: it does not say */
	struct bytes dir;  /* from its value on */
};

/* The unit whose header is at an offset. */
bool unithead_read(struct bytes info, struct bytes abbrevs, u64 at, struct unithead *ret);

/* The unit whose own entry is at an offset. */
bool unithead_of_entry(struct bytes info, struct bytes abbrevs, u64 entry, struct unithead *ret);

#endif
