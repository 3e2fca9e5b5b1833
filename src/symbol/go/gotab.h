/*
 * gotab.h - the functions of a Go program, from the table that its runtime needs: stripping does not remove it.
 *
 * In       an ELF file of Go 1.2 or later, with .gopclntab, or with the table where a linker put it in
 *          another section
 * Out      functions with their addresses, names and descriptions; symbols in a symtab. Names are views
 *          into the file
 * Owns     nothing: a table is a view of the file, which may be a copy of the struct that was opened
 * Errors   none: malformed entries are left out
 * Threads  any number may read a table
 * Source   Go: src/runtime/symtab.go (pcHeader, moduledata, functab), src/debug/gosym/pclntab.go
 */
#ifndef PACE_SYMBOL_GOTAB_H
#define PACE_SYMBOL_GOTAB_H

#include "symbol/elf/symtab.h"

/* The first four bytes of a table, by the first Go version with that format. */
enum gotab_version {
	GOTAB_1_2 = 0xfffffffb,
	GOTAB_1_16 = 0xfffffffa,
	GOTAB_1_18 = 0xfffffff0,
	GOTAB_1_20 = 0xfffffff1
};

/* The tables after the header, since Go 1.16. */
enum gotab_part {
	GOTAB_NAMES,
	GOTAB_UNITS, /* file numbers of each compilation unit */
	GOTAB_FILES,
	GOTAB_STEPS, /* values that change along a function's code */
	GOTAB_FUNCTIONS,
	GOTAB_PARTS
};

struct gotab {
	struct bytes table; /* the whole table; its offset is its address */
	u32 version;        /* enum gotab_version */
	u8 quantum, word;   /* bytes of the shortest instruction, and of an address */
	u64 n;              /* functions */
	u64 text;           /* since 1.18: base of the entries' addresses */
	u64 parts[GOTAB_PARTS];
	u8 entry_bytes; /* size of each of an entry's two numbers */
	u64 data;       /* since 1.18: base of the functions' data; 0: unknown */
};

struct gotab_function {
	u64 start, end;
	const char *name;         /* NULL: none */
	struct bytes description; /* after the function's start and name */
};

/* Returns false if the file has no such table. */
bool gotab_open(struct gotab *g, const struct elf *elf);

/* Function i in ascending order. Returns false beyond the table's end. */
bool gotab_function(const struct gotab *g, u64 i, struct gotab_function *ret);

/* The bytes from offset `at` of a part to the table's end; empty if `at` is beyond it. */
struct bytes gotab_part(const struct gotab *g, enum gotab_part part, u64 at);

/* The name at an offset; NULL: none, or not terminated. */
const char *gotab_name(const struct gotab *g, u64 at);

/* Adds all functions; call before symtab_finish(). Returns their number. */
size_t gotab_add(struct symtab *t, const struct elf *elf);

#endif
