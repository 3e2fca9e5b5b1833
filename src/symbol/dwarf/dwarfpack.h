/*
 * dwarfpack.h - presents one split unit of a package (.dwp) to libdw, which cannot read packages, as an ELF
 * file in memory that contains only this unit.
 *
 * In       the unit that refers to the split one (its skeleton); the contributions of the split one
 * Out      its first entry, in a libdw handle of its own; its sections as bytes
 * Owns     the handle; the bytes belong to the package and the program
 * Life     entries are valid until dwarfpack_close(), texts as long as the package
 * Errors   ERR_FORMAT
 * Threads  each one at a time
 */
#ifndef PACE_SYMBOL_DWARFPACK_H
#define PACE_SYMBOL_DWARFPACK_H

#include <elfutils/libdw.h>

#include "symbol/dwarf/dietree.h"
#include "symbol/dwarf/dwp.h"
#include "symbol/dwarf/linetable.h"
#include "symbol/dwarf/rangelist.h"

/* Sections of the program itself that split units refer to. */
struct dwarfpack_sections {
	struct bytes addresses, ranges;
	int nowhere; /* /dev/null: libelf needs a descriptor for a file in memory */
};

struct dwarfpack {
	Elf *elf;
	Dwarf *dwarf;
	struct dietree tree;
	struct linetable_sections lines;
	struct rangelist_source ranges;
};

int dwarfpack_open(struct dwarfpack *p, const struct dwp *package, const struct dwp_unit *unit,
	Dwarf_Die *skeleton, const struct dwarfpack_sections *sections, Dwarf_Die *ret_unit,
	struct err *err);
void dwarfpack_close(struct dwarfpack *p);

/* For dwarf_new_oom_handler(): by default libdw would print and exit. */
void dwarf_exhausted(void) __attribute__((noreturn));

#endif
