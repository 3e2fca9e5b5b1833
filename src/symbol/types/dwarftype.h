/*
 * dwarftype.h - types in DWARF: their names and the layout of their members.
 *
 * In       entries of types, through libdw
 * Out      names as in the source: struct node, ns::list *; members by their offsets
 * Owns     nothing
 * Errors   false or "": not described. The depth is bounded for types that contain or name themselves
 * Threads  like the libdw handle of the entries
 * Source   DWARF 5, chapter 5
 */
#ifndef PACE_SYMBOL_DWARFTYPE_H
#define PACE_SYMBOL_DWARFTYPE_H

#include <elfutils/libdw.h>

#include "base/str.h"
#include "symbol/types/typemembers.h"

/* The type of a variable, a member or a function's result, or what a pointer points to. */
bool dwarftype_of(Dwarf_Die *entry, Dwarf_Die *ret_type);

/* The target of a pointer or a reference. Returns false if it is neither, or points to void or functions. */
bool dwarftype_pointee(Dwarf_Die *type, Dwarf_Die *ret_type);

/* The innermost element of an array, also of nested ones; any other type itself. */
bool dwarftype_element(Dwarf_Die *type, Dwarf_Die *ret_type);

/* Ignores typedef, const and the like. */
bool dwarftype_is_same(Dwarf_Die *a, Dwarf_Die *b);

/* In bytes; 0: unknown. */
u64 dwarftype_size(Dwarf_Die *type);

/* The offset of a member in its struct. Returns false if it is only known at run time. */
bool dwarftype_member_offset(Dwarf_Die *member, u64 *ret_offset);

/* Whether it has members: a struct, class or union. */
bool dwarftype_has_members(Dwarf_Die *type);

void dwarftype_add_name(Dwarf_Die *type, struct str *text);

/*
 * Finds the member at an offset in a struct, class or union, and appends its path: "pos.x", "slots[].key",
 * "name|number" for several members of a union. *ret_type is its type, with addr NULL where that is
 * ambiguous. Returns false for padding, or beyond the end.
 */
bool dwarftype_member(struct typemembers *known, Dwarf_Die *type, u64 offset, struct str *path,
	Dwarf_Die *ret_type);

#endif
