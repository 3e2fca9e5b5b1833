/*
 * sheet.h - what is known of one compilation unit, flat: its line table, its functions and what was
 * inlined into them, in sorted arrays.
 *
 * In       rows, scopes and ranges, in a struct sheet_maker; or a block of memory that was once made
 *          of them, from a file that nobody vouches for
 * Out      a block; answers about addresses
 * Owns     the maker its lists; a sheet is a view of a block and its text
 * Life     answers are views into the text
 * Limits   code within 4 GiB of the unit's first; 65,535 files. What lies beyond is left out
 * Errors   none: every index in a block is checked where it is used
 * Threads  any number may look into a sheet
 *
 * A block is a struct sheet_head, then its arrays in the order of the counts there. Texts are offsets
 * into a text beside it, so that sheets of one file can share one.
 */
#ifndef PACE_SYMBOL_SHEET_H
#define PACE_SYMBOL_SHEET_H

#include "base/str.h"
#include "base/table.h"
#include "symbol/dwarf/line.h"
#include "symbol/dwarf/pieces.h"

enum sheet_flag {
	SHEET_HAS_SCOPES = 1 << 0, /* functions were read, not only lines */
};

struct sheet_head {
	u64 base;     /* addresses count from here */
	u32 n_rows;   /* struct sheet_row, ascending */
	u32 n_scopes; /* struct sheet_scope */
	u32 n_pieces; /* struct sheet_piece, ascending */
	u32 n_texts;  /* u32, offsets: [0] the folder, then the files, then names of functions */
	u32 flags;    /* enum sheet_flag */
	u32 zero;
};

struct sheet_row {
	u32 at;
	u32 line;
	u16 file; /* in the texts; 0: the end of a sequence, what follows has no line */
	u16 column;
};

/* A function, or an inlined call of one. */
struct sheet_scope {
	u32 name;   /* in the texts; 0: unknown */
	u32 parent; /* in the scopes, + 1; 0: this is the function itself */
	u32 call_line;
	u16 call_file; /* in the texts; 0: unknown */
	u16 call_column;
};

/* From here on the code is of that scope, + 1; 0: of none. */
struct sheet_piece {
	u32 at;
	u32 scope;
};

struct sheet {
	struct sheet_head head;
	const struct sheet_row *rows;
	const struct sheet_scope *scopes;
	const struct sheet_piece *pieces;
	const u32 *texts;
	const char *text; /* ends with NUL unless it is empty */
	u64 text_size;
};

/* False if the block is not as large as it says. */
bool sheet_view(struct sheet *s, const void *block, u64 size, const char *text, u64 text_size);

/* The line of the code at an address; false if there is none. */
bool sheet_find(const struct sheet *s, u64 address, struct line_frame *ret_frame);

/* As line_chain(). */
size_t sheet_chain(const struct sheet *s, u64 address,
	struct line_frame ret_frames[LINE_DEPTH_MAX]);

/* ---- making one ---- */

/* Texts, each once; told apart by where they lie, which for those of debug sections is enough. */
struct sheet_texts {
	VEC(const char *) at;
	struct table index;
};

/* A row with its whole address; file: number of `files`, + 1. */
struct sheet_maker_row {
	u64 address;
	u32 line;
	u16 file, column;
};

typedef VEC(struct sheet_maker_row) sheet_maker_rows;

struct sheet_maker {
	const char *dir; /* NULL: unknown */
	sheet_maker_rows rows;
	VEC(struct sheet_scope) scopes; /* their names are numbers of `names`, + 1 */
	range_list ranges;              /* of the scopes, + 1 */
	struct sheet_texts files, names;
	u32 flags;
	bool is_cut; /* something went beyond the limits */
};

/* For another unit: nothing is in it any more, but it keeps its memory. */
void sheet_maker_clear(struct sheet_maker *m);
void sheet_maker_fini(struct sheet_maker *m);

/* The number of a text, + 1; 0 for NULL. */
u32 sheet_text(struct sheet_texts *t, const char *text);
u16 sheet_file(struct sheet_maker *m, const char *file);

/* Adds a row behind the others; of several at one address the last one holds, an end only alone. */
void sheet_add_row(struct sheet_maker *m, const struct sheet_maker_row *row);

/* Makes the block, and the text that its offsets count in. The maker's ranges are sorted. */
void sheet_make(struct sheet_maker *m, struct str *ret_block, struct str *ret_text);

#endif
