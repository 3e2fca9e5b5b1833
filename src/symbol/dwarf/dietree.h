/*
 * dietree.h - a fast walk over the entries of one DWARF unit: it stops only at functions and inlined calls that
 * have code.
 *
 * In       the bytes of .debug_info and .debug_abbrev (or their .dwo variants); where the unit's entries
 *          are, and its sizes
 * Out      the offset, tag and depth of each of these entries, in the order of the file
 * Owns     the abbreviations that it has parsed, kept from one unit to the next
 * Life     the sections must stay
 * Errors   the walk ends, with is_wrong, at malformed data: a missing abbreviation, an
 *          unknown form, an entry that crosses the unit's end
 * Source   DWARF 5, 7.5 (format of debugging information)
 *
 * libdw parses an entry's attributes again at each call, but most of a walk is skipping entries that no
 * caller needs.
 */
#ifndef PACE_SYMBOL_DIETREE_H
#define PACE_SYMBOL_DIETREE_H

#include "base/bytes.h"
#include "base/vec.h"

struct dietree_abbrev {
	u32 tag;        /* 0: the abbreviation does not exist */
	u32 first_form; /* in dietree.forms: of the attributes from the first without a fixed size on */
	u32 first_attribute; /* in dietree.attributes; for functions and inlined calls */
	u32 fixed_bytes;     /* size of the attributes before that one */
	bool has_children;
	bool has_code; /* a function or inlined call with addresses */
};

struct dietree_attribute {
	u32 name, form; /* form 0: end of the list */
	s32 size;       /* -1: not fixed by the form */
	s64 constant;   /* for DW_FORM_implicit_const */
};

struct dietree_unit {
	u64 begin;      /* offset of its header in .debug_info */
	u64 first, end; /* offsets in .debug_info: the unit's own entry, behind its last one */
	u64 abbrev_offset;
	u8 address_bytes, offset_bytes; /* 4 or 8 */
	u16 version;
};

struct dietree_entry {
	u64 offset;
	u32 tag;
	u32 depth; /* 0: the unit itself */
	/* The least depth of any entry since the previous result: the path ends above it. */
	u32 least;
};

struct dietree {
	struct bytes info, abbrevs;
	u64 at, end;
	u32 depth;
	bool is_wrong; /* it ended at malformed data */
	struct dietree_unit unit;
	VEC(struct dietree_abbrev) table; /* by code */
	VEC(u8) forms;                    /* lists of forms, each terminated by 0 */
	VEC(struct dietree_attribute) attributes;
};

/* `t` must be zero, or have been used for another unit of the same sections. */
void dietree_begin(struct dietree *t, const struct dietree_unit *unit);

/* Returns false at the end. */
bool dietree_next(struct dietree *t, struct dietree_entry *ret_entry);

void dietree_fini(struct dietree *t);

/* Whether entries with this tag are functions or inlined calls. */
bool dietree_is_scope(u32 tag);

/*
 * Skips one attribute of that form, except DW_FORM_implicit_const. Returns false if it is unknown, or
 * truncated.
 */
bool dietree_skip_form(const struct dietree_unit *u, struct bytes *b, u64 form);

#endif
