/*
 * reloc.h - applies relocations to the debug information of a file that is not linked yet (a kernel module), so
 * that it has the final addresses of the code.
 *
 * In       an ELF file whose sections have the addresses they are loaded at; none is packed
 * Out      the same bytes with the relocations of its debug sections applied
 * Errors   ERR_FORMAT: a relocation points outside; ERR_UNSUPPORTED: its type, or the processor, is
 *          unknown
 * Source   System V ABI, chapter 4 (Relocation), and its supplements for each processor
 */
#ifndef PACE_SYMBOL_RELOC_H
#define PACE_SYMBOL_RELOC_H

#include "base/err.h"
#include "symbol/elf/elf.h"

/* `bytes` are those that `elf` is a view of. */
int reloc_apply(const struct elf *elf, void *bytes, struct err *err);

#endif
