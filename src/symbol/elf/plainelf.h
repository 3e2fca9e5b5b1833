/*
 * plainelf.h - an ELF file with its packed sections unpacked, as bytes: for readers that do not know
 * how they are packed, as libelf before 0.189 does not know zstd, or take their time.
 *
 * In       an ELF file; names of sections that nobody will ask for, up to a NULL
 * Out      the file's bytes, what was packed behind them, and section headers that say so. Sections
 *          that nobody asks for, and those that cannot be unpacked, have no contents (SHT_NOBITS).
 *          Where something packed was there is nothing
 * Owns     the bytes, which may be written to; plainelf_free() gives them back
 * Errors   ERR_FORMAT: there are no section headers; ERR_SYS. `wrong`, of a section: ERR_FORMAT: it is
 *          damaged; ERR_LIMIT: it would go beyond the limit; ERR_UNSUPPORTED
 * Threads  large sections are unpacked at the same time, by threads of its own
 * Source   System V ABI, chapter 4 (Elf_Chdr)
 */
#ifndef PACE_SYMBOL_PLAINELF_H
#define PACE_SYMBOL_PLAINELF_H

#include "base/err.h"
#include "symbol/elf/elf.h"

struct plainelf {
	u8 *at; /* NULL: nothing was made */
	u64 size;
	struct err wrong; /* why a section is left out: the first of them; code 0: none is */
};

/* Whether anything is packed. */
bool plainelf_is_needed(const struct elf *elf);

int plainelf_make(const struct elf *elf, const char *const *unused, u64 limit,
	struct plainelf *ret_image, struct err *err);
void plainelf_free(struct plainelf *image);

#endif
