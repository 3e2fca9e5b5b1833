/*
 * dwarffile.h - the DWARF of an ELF file, opened: for each worker a libdw handle and what is read
 * beside libdw; for symbol/dwarf/dwarf and symbol/dwarf/dwarfscope.
 *
 * In       the ELF file
 * Out      handles, sections as bytes
 * Owns     the open file, its handles, and paths that were composed for them
 * Errors   as dwarf.h says
 * Threads  handles are opened one at a time, under a lock: libelf's state is shared. Each is then of
 *          one thread
 */
#ifndef PACE_SYMBOL_DWARFFILE_H
#define PACE_SYMBOL_DWARFFILE_H

#include <elfutils/libdw.h>
#include <pthread.h>

#include "symbol/dwarf/dietree.h"
#include "symbol/dwarf/dwarfpack.h"
#include "symbol/dwarf/dwarf.h"
#include "symbol/dwarf/linetable.h"
#include "symbol/elf/plainelf.h"
#include "symbol/dwarf/rangelist.h"
#include "symbol/dwarf/unithead.h"

struct dwarf_file {
	int fd;
	struct plainelf image; /* of the file, if something of it is packed or not linked */
	Elf *elf;
	bool swap, is_whole;
	u64 first_code;  /* the lowest address of code: what linkers drop is left at 0 or 1 */
	struct str path; /* of the file; empty: it has none */
	pthread_mutex_t lock;
	VEC(struct dwarf_handle *) handles;
	struct dwarf_handle *spare; /* opened, and not yet asked for */
	/* The package of split units, opened when one is not where it was written. */
	struct dwp package;
	struct dwarfpack_sections package_sections;
	bool has_tried_package, has_package;
	struct err package_err; /* why there is none */
};

/* The name of a function, found for one of its calls. */
struct dwarf_origin {
	const void *entry;
	const char *name;
};

struct dwarf_handle {
	struct dwarf_file *file;
	Dwarf *dwarf;
	struct linetable_sections lines; /* of the file's own units */
	struct bytes ranges, rnglists;   /* likewise */
	struct dietree tree;             /* likewise */
	struct linetable table;          /* of the unit that is read */
	const Elf *split_elf;            /* whose units these are of, the last one */
	struct linetable_sections split_lines;
	struct dietree split_tree;
	struct linetable split_table;
	/*
	 * Of a unit, and for the index of all units: as many as the sections have bytes, beyond any real file,
	 * in which each range has some of its own. Many entries may name one list, so a small file may
	 * claim anything.
	 */
	u64 ranges_max;
	struct arena texts; /* paths */
	/* Names of functions by where their entries are, for the unit that is read. */
	VEC(struct dwarf_origin) origins;
	struct table origin_index;
};

/* What is wrong with the file. The first complaint stays: the others mostly follow from it. */
void dwarf_complain(struct err *complaint, const char *what);

/* A section of an open file, unpacked by libdw; empty if there is none. */
struct bytes dwarf_section(Elf *elf, bool swap, const char *name, const char *packed_name);

/* The lists of ranges of a unit that has them in this file, by their offsets. */
struct rangelist_source dwarf_ranges_of(const struct dwarf_handle *h, const struct unithead *unit);

/* The package beside the file, or NULL and err. */
const struct dwp *dwarf_package(struct dwarf_file *f, struct err *err);

/* A number among an entry's attributes; false if there is none. */
bool dwarf_number(Dwarf_Die *die, unsigned name, Dwarf_Word *ret_number);

/* There may be as many ranges as these sections have bytes, too: of a unit that is split off. */
void dwarf_allow_ranges(struct dwarf_handle *h, struct bytes info, struct bytes lists);

/* There are more ranges than that. */
void dwarf_complain_ranges(const struct dwarf_handle *h, struct err *complaint, const char *of);

/*
 * Adds where a function or a unit has its code; false if it is more than anything real has. `value`
 * is that of the ranges.
 */
bool dwarf_add_ranges(struct dwarf_handle *h, Dwarf_Die *die, u32 value, range_list *ranges,
	struct err *complaint);

#endif
