/*
 * elfstub.h - writes an ELF file with the symbols and the code that a recording contains of a DSO.
 *
 * In       an entry of the section; how much may be written
 * Out      a 64-bit ELF file with holes: segments where they were, code at its offsets, .symtab,
 *          .note.gnu.build-id. perf, gdb and objdump accept it in place of the file
 * Errors   ERR_LIMIT for addresses that no file has, and for more than may be written; ERR_SYS
 */
#ifndef PACE_SYMBOL_ELFSTUB_H
#define PACE_SYMBOL_ELFSTUB_H

#include "symbol/embed/embedded.h"

/* `fd` must be an empty file. */
int elfstub_write(const struct embedded *e, const struct embedded_dso *d,
	struct allowance_rest *rest, int fd, struct err *err);

#endif
