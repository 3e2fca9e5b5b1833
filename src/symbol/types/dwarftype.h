/*
 * dwarftype.h - types as DWARF has them: their names, and what lies where in them.
 *
 * In       entries of types, through libdw
 * Out      names as the source has them: struct node, ns::list *; members by their offsets
 * Owns     nothing
 * Errors   false or "": it is not described. Types that contain or name themselves end somewhere
 * Threads  as the libdw handle that the entries are of
 * Source   DWARF 5, chapter 5
 */
#ifndef PACE_SYMBOL_DWARFTYPE_H
#define PACE_SYMBOL_DWARFTYPE_H

#include <elfutils/libdw.h>

#include "base/str.h"
#include "symbol/types/typemembers.h"

/* The type of a variable, a member or a function's result, or what a pointer points to. */
bool dwarftype_of(Dwarf_Die *entry, Dwarf_Die *ret_type);

/* What a pointer or a reference points to; false: it is none, or points to void or functions. */
bool dwarftype_pointee(Dwarf_Die *type, Dwarf_Die *ret_type);

/* An array's element, also of one in an array; any other type itself. */
bool dwarftype_element(Dwarf_Die *type, Dwarf_Die *ret_type);

/* But for typedef, const and the like. */
bool dwarftype_is_same(Dwarf_Die *a, Dwarf_Die *b);

/* Bytes; 0: not known. */
u64 dwarftype_size(Dwarf_Die *type);

/* Where in its struct a member begins; false: at a place that is known only when the program runs. */
bool dwarftype_member_offset(Dwarf_Die *member, u64 *ret_offset);

/* Whether it has members: a struct, class or union. */
bool dwarftype_has_members(Dwarf_Die *type);

void dwarftype_add_name(Dwarf_Die *type, struct str *text);

/*
 * What lies at an offset in a struct, class or union: its path is added, "pos.x", "slots[].key",
 * "name|number" where several members of a union are; *ret_type is its type, addr NULL where that is
 * not clear. False: padding, or behind the end.
 */
bool dwarftype_member(struct typemembers *known, Dwarf_Die *type, u64 offset, struct str *path,
	Dwarf_Die *ret_type);

#endif
