/*
 * gotab.h - the functions of a Go program, out of the table that its runtime needs: stripping leaves it.
 *
 * In       an ELF file with .gopclntab, or where a linker put that into another section: of Go 1.2 or
 *          later
 * Out      functions with their places, names and descriptions; symbols in a symtab. Names are views
 *          into the file
 * Owns     nothing: a table is a view of the file, which may be a copy of the struct that was opened
 * Errors   none: what makes no sense is left out
 * Threads  any number may read a table
 * Source   Go: src/runtime/symtab.go (pcHeader, moduledata, functab), src/debug/gosym/pclntab.go
 */
#ifndef PACE_SYMBOL_GOTAB_H
#define PACE_SYMBOL_GOTAB_H

#include "symbol/elf/symtab.h"

/* The first four bytes say since when a table looks so. */
enum gotab_version {
	GOTAB_1_2 = 0xfffffffb,
	GOTAB_1_16 = 0xfffffffa,
	GOTAB_1_18 = 0xfffffff0,
	GOTAB_1_20 = 0xfffffff1
};

/* The tables behind the head, since 1.16. */
enum gotab_part {
	GOTAB_NAMES,
	GOTAB_UNITS, /* numbers of files of each compilation unit */
	GOTAB_FILES,
	GOTAB_STEPS, /* what changes along the code of a function */
	GOTAB_FUNCTIONS,
	GOTAB_PARTS
};

struct gotab {
	struct bytes table; /* all of it; its offset is the address */
	u32 version;        /* enum gotab_version */
	u8 quantum, word;   /* bytes of the shortest instruction, and of an address */
	u64 n;              /* functions */
	u64 text;           /* since 1.18: what entries count from */
	u64 parts[GOTAB_PARTS];
	u8 entry_bytes; /* of each of the two numbers of an entry */
	u64 data;       /* since 1.18: what the data of functions counts from; 0: unknown */
};

struct gotab_function {
	u64 start, end;
	const char *name;         /* NULL: it has none */
	struct bytes description; /* behind the function's start and name */
};

/* False if the file has no such table. */
bool gotab_open(struct gotab *g, const struct elf *elf);

/* Function i, ascending; false if the table does not have it. */
bool gotab_function(const struct gotab *g, u64 i, struct gotab_function *ret);

/* What begins at `at` of a part, up to the table's end; empty if that is beyond it. */
struct bytes gotab_part(const struct gotab *g, enum gotab_part part, u64 at);

/* A name by its place; NULL: there is none, or it has no end. */
const char *gotab_name(const struct gotab *g, u64 at);

/* Adds all functions before symtab_finish(): how many. */
size_t gotab_add(struct symtab *t, const struct elf *elf);

#endif
