/*
 * plainelf.h - an ELF file with its packed sections unpacked, as bytes: for readers that do not know
 * the packing, as libelf before 0.189 does not know zstd, or are slow at it.
 *
 * In       an ELF file; names of sections that will not be needed, up to a NULL
 * Out      the file's bytes, followed by the unpacked sections, and section headers that point to these.
 *          Sections that are not needed, or cannot be unpacked, have no contents (SHT_NOBITS).
 *          The packed bytes are left out
 * Owns     the bytes, which may be written to; plainelf_free() frees them
 * Errors   ERR_FORMAT: there are no section headers; ERR_SYS. `wrong`, for a section: ERR_FORMAT: it is
 *          damaged; ERR_LIMIT: it would exceed the limit; ERR_UNSUPPORTED
 * Threads  large sections are unpacked in parallel, by threads of its own
 * Source   System V ABI, chapter 4 (Elf_Chdr)
 */
#ifndef PACE_SYMBOL_PLAINELF_H
#define PACE_SYMBOL_PLAINELF_H

#include "base/err.h"
#include "symbol/elf/elf.h"

struct plainelf {
	u8 *at; /* NULL: nothing was made */
	u64 size;
	struct err wrong; /* why the first of the missing sections is left out; code 0: none is */
};

/* Whether any section is packed. */
bool plainelf_is_needed(const struct elf *elf);

int plainelf_make(const struct elf *elf, const char *const *unused, u64 limit,
	struct plainelf *ret_image, struct err *err);
void plainelf_free(struct plainelf *image);

#endif
