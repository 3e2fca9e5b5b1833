/*
 * typemembers.h - the members of types by where they lie, read once of each type.
 *
 * In       entries of structs, classes and unions, through libdw
 * Out      the members that cover an offset, in the order in which they are declared
 * Owns     a list for each type that was asked about
 * Life     the libdw handle must stay; a list's address until another type is asked about
 * Units    bytes
 * Errors   none: members that cannot be placed are left out
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
	/* The furthest end of each and all before it, if they are declared in the order of places. */
	VEC(u64) reach;
};

struct typemembers {
	VEC(struct typemember_list) lists;
	struct table by_type;
};

/* `type`: neither a typedef nor const or the like. */
const struct typemember_list *typemembers_of(struct typemembers *t, Dwarf_Die *type);

/* The first member from *at on that covers an offset, NULL: none; *at moves behind it. It begins at 0. */
const struct typemember *typemembers_next(const struct typemember_list *list, size_t *at,
	u64 offset);

void typemembers_fini(struct typemembers *t);

#endif
