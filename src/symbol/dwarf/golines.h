/*
 * golines.h - lines and inlined functions of a Go program without DWARF, from the table by which its
 * runtime prints stacks.
 *
 * In       an ELF file with a table of Go 1.16 or later, as symbol/go/gotab reads it; inlined calls since 1.18
 * Out      units of some functions each, and one unit at a time as a line index
 * Owns     struct golines; texts in a maker are views into the file
 * Errors   none: malformed functions are left out, or end where their table becomes malformed
 * Threads  any number may read units
 * Source   Go: src/runtime/symtab.go (pcvalue, funcline1), symtabinl.go (inlinedCall), runtime2.go
 *          (_func), src/cmd/internal/objabi/funcdata.go
 */
#ifndef PACE_SYMBOL_GOLINES_H
#define PACE_SYMBOL_GOLINES_H

#include "symbol/dwarf/dwarf.h"

struct golines;

/* NULL: the file has no such table. */
struct golines *golines_open(const struct elf *elf);
void golines_close(struct golines *g); /* NULL-safe */

/* Like dwarf_list() and dwarf_read(). */
void golines_list(const struct golines *g, dwarf_units *units, range_list *ranges);
void golines_read(const struct golines *g, u64 entry, struct lineindex_maker *m);

#endif
