/*
 * scopehead.h - reads the attributes of a function's or an inlined call's entry, without libdw.
 *
 * In       a walk that has begun with the entry's unit; the offset of the entry in .debug_info
 * Out      struct scopehead
 * Owns     nothing; texts are in the debug sections
 * Errors   false: it is malformed, or has attributes that are left to libdw: addresses and texts
 *          by number
 * Source   DWARF 5, 7.5.3 (abbreviations), 2.17 (addresses), 3.3 (functions), 2.15 (names)
 *
 * libdw parses an entry again at each call, and finds an entry's unit only after it has read the
 * headers of all units before.
 */
#ifndef PACE_SYMBOL_SCOPEHEAD_H
#define PACE_SYMBOL_SCOPEHEAD_H

#include "symbol/dwarf/dieform.h"

struct scopehead {
	bool has_low, has_high, has_ranges, has_file;
	bool is_far;   /* its origin is in another unit or file */
	u64 low, high; /* high: an address, even if the file has a size */
	u64 ranges;    /* offset in .debug_ranges or .debug_rnglists */
	u64 call_file, call_line, call_column;
	u64 origin;                      /* offset of its abstract origin; 0: none */
	u64 specification;               /* offset of the declaration that it completes; 0: none */
	const char *name, *linkage_name; /* its own; NULL: none */
	const char *old_linkage_name;    /* the same, as written before version 4 */
};

bool scopehead_read(const struct dietree *t, const struct dieform_texts *texts, u64 offset,
	struct scopehead *ret);

/*
 * The function's name, mangled if it has a mangled one; NULL: it has none. Names that the entry lacks are taken
 * from its origin and declaration. Returns false if only libdw can tell.
 */
bool scopehead_name(const struct dietree *t, const struct dieform_texts *texts, u64 offset,
	const char **ret_name);

#endif
