/*
 * dwarfscope.h - reads the functions of one unit, and the calls inlined into them, into a line index.
 *
 * In       an open unit; the line table with the files of its calls. The functions of a split unit are
 *          in its .dwo file, or else in the package (.dwp) beside the program
 * Out      scopes and their ranges in a struct lineindex_maker
 * Errors   `complaint` says what was left out, see dwarf.h
 * Threads  one at a time for each handle
 * Source   DWARF 5, 2.17 (ranges), 3.3.8 (inlined subroutines), 3.1.3 (split units)
 */
#ifndef PACE_SYMBOL_DWARFSCOPE_H
#define PACE_SYMBOL_DWARFSCOPE_H

#include "symbol/dwarf/dwarffile.h"
#include "symbol/dwarf/unithead.h"

/* files: the unit's line table; NULL: it has none. */
void dwarf_read_scopes(struct dwarf_handle *h, Dwarf_Die *unit, struct linetable *files,
	struct lineindex_maker *m, struct err *complaint);

/* The same for a unit whose head is sufficient: libdw is used for unusual entries only. */
void dwarf_read_plain_scopes(struct dwarf_handle *h, const struct unithead *unit,
	struct linetable *files, struct lineindex_maker *m, struct err *complaint);

#endif
