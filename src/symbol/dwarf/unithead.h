/*
 * unithead.h - reads the first entry of a DWARF unit: where its code and its lines are.
 *
 * A file has thousands of units. Few of them are needed, but all must be asked where their code
 * is. libdw reads, and keeps, each unit's abbreviations up to that of its first entry, which gcc writes last.
 *
 * In       the bytes of .debug_info and .debug_abbrev
 * Out      struct unithead
 * Owns     nothing
 * Errors   false: it is malformed, or of a kind that is left to libdw: split units, types,
 *          addresses and lists by number
 * Source   DWARF 5, 7.5.1.1 (headers), 7.5.3 (abbreviations), 3.1.1 (attributes)
 */
#ifndef PACE_SYMBOL_UNITHEAD_H
#define PACE_SYMBOL_UNITHEAD_H

#include "symbol/dwarf/dietree.h"

struct unithead {
	struct dietree_unit unit; /* its `end` is the start of the next one */
	u32 tag;
	bool has_low, has_high, has_ranges, has_lines, has_entry;
	u64 low, high;     /* high: an address, even if the file has a size */
	u64 ranges, lines; /* offsets in .debug_ranges or .debug_rnglists, in .debug_line */
	u32 dir_form;      /* form of the folder it was compiled in; 0: not recorded */
	struct bytes dir;  /* the bytes from that value on */
};

/* Reads the unit whose header is at an offset. */
bool unithead_read(struct bytes info, struct bytes abbrevs, u64 at, struct unithead *ret);

/* Reads the unit whose first entry is at an offset. */
bool unithead_of_entry(struct bytes info, struct bytes abbrevs, u64 entry, struct unithead *ret);

#endif
