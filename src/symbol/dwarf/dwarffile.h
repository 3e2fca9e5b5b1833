/*
 * dwarffile.h - an ELF file opened for its DWARF: one libdw handle per worker, and the sections that are read
 * without libdw; for symbol/dwarf/dwarf and symbol/dwarf/dwarfscope.
 *
 * In       the ELF file
 * Out      handles, sections as bytes
 * Owns     the open file, its handles, and paths that were composed for them
 * Errors   see dwarf.h
 * Threads  handles are opened one at a time, under a lock, because libelf's state is shared. After that each
 *          belongs to one thread
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
	struct plainelf image; /* of the file, if a section is packed or not linked */
	Elf *elf;
	bool swap, is_whole;
	u64 first_code;  /* the lowest address of code: linkers leave dropped functions at 0 or 1 */
	struct str path; /* of the file; empty: none */
	pthread_mutex_t lock;
	VEC(struct dwarf_handle *) handles;
	struct dwarf_handle *spare; /* open, but not in use yet */
	/* The package of split units, opened when a .dwo file is not at its recorded path. */
	struct dwp package;
	struct dwarfpack_sections package_sections;
	bool has_tried_package, has_package;
	struct err package_err; /* why there is no package */
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
	struct bytes ranges, rnglists;   /* of the file's own units */
	struct dietree tree;             /* of the file's own units */
	struct linetable table;          /* of the current unit */
	const Elf *split_elf;            /* the file of the current split unit */
	struct linetable_sections split_lines;
	struct dietree split_tree;
	struct linetable split_table;
	/*
	 * The limit of ranges per unit, and for the index of all units: the number of bytes in the sections. No
	 * real file has that many, as each range takes some bytes. Many entries may name one list, so a small
	 * file could claim any number.
	 */
	u64 ranges_max;
	struct arena texts; /* paths */
	/* Names of functions by the address of their entries, for the current unit. */
	VEC(struct dwarf_origin) origins;
	struct table origin_index;
};

/* Sets the complaint unless there is one: later errors mostly follow from the first. */
void dwarf_complain(struct err *complaint, const char *what);

/* A section of an open file, unpacked by libdw; empty if it does not exist. */
struct bytes dwarf_section(Elf *elf, bool swap, const char *name, const char *packed_name);

/* The range lists, by offset, for a unit whose lists are in this file. */
struct rangelist_source dwarf_ranges_of(const struct dwarf_handle *h, const struct unithead *unit);

/* Returns the package beside the file, or NULL and err. */
const struct dwp *dwarf_package(struct dwarf_file *f, struct err *err);

/* Reads a number from an entry's attributes. Returns false if there is none. */
bool dwarf_number(Dwarf_Die *die, unsigned name, Dwarf_Word *ret_number);

/* Raises the limit of ranges by the bytes of these sections, which are those of a split unit. */
void dwarf_allow_ranges(struct dwarf_handle *h, struct bytes info, struct bytes lists);

/* Complains that there are more ranges than the limit. */
void dwarf_complain_ranges(const struct dwarf_handle *h, struct err *complaint, const char *of);

/*
 * Adds the ranges of a function's or unit's code, with `value`. Returns false if they are more than any real
 * one has.
 */
bool dwarf_add_ranges(struct dwarf_handle *h, Dwarf_Die *die, u32 value, range_list *ranges,
	struct err *complaint);

#endif
