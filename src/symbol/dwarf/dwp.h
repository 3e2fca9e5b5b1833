/*
 * dwp.h - a package of split units: all .dwo files of a program in one file.
 *
 * In       its path, or that of the program or debug file beside it
 * Out      the contributions of a unit to each section, by the unit's id
 * Owns     the opened file
 * Life     views are valid until dwp_close()
 * Errors   ERR_NOENT: there is no package; ERR_FORMAT. A damaged unit counts as absent
 * Threads  any number may look for units
 * Source   DWARF 5, 7.3.5 (package files); the GNU extension that it came from (version 2)
 */
#ifndef PACE_SYMBOL_DWP_H
#define PACE_SYMBOL_DWP_H

#include "symbol/elf/elf.h"

enum dwp_section { DWP_INFO, DWP_ABBREV, DWP_LINE, DWP_STR_OFFSETS, DWP_RNGLISTS, DWP_SECTIONS };

struct dwp {
	struct elf elf;
	struct bytes sections[DWP_SECTIONS]; /* whole */
	struct bytes str;                    /* shared by all units */
	struct bytes signatures, rows;       /* the hash table's columns, by slot */
	struct bytes offsets, sizes;         /* by unit and column */
	u32 n_columns, n_units, n_slots;
	u32 columns[DWP_SECTIONS]; /* number + 1; 0: there is none */
};

struct dwp_unit {
	struct bytes parts[DWP_SECTIONS]; /* empty: none */
};

int dwp_open(struct dwp *d, const char *path, struct err *err);

/* Opens the package of the program or debug file at `path`. */
int dwp_open_beside(struct dwp *d, const char *path, struct err *err);
void dwp_close(struct dwp *d);

/* Finds the split unit with that id. Returns false if there is none. */
bool dwp_find(const struct dwp *d, u64 id, struct dwp_unit *ret_unit);

#endif
