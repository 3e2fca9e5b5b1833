/*
 * symtab.h - the functions of one DSO, by address.
 *
 * In       ELF files: .symtab, .dynsym, the entries of the PLT
 * Out      the symbol that covers an address
 * Owns     its arrays; names are views into the ELF file, which must stay open
 * Units    addresses as in the file's symbol table (rva); ranges half-open
 * Threads  symtab_find() by any number after symtab_finish()
 * Source   System V ABI, chapter 4: Symbol Table
 */
#ifndef PACE_SYMBOL_SYMTAB_H
#define PACE_SYMBOL_SYMTAB_H

#include "base/types.h"
#include "base/vec.h"
#include "symbol/elf/elf.h"

enum symtab_binding { SYMTAB_LOCAL, SYMTAB_GLOBAL, SYMTAB_WEAK };

struct symbol {
	u64 start, end;
	const char *name; /* as in the file: mangled */
	u8 binding;       /* enum symtab_binding */
	bool is_plt;      /* a PLT entry: printed as name@plt */
	bool is_open;     /* it has no size: it ends where the next one begins */
};

typedef VEC(struct symbol) symbol_list;

struct symtab {
	symbol_list symbols; /* after symtab_finish(): ascending by start, one for each start */
	u64 *reach;          /* the highest end among the symbols up to here */
};

/* Adds the functions of a section of type SHT_SYMTAB or SHT_DYNSYM. Returns their number. */
size_t symtab_add_elf(struct symtab *t, const struct elf *elf, u32 section_type);

/* Adds the data symbols instead: variables and constants that have a size. */
size_t symtab_add_data(struct symtab *t, const struct elf *elf, u32 section_type);

/*
 * Adds to a finished table those functions of a section whose starts it lacks, and finishes it again. So
 * .symtab has priority, and .dynsym fills in what was removed from it.
 */
void symtab_merge_elf(struct symtab *t, const struct elf *elf, u32 section_type);

/*
 * Adds the PLT entries, named after their targets, to a finished table, and finishes it again.
 */
void symtab_add_plt(struct symtab *t, const struct elf *elf);

/*
 * Sorts the symbols, chooses one name for each address, extends symbols without size to the next one, and
 * drops labels inside of a symbol that has a size.
 */
void symtab_finish(struct symtab *t);

/* The symbol at an address, or NULL. Of nested symbols the innermost. */
const struct symbol *symtab_find(const struct symtab *t, u64 address);

void symtab_fini(struct symtab *t);

#endif
