/*
 * line.h - an address of a DSO: the line of source it was compiled from, and what was inlined
 * there.
 *
 * In       the ELF file that has the DSO's DWARF (its image or its separate debug file): versions 2
 *          to 5, split into .dwo files, shared in a .gnu_debugaltlink; by gcc, clang and others
 * Out      a chain of struct line_frame
 * Owns     an open libdw handle and what was read of each unit; names are views into it
 * Life     names are valid until line_close(), which comes before the ELF file is closed
 * Units    addresses as in the file's symbol table (rva); ranges half-open
 * Errors   line_open(): ERR_NOENT if the file has no DWARF; ERR_FORMAT, ERR_SYS. What is damaged or
 *          too large behind that is left out, and line_complaint() says so
 * Threads  one at a time for each index: libdw handles are not shared
 * Source   DWARF 5, 2.17 (ranges), 3.3.8 (inlined subroutines), 6.2 (line table)
 *
 * At the start only the ranges of the units are read. The first address in a unit reads its line
 * table, and its tree of functions if chains are asked for, each in one pass into sorted arrays; the
 * others cost two binary searches.
 */
#ifndef PACE_SYMBOL_LINE_H
#define PACE_SYMBOL_LINE_H

#include "base/err.h"
#include "symbol/elf.h"

enum { LINE_DEPTH_MAX = 128 }; /* frames of one address; what goes deeper is cut at its callers */

struct line_frame {
	const char *function; /* as in the file: mangled; NULL: unknown */
	const char *file;     /* as the compiler was told; NULL: unknown */
	const char *dir;      /* where `file` counts from unless it is absolute; NULL: unknown */
	u32 line;             /* 0: of no line, the compiler made it */
	u32 column;           /* 0: unknown */
};

struct line_index;

int line_open(struct line_index **ret_index, const struct elf *elf, struct err *err);
void line_close(struct line_index *l); /* NULL-safe */

/* The line of the code at an address; false if there is none. */
bool line_find(struct line_index *l, u64 address, struct line_frame *ret_frame);

/*
 * The functions whose code is at an address, what was inlined innermost first, then what called it,
 * with the line in each. The last is the function that the ELF symbol means, or in files that
 * describe no functions, its line. How many there are: 0 if the file knows nothing of the address.
 */
size_t line_chain(struct line_index *l, u64 address, struct line_frame ret_frames[LINE_DEPTH_MAX]);

/* Why parts of the file were left out so far: one sentence, or NULL. */
const char *line_complaint(const struct line_index *l);

#endif
