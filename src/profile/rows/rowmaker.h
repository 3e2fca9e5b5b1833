/*
 * rowmaker.h - a table of cells that is written row by row, cell by cell: for what is small, or shown once.
 *
 *     rowmaker_row(&m);
 *     rowmaker_text(&m, "event", name);
 *     rowmaker_u64(&m, "samples", n);
 *     below = rowmaker_below(&m, "counts", ROWMAKER_ROWS);
 *
 * Columns are those that rows name, in the order in which these do it; a row need not have all. What is not
 * there has no cell (nothing for programs), what has no value is NULL, or not finite (null, or an empty one).
 * In       values; names and texts that stay, or copies (rowmaker_copy())
 * Out      struct rowset
 * Owns     all of it, until rowmaker_fini()
 */
#ifndef PACE_PROFILE_ROWMAKER_H
#define PACE_PROFILE_ROWMAKER_H

#include <math.h>

#include "profile/rows/rowset.h"

enum rowmaker_shape {
	ROWMAKER_ROWS,
	ROWMAKER_OBJECT, /* one row: an object for programs, and no array */
	ROWMAKER_LIST,   /* rows of one cell: an array of values */
};

struct rowmaker {
	VEC(struct rowset_column) columns; /* of all rows */
	VEC(struct rowset_cell) cells;     /* row behind row */
	VEC(size_t) rows;                  /* where each begins in cells */
	VEC(struct rowmaker *) below; /* tables in cells; those from n_below on are used again */
	size_t n_below;
	struct rowset *tree; /* somebody else's in place of rows; NULL: none */
	size_t next;         /* column, if rows are alike */
	size_t asked;        /* of a row's cells, behind the last one that was asked for */
	u32 part;            /* that cells are added of; or, of a column that is of none, its id */
	enum rowmaker_shape shape;
	bool is_spread; /* programs get each row on a line of its own */
	struct arena texts;
	/*
	 * Of a table that is too large to be kept: adds the cells of a row, when somebody asks for one of
	 * them. Only this row is there then, and only its columns. NULL: rows stay.
	 */
	void (*make)(struct rowmaker *m, const void *of, size_t row);
	const void *of;
	size_t n_made, made; /* how many rows there are; the one that is there, from 1 */
};

/* Columns that are there whatever rows have. */
void rowmaker_columns(struct rowmaker *m, const char *const *names, size_t n);
void rowmaker_row(struct rowmaker *m);
/* A cell of the last row, for the functions of cell.h, until the next one is added. */
struct cell *rowmaker_add(struct rowmaker *m, const char *name);
/* Rows are made one at a time by `make`, n of them, each on a line of its own for programs. */
void rowmaker_spread(struct rowmaker *m,
	void (*make)(struct rowmaker *m, const void *of, size_t row), const void *of, size_t n);
struct rowmaker *rowmaker_below(struct rowmaker *m, const char *name, enum rowmaker_shape shape);
/* A table of somebody else's, to be filled in: it is closed with the others. */
struct rowset *rowmaker_tree(struct rowmaker *m, const char *name);
const char *rowmaker_copy(struct rowmaker *m, const char *text);

void rowmaker_text(struct rowmaker *m, const char *name, const char *text);
/* The same, but no cell if there is no text, or an empty one. */
void rowmaker_note(struct rowmaker *m, const char *name, const char *text);
void rowmaker_u64(struct rowmaker *m, const char *name, u64 n);
void rowmaker_share(struct rowmaker *m, const char *name, u64 part, u64 whole);
void rowmaker_hex(struct rowmaker *m, const char *name, u64 address);
void rowmaker_bool(struct rowmaker *m, const char *name, bool is);
/* Without a value unless it is finite. With so many digits behind the point; with so many in all (%g). */
void rowmaker_fixed(struct rowmaker *m, const char *name, double v, unsigned digits);
void rowmaker_double(struct rowmaker *m, const char *name, double v, unsigned digits);

static inline double rowmaker_known(bool is_known, double v)
{
	return is_known ? v : NAN;
}

/* Its columns must not change afterwards. */
struct rowset rowmaker_table(const struct rowmaker *m);
void rowmaker_fini(struct rowmaker *m);

#endif
