/*
 * scopehead.h - what the entry of a function, or of a call that was inlined, says of itself, without
 * libdw.
 *
 * In       a walk that has begun with the entry's unit; the offset of an entry of it in .debug_info
 * Out      struct scopehead
 * Owns     nothing; texts are in the debug sections
 * Errors   false: it makes no sense, or is written in a way that is left to libdw: addresses and texts
 *          by number
 * Source   DWARF 5, 7.5.3 (abbreviations), 2.17 (addresses), 3.3 (functions), 2.15 (names)
 *
 * libdw reads an entry anew for each question, and finds an entry's unit only when it has read the
 * heads of all units before.
 */
#ifndef PACE_SYMBOL_SCOPEHEAD_H
#define PACE_SYMBOL_SCOPEHEAD_H

#include "symbol/dwarf/dieform.h"

struct scopehead {
	bool has_low, has_high, has_ranges, has_file;
	bool is_far;   /* what it is made of is in another unit or file */
	u64 low, high; /* high: an address, whatever it is in the file */
	u64 ranges;    /* offset in .debug_ranges or .debug_rnglists */
	u64 call_file, call_line, call_column;
	u64 origin;                      /* offset of the entry that it is a copy of; 0: none */
	u64 specification;               /* offset of the entry that it completes; 0: none */
	const char *name, *linkage_name; /* its own; NULL: none */
	const char *old_linkage_name;    /* likewise, as it was written before version 4 */
};

bool scopehead_read(const struct dietree *t, const struct dieform_texts *texts, u64 offset,
	struct scopehead *ret);

/*
 * What the function is called, as it is mangled if it is; NULL: it has no name. False: libdw has to say.
 * What it has not itself, the entries have that it is made of.
 */
bool scopehead_name(const struct dietree *t, const struct dieform_texts *texts, u64 offset,
	const char **ret_name);

#endif
