/*
 * lineindex.h - the contents of one compilation unit in sorted arrays: its line table, its functions and the
 * calls inlined into them.
 *
 * In       rows, scopes and ranges, in a struct lineindex_maker; or a block of memory that was made from
 *          them earlier, from an untrusted file
 * Out      a block; answers about addresses
 * Owns     the maker its lists; a line index is a view of a block and its text
 * Life     answers are views into the text
 * Limits   code within 4 GiB of the unit's first; 65,535 files. What lies beyond is left out
 * Errors   none: every index in a block is checked where it is used
 * Threads  any number may look into a line index
 *
 * A block is a struct lineindex_head, then its arrays in the order of their counts there. Strings are offsets
 * into a text that is stored separately, so that line indexes of one file can share it.
 */
#ifndef PACE_SYMBOL_LINEINDEX_H
#define PACE_SYMBOL_LINEINDEX_H

#include "base/str.h"
#include "base/table.h"
#include "symbol/dwarf/line.h"
#include "symbol/dwarf/intervalmap.h"

enum lineindex_flag {
	LINEINDEX_HAS_SCOPES = 1 << 0, /* functions were read, not just lines */
};

struct lineindex_head {
	u64 base;     /* what addresses are relative to */
	u32 n_rows;   /* struct lineindex_row, ascending */
	u32 n_scopes; /* struct lineindex_scope */
	u32 n_pieces; /* struct lineindex_piece, ascending */
	u32 n_texts; /* u32, offsets: [0] the folder, then the files, then the names of functions */
	u32 flags;   /* enum lineindex_flag */
	u32 zero;
};

struct lineindex_row {
	u32 at;
	u32 line;
	u16 file; /* index in the texts; 0: the end of a sequence, with no line from here on */
	u16 column;
};

/* A function, or an inlined call of one. */
struct lineindex_scope {
	u32 name;   /* index in the texts; 0: unknown */
	u32 parent; /* index in the scopes, + 1; 0: not inlined */
	u32 call_line;
	u16 call_file; /* index in the texts; 0: unknown */
	u16 call_column;
};

/* From here on the code belongs to scope number `scope` - 1; 0: to none. */
struct lineindex_piece {
	u32 at;
	u32 scope;
};

struct lineindex {
	struct lineindex_head head;
	const struct lineindex_row *rows;
	const struct lineindex_scope *scopes;
	const struct lineindex_piece *pieces;
	const u32 *texts;
	const char *text; /* ends with NUL unless it is empty */
	u64 text_size;
};

/* Returns false if the block is smaller than it claims. */
bool lineindex_view(struct lineindex *s, const void *block, u64 size, const char *text,
	u64 text_size);

/* Finds the line of the code at an address. Returns false if there is none. */
bool lineindex_find(const struct lineindex *s, u64 address, struct line_frame *ret_frame);

/* Like line_chain(). */
size_t lineindex_chain(const struct lineindex *s, u64 address,
	struct line_frame ret_frames[LINE_DEPTH_MAX]);

/* ---- making one ---- */

/* Strings, each once; compared by address, which is sufficient for those in debug sections. */
struct lineindex_texts {
	VEC(const char *) at;
	struct table index;
};

/* A row with its whole address; file: index in `files`, + 1. */
struct lineindex_maker_row {
	u64 address;
	u32 line;
	u16 file, column;
};

typedef VEC(struct lineindex_maker_row) lineindex_maker_rows;

struct lineindex_maker {
	const char *dir; /* NULL: unknown */
	lineindex_maker_rows rows;
	VEC(struct lineindex_scope) scopes; /* their names are indexes in `names`, + 1 */
	range_list ranges;                  /* values: index of the scope, + 1 */
	struct lineindex_texts files, names;
	u32 flags;
	bool is_cut; /* something exceeded the limits */
};

/* Empties the maker for another unit; it keeps its memory. */
void lineindex_maker_clear(struct lineindex_maker *m);
void lineindex_maker_fini(struct lineindex_maker *m);

/* The index of a string, + 1; 0 for NULL. */
u32 lineindex_text(struct lineindex_texts *t, const char *text);
u16 lineindex_file(struct lineindex_maker *m, const char *file);

/* Appends a row. Of several at one address the last one counts; an end counts only if it is the only one. */
void lineindex_add_row(struct lineindex_maker *m, const struct lineindex_maker_row *row);

/* Makes the block, and the text that its offsets refer to. Sorts the maker's ranges. */
void lineindex_make(struct lineindex_maker *m, struct str *ret_block, struct str *ret_text);

#endif
