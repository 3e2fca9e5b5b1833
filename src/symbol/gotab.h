/*
 * gotab.h - the functions of a Go program, out of the table that its runtime needs: stripping leaves it.
 *
 * In       an ELF file with .gopclntab, of Go 1.2 or later
 * Out      symbols in a symtab; the names are views into the file
 * Owns     nothing
 * Errors   none: what makes no sense is left out; how many functions were added is returned
 * Source   Go: src/runtime/symtab.go (pcHeader, functab), src/debug/gosym/pclntab.go
 */
#ifndef PACE_SYMBOL_GOTAB_H
#define PACE_SYMBOL_GOTAB_H

#include "symbol/symtab.h"

/* Before symtab_finish(). */
size_t gotab_add(struct symtab *t, const struct elf *elf);

#endif
