/*
 * typemembers.h - the members of types by their offsets, read once for each type.
 *
 * In       entries of structs, classes and unions, through libdw
 * Out      the members that cover an offset, in the order of declaration
 * Owns     a list for each type used so far
 * Life     the libdw handle must stay; a list's address until another type is looked up
 * Units    bytes
 * Errors   none: members without a known offset are left out
 * Threads  one
 */
#ifndef PACE_SYMBOL_TYPEMEMBERS_H
#define PACE_SYMBOL_TYPEMEMBERS_H

#include <elfutils/libdw.h>

#include "base/table.h"
#include "base/vec.h"

struct typemember {
	Dwarf_Die entry, type;
	u64 start, size;
};

struct typemember_list {
	const void *type; /* its entry */
	VEC(struct typemember) at;
	/* The highest end up to each member, if they are declared in the order of their offsets. */
	VEC(u64) reach;
};

struct typemembers {
	VEC(struct typemember_list) lists;
	struct table by_type;
};

/* `type` must not be a typedef, const or the like. */
const struct typemember_list *typemembers_of(struct typemembers *t, Dwarf_Die *type);

/* The next member, from *at on, that covers an offset; NULL: none. *at moves past it. Start with 0. */
const struct typemember *typemembers_next(const struct typemember_list *list, size_t *at,
	u64 offset);

void typemembers_fini(struct typemembers *t);

#endif
