/*
 * probewhere.h - where a variable is at a place of code, in the kernel's words: a register, memory behind one, an address.
 *
 * In       a spot in a program; a variable's entry in the debug information
 * Out      its place; the text by which the kernel's probes fetch what is there
 * Owns     nothing
 * Errors   ERR_UNSUPPORTED: a pointer cannot be followed
 * Source   DWARF 5, 2.5 and 2.6 (expressions, locations); Documentation/trace/uprobetracer.rst
 */
#ifndef PACE_SYMBOL_PROBEWHERE_H
#define PACE_SYMBOL_PROBEWHERE_H

#include "symbol/probe/probepoint.h"

enum probe_where_kind {
	PROBE_AT_NOWHERE,
	PROBE_IN_REGISTER, /* `base` is the register */
	PROBE_IN_MEMORY,   /* at `base` + offset */
	PROBE_AT_ADDRESS,  /* in memory, at the file's address `offset` */
	PROBE_IS_CONSTANT, /* it is `offset` */
};

/* Where a value is, in the kernel's words. */
struct probe_where {
	enum probe_where_kind kind;
	char base[200];
	s64 offset;
	u64 bits_before; /* PROBE_IN_REGISTER: of a member of a struct that is in the register */
};

struct probe_finding {
	struct probe_file *file;
	const struct probe_spot *spot;
	struct err *err; /* borrowed, for what is refused */
};

enum probe_found { PROBE_NOT_THERE, PROBE_MUST_BE_COMPUTED, PROBE_FOUND };

enum probe_found probewhere_locate(const struct probe_finding *f, Dwarf_Die *variable,
	struct probe_where *w);

/* The text that fetches the value. False: it is too long. */
bool probewhere_add_fetch(const struct probe_finding *f, const struct probe_where *w,
	struct str *text);

/* Goes where a pointer points. */
int probewhere_follow(const struct probe_finding *f, struct probe_where *w);

#endif
