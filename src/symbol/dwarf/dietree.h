/*
 * dietree.h - a quick walk over the entries of one DWARF unit: only functions and inlined calls that
 * have code are stopped at.
 *
 * In       the bytes of .debug_info and .debug_abbrev (or their .dwo kin); where the unit's entries
 *          are, and its sizes
 * Out      the offset, tag and depth of each such entry, in the order of the file
 * Owns     what it learnt of abbreviations, kept from one unit to the next
 * Life     the sections must stay
 * Errors   the walk ends, and says so, at what makes no sense: an abbreviation that is not there, an
 *          unknown form, an entry that goes over the unit's end
 * Source   DWARF 5, 7.5 (format of debugging information)
 *
 * libdw reads an entry's attributes for each question that it is asked; most of a walk is going over
 * entries that nobody asks about.
 */
#ifndef PACE_SYMBOL_DIETREE_H
#define PACE_SYMBOL_DIETREE_H

#include "base/bytes.h"
#include "base/vec.h"

struct dietree_abbrev {
	u32 tag;             /* 0: there is no such abbreviation */
	u32 first_form;      /* in dietree.forms: of attributes that are not of a fixed size */
	u32 first_attribute; /* in dietree.attributes, of functions and inlined calls */
	u32 fixed_bytes;     /* of the attributes before the first of another size */
	bool has_children;
	bool has_code; /* a function or inlined call with addresses */
};

struct dietree_attribute {
	u32 name, form; /* form 0: there are no more */
	s32 size;       /* -1: its form does not tell */
	s64 constant;   /* of DW_FORM_implicit_const */
};

struct dietree_unit {
	u64 begin;      /* offset in .debug_info: of its header */
	u64 first, end; /* offsets in .debug_info: of the unit's own entry, behind the last */
	u64 abbrev_offset;
	u8 address_bytes, offset_bytes; /* 4 or 8 */
	u16 version;
};

struct dietree_entry {
	u64 offset;
	u32 tag;
	u32 depth; /* 0: the unit itself */
	/* The least depth of any entry since the last: what is there or deeper in the path is over. */
	u32 least;
};

struct dietree {
	struct bytes info, abbrevs;
	u64 at, end;
	u32 depth;
	bool is_wrong; /* it ended where it should not */
	struct dietree_unit unit;
	VEC(struct dietree_abbrev) table; /* by code */
	VEC(u8) forms;                    /* rows of forms, each closed by 0 */
	VEC(struct dietree_attribute) attributes;
};

/* `t` is zero, or was used for another unit with the same sections. */
void dietree_begin(struct dietree *t, const struct dietree_unit *unit);

/* False at the end. */
bool dietree_next(struct dietree *t, struct dietree_entry *ret_entry);

void dietree_fini(struct dietree *t);

/* Whether entries of a tag are functions or calls that were inlined. */
bool dietree_is_scope(u32 tag);

/* Goes over one attribute of that form, DW_FORM_implicit_const not among them; false: it is unknown, or cut. */
bool dietree_skip_form(const struct dietree_unit *u, struct bytes *b, u64 form);

#endif
