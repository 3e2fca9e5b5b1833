/*
 * elfcfi.h - finds the call frame information of an ELF file.
 *
 * Life     the results are views of the file, valid until it is closed
 * Source   LSB 5.0, 10.6; elf(5)
 */
#ifndef PACE_SYMBOL_ELFCFI_H
#define PACE_SYMBOL_ELFCFI_H

#include "symbol/elf/elf.h"
#include "unwind/cfi.h"

/* A section's contents; their offset is the address they are loaded at. Empty if there is no such section. */
struct bytes elfcfi_section(const struct elf *elf, const char *name);

/* The bytes from an address to the end of its segment; *ret_before: how many precede it. */
struct bytes elfcfi_loaded_at(const struct elf *elf, u64 va, u64 *ret_before);

/* Finds the sections by name or, in files without section headers, by their segment. */
void elfcfi_find(const struct elf *elf, struct cfi_input *ret);

#endif
