/*
 * datanames.h - names the data at an address that code reads or writes: a variable, or a string.
 *
 * In       an ELF file; addresses in it
 * Out      the name of the object there; or the string there, if it is constant
 * Owns     its table of names, which are views into the file
 * Errors   none: data may have no name
 *
 * Code and data are looked up separately: the last function of a file must not name the data that follow it.
 */
#ifndef PACE_SYMBOL_DATANAMES_H
#define PACE_SYMBOL_DATANAMES_H

#include "symbol/elf/symtab.h"

enum { DATANAMES_TEXT_MAX = 40 };

struct datanames {
	const struct elf *elf; /* the file of the table; NULL: none yet */
	struct symtab table;
};

/* Whether an address is in a section of data. */
bool datanames_is_data(const struct elf *elf, u64 address);

/* The object at an address. Reads the table if `elf` is another file than last time. NULL: none. */
const struct symbol *datanames_find(struct datanames *d, const struct elf *elf, u64 address);

/*
 * The constant string at an address, without its NUL, of at most DATANAMES_TEXT_MAX bytes: *ret_n of them;
 * *ret_is_cut if it is longer. NULL: there is no string. All of it is printable ASCII.
 */
const char *datanames_text(const struct elf *elf, u64 address, size_t *ret_n, bool *ret_is_cut);

void datanames_fini(struct datanames *d);

#endif
