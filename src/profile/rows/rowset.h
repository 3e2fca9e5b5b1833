/*
 * rowset.h - a table of cells: what commands yield and forms (view/forms/forms.h) show, of whatever is compared,
 * counted or grouped.
 *
 * Cells are asked for one by one, in any order, by any thread: nothing is made before somebody looks at it.
 * So a form may take a column as an array, a terminal only the rows that it shows.
 * In       a command's findings
 * Out      typed columns, cells, what the table as a whole is of
 * Owns     nothing: whoever yields the table keeps what it is made of
 */
#ifndef PACE_PROFILE_ROWSET_H
#define PACE_PROFILE_ROWSET_H

#include "profile/rows/cell.h"

enum rowset_group {       /* what a column is about: forms have an order of their own for these */
	ROWSET_PART,      /* what the part is, like the event's name */
	ROWSET_KEY,       /* what tells rows apart */
	ROWSET_SUM,       /* figures that were asked for */
	ROWSET_VALUE,     /* figures that all rows have */
	ROWSET_CERTAINTY, /* how sure these are */
	ROWSET_FACT,      /* anything else */
	ROWSET_BELOW,     /* a table or tree that stands below its row, like calls */
};

struct rowset_column {
	const char *name;  /* for programs */
	const char *title; /* for people */
	u8 group;          /* enum rowset_group */
	u8 kind;           /* enum cell_kind of its cells, where these are known */
	bool is_of_part;   /* there is a cell for each of the table's parts */
	bool has_name;     /* its numbers have names: programs get a column NAME_name */
	u16 width;         /* for people; 0: as wide as it needs */
	u16 id;            /* for whoever yields the table */
	const struct key *key;
};

/* A row of a tree: where it hangs, what was counted in it (own), and in it and below it (total). */
struct rowset_node {
	u32 symbol; /* rows of the same one are called the same */
	u32 parent;
	u32 first_child, next_sibling; /* 0: none */
	u32 n_children;                /* also those that hold nothing, which are not in the list */
	u64 own, total;                /* periods */
	u64 own_samples, total_samples;
};

/* One of a row that says itself what it has. */
struct rowset_cell {
	const char *name; /* for programs */
	u32 part;
	struct cell cell;
};

struct rowset {
	const struct rowset_column *columns; /* for programs */
	const struct rowset_column *shown;   /* for people, in their order */
	size_t n_columns, n_shown;
	size_t n;
	u32 n_parts; /* events, recordings: columns of parts have so many cells in each row */
	const char *parts_name;    /* their list, for programs */
	const char *name;          /* the list of rows, for programs; NULL: "rows" */
	const char *title;         /* of a cut tree, for people */
	const char *notes;         /* lines above it, for people; NULL: none */
	const struct rowset *head; /* one row: what the table is of; NULL: nothing is said */
	bool is_of_samples; /* people read above it what the head says: of, samples, period */
	bool is_outline; /* rows are lines of a cut tree: the last column shows what is below what */
	bool is_object;  /* programs get its only row, and no array */
	bool is_serial;  /* its cells are asked for by one thread, row by row */
	bool is_spread;  /* programs get each row on a line of its own */
	bool is_list;    /* programs get the cells of the only column, and no rows */
	/* Rows are nodes of a tree, by row; the first is its root, which nobody shows. NULL: they are not. */
	const struct rowset_node *nodes;
	bool has_foreign_names; /* of nodes: as other programs' folded stacks have them */
	u64 part, whole;  /* of a tree: what the row that it stands below has; what 100 % are */
	const void *of;   /* for whoever yields the table */
	size_t below_row; /* of a table in a cell: for them, too */
	void (*cell)(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
		struct str *room, struct cell *ret);
	bool (*shows)(const struct rowset *r, size_t row); /* NULL: all */
	/* All of a row, in its order, until another row is asked for; NULL: rows are alike. */
	const struct rowset_cell *(*cells)(const struct rowset *r, size_t row, size_t *ret_n);
	/* The table in a cell of kind CELL_ROWS, until rowset_close(). */
	void (*below)(const struct rowset *r, const struct cell *cell, size_t row,
		struct rowset *ret);
	/* Tables below rows of one group are made sooner one after the other; NULL: no matter. */
	u32 (*group)(const struct rowset *r, size_t row);
	void (*close)(struct rowset *r); /* NULL: it owns nothing */
};

/* The room is the caller's: it is cleared, and the cell's text may lie in it. */
static inline void rowset_cell(const struct rowset *r, const struct rowset_column *c, size_t row,
	u32 part, struct str *room, struct cell *ret)
{
	*ret = (struct cell){0};
	str_cut(room, 0);
	r->cell(r, c, row, part, room, ret);
}

static inline bool rowset_shows(const struct rowset *r, size_t row)
{
	return !r->shows || r->shows(r, row);
}

static inline u32 rowset_n_cells(const struct rowset *r, const struct rowset_column *c)
{
	return c->is_of_part ? r->n_parts : 1;
}

static inline void rowset_close(struct rowset *r)
{
	if (r->close)
		r->close(r);
}

/* The column of what stands below rows; NULL: nothing does. */
static inline const struct rowset_column *rowset_below(const struct rowset *r)
{
	for (size_t i = 0; i < r->n_columns; i++)
		if (r->columns[i].group == ROWSET_BELOW)
			return &r->columns[i];
	return NULL;
}

#endif
