/*
 * typelayout.h - lists the members of a struct, class or union in memory order.
 *
 * In       an entry of a type, through libdw
 * Out      lines: the type itself, its members, and their members, depth first
 * Owns     the lines and their texts
 * Errors   none: undescribed members are left out; depth and number are bounded
 * Threads  like the libdw handle of the entry
 */
#ifndef PACE_SYMBOL_TYPELAYOUT_H
#define PACE_SYMBOL_TYPELAYOUT_H

#include <elfutils/libdw.h>

#include "base/str.h"
#include "base/vec.h"

enum typelayout_kind {
	TYPELAYOUT_MEMBER,
	TYPELAYOUT_STRUCT, /* lines of its members follow, one deeper */
	TYPELAYOUT_UNION,  /* the same, all at the union's own offset */
};

struct typelayout_line {
	u8 kind; /* enum typelayout_kind */
	u32 depth;
	u64 offset, size; /* from the start of the outermost type; for arrays the whole size */
	u64 element;      /* size of an element, for arrays of structs; else 0 */
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
