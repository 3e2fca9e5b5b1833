/*
 * reloc.h - the debug information of a file that is yet to be linked (a kernel module), with the
 * addresses that its code will have.
 *
 * In       an ELF file whose sections have the addresses they are loaded to; nothing of it is packed
 * Out      the same bytes with the relocations of its debug sections applied
 * Errors   ERR_FORMAT: a relocation that leads nowhere; ERR_UNSUPPORTED: of a kind, or for a
 *          processor, that is not known here
 * Source   System V ABI, chapter 4 (Relocation), and its supplements for each processor
 */
#ifndef PACE_SYMBOL_RELOC_H
#define PACE_SYMBOL_RELOC_H

#include "base/err.h"
#include "symbol/elf/elf.h"

/* `bytes` are those that `elf` is a view of. */
int reloc_apply(const struct elf *elf, void *bytes, struct err *err);

#endif
