/*
 * dwarf.h - reads the DWARF of one ELF file, with libdw: the list of its units, and one unit at a time
 * as a line index.
 *
 * In       the ELF file that has a DSO's DWARF (its image or its separate debug file): versions 2 to
 *          5, split into .dwo files, shared in a .gnu_debugaltlink; by gcc, clang and others
 * Out      the units with their ranges; input for a struct lineindex_maker
 * Owns     the open file, and one libdw handle per worker
 * Life     texts in a maker are valid until dwarf_close()
 * Errors   dwarf_open(): ERR_NOENT if the file has no DWARF; ERR_LIMIT, ERR_FORMAT, ERR_SYS. Later errors
 *          leave something out, with a complaint: ERR_FORMAT: it is damaged; ERR_LIMIT: it is
 *          larger than any real one; ERR_NOENT: it is in another file, which is missing here
 * Threads  each handle one at a time, as libdw's cannot be shared. Shared data is read-only
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
	u64 bytes; /* approximate number of bytes to read */
};

typedef VEC(struct dwarf_unit) dwarf_units;

struct dwarf_file;
struct dwarf_handle;

/* Whether the file has any DWARF. */
bool dwarf_is_in(const struct elf *elf);

/* The unpacked size of its packed sections, according to their headers; 0 if none is packed. */
u64 dwarf_packed_bytes(const struct elf *elf);

int dwarf_open(struct dwarf_file **ret_file, const struct elf *elf, struct err *err);

/* Includes the locations of variables, which are large and not needed for lines and functions. */
int dwarf_open_whole(struct dwarf_file **ret_file, const struct elf *elf, struct err *err);

void dwarf_close(struct dwarf_file *f); /* NULL-safe; also frees the handles */

/* A handle for one thread; NULL and err if none can be opened. */
struct dwarf_handle *dwarf_handle_new(struct dwarf_file *f, struct err *err);

/*
 * Lists all units that have code, and its addresses: values in `ranges` are indexes in `units`, + 1.
 * complaint: what was left out; code 0 if nothing was.
 */
void dwarf_list(struct dwarf_handle *h, dwarf_units *units, range_list *ranges,
	struct err *complaint);

/* Reads a unit: its lines and, if wanted, its functions. */
void dwarf_read(struct dwarf_handle *h, u64 entry, bool with_scopes, struct lineindex_maker *m,
	struct err *complaint);

#endif
