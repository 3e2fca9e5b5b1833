/*
 * rangelist.h - reads range lists: the addresses of code that is in several pieces.
 *
 * In       .debug_ranges or .debug_rnglists, .debug_addr, and the unit's base address
 * Out      ranges, half-open
 * Owns     nothing
 * Errors   is_wrong: the list ended unexpectedly
 * Source   DWARF 5, 2.17.3 and 7.25; DWARF 4, 2.17.3
 */
#ifndef PACE_SYMBOL_RANGELIST_H
#define PACE_SYMBOL_RANGELIST_H

#include "base/bytes.h"

struct rangelist_source {
	struct bytes lists;     /* from the unit's part of the section on */
	struct bytes addresses; /* the same of .debug_addr */
	u64 base;               /* initial base of the ranges */
	u16 version;
	u8 address_bytes;
};

struct rangelist {
	const struct rangelist_source *source;
	struct bytes at;
	u64 base;
	bool has_ended, is_wrong;
};

/* Opens the list at an offset in `lists`; with is_index, `value` is a list's number (version 5). */
void rangelist_open(struct rangelist *l, const struct rangelist_source *s, u64 value,
	bool is_index);

/* Returns false at the end. */
bool rangelist_next(struct rangelist *l, u64 *ret_start, u64 *ret_end);

#endif
