/*
 * datanames.h - what lies at an address that code reads or writes: a variable, or a piece of text.
 *
 * In       an ELF file; addresses in it
 * Out      the name of the object there; or the string that stands there, if it is constant
 * Owns     its table of names, which are views into the file
 * Errors   none: what has no name has none
 *
 * The last function of a file is not the name of what follows it: data is asked for here, code elsewhere.
 */
#ifndef PACE_SYMBOL_DATANAMES_H
#define PACE_SYMBOL_DATANAMES_H

#include "symbol/elf/symtab.h"

enum { DATANAMES_TEXT_MAX = 40 };

struct datanames {
	const struct elf *elf; /* that the table is of; NULL: of none yet */
	struct symtab table;
};

/* Whether an address is one of data, as far as the file's sections tell. */
bool datanames_is_data(const struct elf *elf, u64 address);

/* The object at an address; the table is read when it is asked for another file. NULL: none. */
const struct symbol *datanames_find(struct datanames *d, const struct elf *elf, u64 address);

/*
 * The constant text at an address, without its end, of at most DATANAMES_TEXT_MAX bytes: *ret_n of them, *ret_is_cut if it goes on. NULL:
 * what stands there is no text. All of it is printable ASCII.
 */
const char *datanames_text(const struct elf *elf, u64 address, size_t *ret_n, bool *ret_is_cut);

void datanames_fini(struct datanames *d);

#endif
