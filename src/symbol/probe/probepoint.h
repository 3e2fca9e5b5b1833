/*
 * probepoint.h - where in a file a probe belongs: functions, inlined calls of them, and lines, as addresses.
 *
 * In       an open file; the place that somebody typed
 * Out      spots: one for a function and one for each of its inlined calls
 * Owns     the list, until probepoints_fini()
 * Life     entries are valid as long as the file
 * Units    addresses as in the file (rva)
 * Errors   ERR_NOENT: there is no such function (with the nearest names), file or line
 * Source   DWARF 5, 3.3 (functions and their inlined calls), 6.2 (lines)
 */
#ifndef PACE_SYMBOL_PROBEPOINT_H
#define PACE_SYMBOL_PROBEPOINT_H

#include "symbol/probe/probefile.h"
#include "symbol/probe/probetext.h"

struct probe_spot {
	u64 address;
	u64 start;          /* of the function that has the code; 0: unknown */
	const char *name;   /* of the function with the code, as events are called after it */
	const char *symbol; /* its symbol in the file; NULL: unknown */
	/* The function, or the inlined call of it, whose variables are meant. addr NULL: no debug information. */
	Dwarf_Die function;
	Dwarf_Die
		code; /* the function that has the code: the same one, or that into which it is inlined */
	Dwarf_Die unit;
	bool is_entry; /* the function begins here */
};

struct probe_spots {
	VEC(struct probe_spot) at;
	u64 line; /* the line that was found, if the one asked for has no code; 0: it has */
	struct arena texts;
};

enum probepoint_flag {
	PROBEPOINT_NO_INLINES = 1 << 0, /* only functions themselves */
	PROBEPOINT_SKIP_PROLOGUE = 1
		<< 1, /* where variables are in place, in functions compiled without optimization */
};

int probepoint_find(struct probe_file *f, const struct probe_text *t, unsigned flags,
	struct probe_spots *ret, struct err *err);
void probepoints_fini(struct probe_spots *s);

/* The name of a function's entry, or of that of which it is an instance. NULL: none. */
const char *probepoint_name(Dwarf_Die *function);

/* Where a function is declared: its file and line; false: unknown. */
bool probepoint_declared(Dwarf_Die *function, const char **ret_file, u64 *ret_line);

/* The first function by that name, with its unit. False: none. */
bool probepoint_function(struct probe_file *f, const char *name, const char *file,
	Dwarf_Die *ret_unit, Dwarf_Die *ret_function);

/* Whether a path ends in these parts: prog.c fits src/prog.c. */
bool probepoint_fits(const char *path, const char *end);

/* "there is no function 'x'; did you mean 'y'?" */
int probepoint_unknown(struct probe_file *f, const char *name, struct err *err);

#endif
