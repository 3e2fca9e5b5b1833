/*
 * dwarf.h - the DWARF of one ELF file, through libdw: which units there are, and one unit at a time
 * as a line index.
 *
 * In       the ELF file that has a DSO's DWARF (its image or its separate debug file): versions 2 to
 *          5, split into .dwo files, shared in a .gnu_debugaltlink; by gcc, clang and others
 * Out      the units with their ranges; what a struct lineindex_maker takes
 * Owns     the open file, and for each worker a libdw handle
 * Life     texts in a maker are valid until dwarf_close()
 * Errors   dwarf_open(): ERR_NOENT if the file has no DWARF; ERR_LIMIT, ERR_FORMAT, ERR_SYS. What is
 *          wrong behind that is left out, and said: ERR_FORMAT if it is damaged, ERR_LIMIT if it is
 *          larger than anything real, ERR_NOENT if it is in another file that is not here
 * Threads  each handle one at a time: libdw's are not shared. What is shared is read only
 * Source   DWARF 5, 2.17 (ranges), 3.3.8 (inlined subroutines), 6.2 (line table)
 */
#ifndef PACE_SYMBOL_DWARF_H
#define PACE_SYMBOL_DWARF_H

#include "base/err.h"
#include "symbol/elf/elf.h"
#include "symbol/dwarf/intervalmap.h"
#include "symbol/dwarf/lineindex.h"

struct dwarf_unit {
	u64 entry; /* offset of the unit's own entry in .debug_info */
	u64 bytes; /* how much there is to read, about */
};

typedef VEC(struct dwarf_unit) dwarf_units;

struct dwarf_file;
struct dwarf_handle;

/* Whether the file has DWARF at all. */
bool dwarf_is_in(const struct elf *elf);

/* What its packed sections say that they hold; 0 if none is packed. */
u64 dwarf_packed_bytes(const struct elf *elf);

int dwarf_open(struct dwarf_file **ret_file, const struct elf *elf, struct err *err);

/* With where variables are, which is large, and what lines and functions do not need. */
int dwarf_open_whole(struct dwarf_file **ret_file, const struct elf *elf, struct err *err);

void dwarf_close(struct dwarf_file *f); /* NULL-safe; the handles too */

/* A handle of its own for a thread; NULL and err if there is none to be had. */
struct dwarf_handle *dwarf_handle_new(struct dwarf_file *f, struct err *err);

/*
 * All units that have code, and where it is: values of `ranges` are numbers of `units`, + 1.
 * complaint: what was left out, code 0 if nothing was.
 */
void dwarf_list(struct dwarf_handle *h, dwarf_units *units, range_list *ranges,
	struct err *complaint);

/* Reads a unit: its lines, and its functions too if wanted. */
void dwarf_read(struct dwarf_handle *h, u64 entry, bool with_scopes, struct lineindex_maker *m,
	struct err *complaint);

#endif
