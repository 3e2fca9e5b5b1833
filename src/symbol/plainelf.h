/*
 * plainelf.h - an ELF file with its packed debug sections unpacked, as bytes: for readers that do not
 * know how they are packed, as libelf before 0.189 does not know zstd.
 *
 * In       an ELF file
 * Out      the file's bytes, what was packed behind them, and section headers that say so
 * Owns     nothing; the caller frees the image
 * Errors   ERR_FORMAT: a section is damaged; ERR_LIMIT: it is larger than the limit
 * Source   System V ABI, chapter 4 (Elf_Chdr)
 */
#ifndef PACE_SYMBOL_PLAINELF_H
#define PACE_SYMBOL_PLAINELF_H

#include "base/err.h"
#include "symbol/elf.h"

/* Whether a debug section is packed with something newer than zlib. */
bool plainelf_is_needed(const struct elf *elf);

int plainelf_make(const struct elf *elf, u64 limit, struct str *ret_image, struct err *err);

#endif
