/*
 * rowmaker.h - builds a table row by row, cell by cell. Meant for small tables and those shown once.
 *
 *     rowmaker_row(&m);
 *     rowmaker_text(&m, "event", name);
 *     rowmaker_u64(&m, "samples", n);
 *     below = rowmaker_below(&m, "counts", ROWMAKER_ROWS);
 *
 * Columns are those that rows name, in that order; a row need not have them all. A column that a row does not
 * name has no cell there (programs get nothing). A value that is NULL or not finite makes a cell without a
 * value (programs get null or an empty field).
 * In       values; names and texts, which must stay valid or be copied (rowmaker_copy())
 * Out      struct rowset
 * Owns     everything, until rowmaker_fini()
 */
#ifndef PACE_PROFILE_ROWMAKER_H
#define PACE_PROFILE_ROWMAKER_H

#include <math.h>

#include "profile/rows/rowset.h"

enum rowmaker_shape {
	ROWMAKER_ROWS,
	ROWMAKER_OBJECT, /* one row: an object for programs, not an array */
	ROWMAKER_LIST,   /* rows of one cell: an array of values */
};

struct rowmaker {
	VEC(struct rowset_column) columns; /* of all rows */
	VEC(struct rowset_cell) cells;     /* of all rows, in order */
	VEC(size_t) rows;                  /* where each row begins in cells */
	VEC(struct rowmaker *) below; /* tables in cells; those from n_below on can be reused */
	size_t n_below;
	struct rowset *tree; /* another owner's table in place of rows; NULL: none */
	size_t next;         /* the column expected next, if rows are alike */
	size_t asked;        /* position in a row's cells after the last one that was asked for */
	u32 part;            /* of the cells added now; for a column without parts, its id */
	enum rowmaker_shape shape;
	bool is_spread; /* programs get each row on a line of its own */
	struct arena texts;
	/*
	 * For a table that is too large to keep: adds the cells of a row when one of them is asked for. Only
	 * this row exists then, and only its columns. NULL: rows are kept.
	 */
	void (*make)(struct rowmaker *m, const void *of, size_t row);
	const void *of;
	size_t n_made, made; /* the number of rows; the row that exists now, from 1 */
};

/* Adds columns that the table has even if no row names them. */
void rowmaker_columns(struct rowmaker *m, const char *const *names, size_t n);
void rowmaker_row(struct rowmaker *m);
/* Adds a cell to the last row, to be filled in by the functions of cell.h; valid until the next one is added. */
struct cell *rowmaker_add(struct rowmaker *m, const char *name);
/* Makes the table one of n rows that `make` builds one at a time; programs get each row on a line of its own. */
void rowmaker_lazy(struct rowmaker *m, void (*make)(struct rowmaker *m, const void *of, size_t row),
	const void *of, size_t n);
struct rowmaker *rowmaker_below(struct rowmaker *m, const char *name, enum rowmaker_shape shape);
/* Adds a cell with a table that the caller fills in; rowmaker_fini() closes it. */
struct rowset *rowmaker_tree(struct rowmaker *m, const char *name);
const char *rowmaker_copy(struct rowmaker *m, const char *text);

void rowmaker_text(struct rowmaker *m, const char *name, const char *text);
/* The same, but without a value if the text is NULL or empty. */
void rowmaker_note(struct rowmaker *m, const char *name, const char *text);
void rowmaker_u64(struct rowmaker *m, const char *name, u64 n);
void rowmaker_share(struct rowmaker *m, const char *name, u64 part, u64 whole);
void rowmaker_hex(struct rowmaker *m, const char *name, u64 address);
void rowmaker_bool(struct rowmaker *m, const char *name, bool is);
/* Without a value unless v is finite. fixed: `digits` after the point; double: `digits` in all (%g). */
void rowmaker_fixed(struct rowmaker *m, const char *name, double v, unsigned digits);
void rowmaker_double(struct rowmaker *m, const char *name, double v, unsigned digits);

static inline double rowmaker_known(bool is_known, double v)
{
	return is_known ? v : NAN;
}

/* The finished table; its columns must not change afterwards. */
struct rowset rowmaker_table(const struct rowmaker *m);
void rowmaker_fini(struct rowmaker *m);

#endif
