/*
 * line.h - an address of a DSO: the line of source it was compiled from, and what was inlined
 * there.
 *
 * In       the ELF file that has the DSO's DWARF, as symbol/dwarf/dwarf reads it; or a Go program without, whose
 *          own table symbol/dwarf/golines reads
 * Out      a chain of struct line_frame
 * Owns     an open file and what was read of each unit; names are views into it
 * Life     names are valid until line_close(); what `elf` owns must stay as
 *          long, the struct itself may move
 * Units    addresses as in the file's symbol table (rva); ranges half-open
 * Errors   line_open(): ERR_NOENT if the file has no DWARF; ERR_FORMAT, ERR_SYS, ERR_LIMIT. What is
 *          damaged, too large or elsewhere behind that is left out: line_complaint() and line_gap()
 * Threads  one at a time for each index; but addresses whose units were fetched may be asked for by
 *          any number at once
 *
 * At the start only the ranges of the units are read. The first address in a unit reads its line
 * table, and its tree of functions if chains are asked for, each in one pass into sorted arrays (a
 * line index); the others cost two binary searches. What took a while is kept in the cache by the file's
 * build-id, units that nobody asked for yet are added when somebody does: line_close() writes.
 */
#ifndef PACE_SYMBOL_LINE_H
#define PACE_SYMBOL_LINE_H

#include "base/err.h"
#include "base/vec.h"
#include "symbol/elf/elf.h"

enum { LINE_DEPTH_MAX = 128 }; /* frames of one address; what goes deeper is cut at its callers */

struct line_frame {
	const char *function; /* as in the file: mangled; NULL: unknown */
	const char *file;     /* as the compiler was told; NULL: unknown */
	const char *dir;      /* where `file` counts from unless it is absolute; NULL: unknown */
	u32 line;             /* 0: of no line, the compiler made it */
	u32 column;           /* 0: unknown */
};

/* Why an address has no line. */
enum line_gap {
	LINE_GAP_NONE,        /* it has */
	LINE_GAP_FILE,        /* nothing is known of the whole file */
	LINE_GAP_UNDESCRIBED, /* no unit has it: that part of the file was compiled without -g */
	LINE_GAP_UNLINED,     /* its unit does, but no line: the compiler or linker made it */
	LINE_GAP_DAMAGED,
	LINE_GAP_TOO_LARGE,
	LINE_GAP_ELSEWHERE, /* in a file that is not here */
	LINE_GAPS
};

struct line_index;

int line_open(struct line_index **ret_index, const struct elf *elf, struct err *err);

/* The same unless more than so much would have to be unpacked first, of what is not in the cache: ERR_LIMIT. */
int line_open_within(struct line_index **ret_index, const struct elf *elf, u64 unpack_max,
	struct err *err);

/* Of a Go program, out of the table of its runtime: ERR_NOENT if it has none. */
int line_open_go(struct line_index **ret_index, const struct elf *elf, struct err *err);

void line_close(struct line_index *l); /* NULL-safe */

/* The line of the code at an address; false if there is none. */
bool line_find(struct line_index *l, u64 address, struct line_frame *ret_frame);

/*
 * The functions whose code is at an address, what was inlined innermost first, then what called it,
 * with the line in each. The last is the function that the ELF symbol means, or in files that
 * describe no functions, its line. How many there are: 0 if the file knows nothing of the address.
 */
size_t line_chain(struct line_index *l, u64 address, struct line_frame ret_frames[LINE_DEPTH_MAX]);

/* Why line_find() of an address says false, or why line_chain() may lack something. */
enum line_gap line_gap(const struct line_index *l, u64 address);

/* The first of that kind that was met so far: one sentence, or NULL. */
const char *line_gap_text(const struct line_index *l, enum line_gap gap);

/* Why parts of the file were left out so far: one sentence, or NULL. */
const char *line_complaint(const struct line_index *l);

/* ---- many addresses, on all cores ---- */

struct line_wish {
	struct line_index *index;
	u32 unit;
	u64 bytes; /* that are to be read */
	bool with_scopes;
};

typedef VEC(struct line_wish) line_wishes;

/* Adds the unit of an address, unless it is there or was added; all of an index one after another. */
void line_want(struct line_index *l, u64 address, bool with_scopes, line_wishes *wishes);

/* What has to be unpacked before the first of them is read, in bytes; 0: nothing, or it was done. */
u64 line_unpack_bytes(const struct line_index *l);

/* Whether it takes no time to ask for an address: its unit was read, or there is none. */
bool line_is_ready(const struct line_index *l, u64 address, bool with_scopes);

/* Reads them. */
void line_fetch(line_wishes *wishes, unsigned n_workers);

#endif
