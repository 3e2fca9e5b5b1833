/*
 * probefile.h - the file that a probe is put into: its functions, its debug information, its code.
 *
 * In       the path of a program, a library, or a kernel's vmlinux
 * Out      functions by name; entries of debug information, through libdw
 * Owns     the open files
 * Units    addresses as in the file (rva)
 * Errors   ERR_NOENT, ERR_PERM, ERR_FORMAT: it cannot be opened. Without debug information it is open, and
 *          `debug_err` says why
 * Threads  one
 */
#ifndef PACE_SYMBOL_PROBEFILE_H
#define PACE_SYMBOL_PROBEFILE_H

#include "symbol/dwarf/dwarffile.h"
#include "symbol/elf/symtab.h"
#include "unwind/rows.h"

struct arch;

struct probe_file {
	char *path; /* absolute, without links */
	bool is_kernel;
	struct elf image, debug; /* debug: a separate file, data NULL: there is none */
	struct symtab symbols;
	symbol_list names; /* all that functions are called, several for one address among them */
	const struct arch *arch; /* NULL: unknown */
	struct dwarf_file *dwarf_file;
	Dwarf *dwarf; /* NULL: no debug information */
	struct err debug_err;
	struct cfi cfi;
	struct rows rows;
	VEC(Dwarf_Die) units;
};

/* root: prepended to the path when it is opened (another process's /proc/PID/root); NULL: none. */
int probefile_open(struct probe_file *f, const char *path, const char *root, bool is_kernel,
	struct err *err);
void probefile_close(struct probe_file *f);

/* Says that something needs debug information that the file lacks, and where it comes from. */
int probefile_needs_debug(const struct probe_file *f, const char *what, struct err *err);

/* The function's symbol by name, without a version; NULL: none. */
const struct symbol *probefile_symbol(const struct probe_file *f, const char *name);

/* The offset in the file of the code at an address. */
int probefile_offset(const struct probe_file *f, u64 address, u64 *ret_offset, struct err *err);

/*
 * Whether an instruction begins at the address, as decoded from the function's start. *ret_before: where the one around it
 * begins. True if the code cannot be decoded.
 */
bool probefile_is_instruction(const struct probe_file *f, u64 start, u64 address, u64 *ret_before);

#endif
