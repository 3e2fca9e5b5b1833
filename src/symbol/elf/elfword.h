/*
 * elfword.h - words of a file that hold addresses, as they are once it is loaded where it says.
 *
 * In       an ELF file; 32 and 64 bit, both byte orders
 * Out      addresses; the places of words
 * Errors   none: 0 or false where the file has no such word
 * Source   System V ABI, chapter 4 (Relocation), and its supplements for each processor
 *
 * A relative relocation says what a word will be; where none has any (32 bits, packed relocations, a
 * fixed place) it is what stands there.
 */
#ifndef PACE_SYMBOL_ELFWORD_H
#define PACE_SYMBOL_ELFWORD_H

#include "symbol/elf/elf.h"

u64 elfword_at(const struct elf *elf, u64 va);

typedef bool (*elfword_test)(const struct elf *elf, u64 va, const void *ctx);

/* The first word of writable data that is `v` and passes the test. */
bool elfword_find(const struct elf *elf, u64 v, elfword_test is_it, const void *ctx, u64 *ret_va);

#endif
