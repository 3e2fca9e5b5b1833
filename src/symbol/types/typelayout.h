/*
 * typelayout.h - the members of a struct, class or union, one under the other, as they lie in memory.
 *
 * In       an entry of a type, through libdw
 * Out      lines: the type itself, its members, and what is in these, depth first
 * Owns     the lines and their texts
 * Errors   none: what is not described is left out; depth and number are bounded
 * Threads  as the libdw handle that the entry is of
 */
#ifndef PACE_SYMBOL_TYPELAYOUT_H
#define PACE_SYMBOL_TYPELAYOUT_H

#include <elfutils/libdw.h>

#include "base/str.h"
#include "base/vec.h"

enum typelayout_kind {
	TYPELAYOUT_MEMBER,
	TYPELAYOUT_STRUCT, /* lines of its members follow, one deeper */
	TYPELAYOUT_UNION,  /* likewise, all at its own offset */
};

struct typelayout_line {
	u8 kind; /* enum typelayout_kind */
	u32 depth;
	u64 offset, size; /* from the beginning of the outermost type; of an array, all of it */
	u64 element;      /* bytes of an element, if it is an array of structs; else 0 */
	const char *type,
		*name; /* "struct node *", "next"; name: "slots[64]"; "": none, or the outermost */
};

struct typelayout {
	VEC(struct typelayout_line) lines;
	struct intern texts;
};

/* Adds the lines of a type that has members. */
void typelayout_add(struct typelayout *l, Dwarf_Die *type);

void typelayout_fini(struct typelayout *l);

#endif
