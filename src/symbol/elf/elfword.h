/*
 * elfword.h - reads words of a file that hold addresses, with the values they get when the file is loaded at
 * its own addresses.
 *
 * In       an ELF file; 32 and 64 bit, both byte orders
 * Out      addresses; the places of words
 * Errors   none: 0 or false if the file has no such word
 * Source   System V ABI, chapter 4 (Relocation), and its supplements for each processor
 *
 * A relative relocation gives the value of a word; a word without one (32 bits, packed relocations, a
 * fixed address) keeps the value in the file.
 */
#ifndef PACE_SYMBOL_ELFWORD_H
#define PACE_SYMBOL_ELFWORD_H

#include "symbol/elf/elf.h"

u64 elfword_at(const struct elf *elf, u64 va);

typedef bool (*elfword_test)(const struct elf *elf, u64 va, const void *ctx);

/* Finds the first word of writable data that is `v` and passes the test. */
bool elfword_find(const struct elf *elf, u64 v, elfword_test is_it, const void *ctx, u64 *ret_va);

#endif
