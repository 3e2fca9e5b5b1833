/*
 * elfcfi.h - where an ELF file has its call frame information.
 *
 * Life     what is found lies in the file; it is valid until that is closed
 * Source   LSB 5.0, 10.6; elf(5)
 */
#ifndef PACE_SYMBOL_ELFCFI_H
#define PACE_SYMBOL_ELFCFI_H

#include "symbol/elf/elf.h"
#include "unwind/cfi.h"

/* The contents of a section, their offset being the address it is loaded to; empty: there is none. */
struct bytes elfcfi_section(const struct elf *elf, const char *name);

/* What lies at an address, up to the end of its segment; *ret_before: how much lies before it. */
struct bytes elfcfi_loaded_at(const struct elf *elf, u64 va, u64 *ret_before);

/* The sections, found by their names, or in files without a table of sections by their segment. */
void elfcfi_find(const struct elf *elf, struct cfi_input *ret);

#endif
