/*
 * rowset.h - a table of cells, which commands make and forms (view/forms/forms.h) show.
 *
 * Forms ask for cells one by one, in any order, from any thread, and each cell is made when it is asked for. So
 * a form may read a column as an array, and a terminal only the rows that it shows.
 * In       a command's results
 * Out      typed columns, cells, and a head that says what the table is of
 * Owns     nothing: the command that makes the table keeps its data
 */
#ifndef PACE_PROFILE_ROWSET_H
#define PACE_PROFILE_ROWSET_H

#include "profile/gather/timeline.h"
#include "profile/rows/cell.h"

enum rowset_group {       /* what a column is about: each form orders these groups in its own way */
	ROWSET_PART,      /* names the part, like the event's name */
	ROWSET_KEY,       /* identifies rows */
	ROWSET_SUM,       /* figures that were asked for */
	ROWSET_VALUE,     /* figures that all rows have */
	ROWSET_CERTAINTY, /* how certain these are */
	ROWSET_FACT,      /* anything else */
	ROWSET_BELOW,     /* a table or tree shown below its row, like calls */
};

struct rowset_column {
	const char *name;  /* for programs */
	const char *title; /* for people */
	u8 group;          /* enum rowset_group */
	u8 kind;           /* enum cell_kind of its cells that have a value */
	bool is_of_part;   /* there is a cell for each of the table's parts */
	bool has_name;     /* its numbers have names: programs get a column NAME_name */
	u16 width;         /* for people; 0: as wide as it needs */
	u16 id;            /* for the maker of the table */
	const struct key *key;
	/* What this column and its neighbours of the same band are parts of, for people; NULL: it stands alone. */
	const char *band;
};

/* A row of a tree: its place there, what was counted in it (own), and in it and below it (total). */
struct rowset_node {
	u32 symbol; /* rows with the same symbol have the same name */
	u32 parent;
	u32 first_child, next_sibling; /* 0: none */
	u32 n_children;                /* includes empty ones, which are not in the list */
	u64 own, total;                /* periods */
	u64 own_samples, total_samples;
};

/* One of a row that says itself what it has. */
struct rowset_cell {
	const char *name; /* for programs */
	u32 part;
	struct cell cell;
};

/* Where the code of a tree's node is. Texts are safe for terminals, and the same pointer where they are equal. */
struct rowset_place {
	const char *name;
	const char *dso, *build; /* path of the file; with an address, its build-id; or NULL */
	const char *dso_name;    /* the file as tables show it; NULL: not known */
	u64 address;             /* in that file, or absolute; 0: the place is a function */
	/* Path of the source file; of a place that is a function, the file that it is written in. NULL: not known, or not asked for. */
	const char *source;
	u32 line;        /* likewise; 0: not known */
	u32 function;    /* places with the same number have the same name and dso */
	char kind;       /* enum codekind */
	bool is_thread;  /* the name is a thread's: not code */
	bool is_inlined; /* part of the code of the node's parent */
};

/* Where a sample of the timeline is in a tree of stacks. */
struct rowset_spot {
	u32 node; /* a row of the tree; 0: it is not there */
	u32 part;
};

/* The samples of a tree of stacks in the order of time. */
struct rowset_times {
	const struct timeline *timeline;
	const struct rowset_spot *spots; /* by timeline_sample.row */
};

struct rowset_part {
	const char *name; /* an event's, safe for terminals */
	bool is_time;     /* its periods are ns */
};

struct rowset {
	const struct rowset_column *columns; /* for programs */
	const struct rowset_column *shown;   /* for people, in their order */
	size_t n_columns, n_shown;
	size_t n;
	u32 n_parts; /* events or recordings: a column of parts has so many cells in each row */
	const char *parts_name;    /* name of the list of parts, for programs */
	const char *name;          /* name of the list of rows, for programs; NULL: "rows" */
	const char *title;         /* of a cut tree, for people */
	const char *notes;         /* lines above the table, for people; NULL: none */
	const struct rowset *head; /* one row: what the table is of; NULL: none */
	bool is_of_samples;        /* people see the head above the table: of, samples, period */
	bool is_outline; /* rows are lines of a cut tree: the last column is indented by depth */
	bool is_object;  /* programs get the only row, not an array */
	bool is_serial;  /* only one thread may ask for its cells, row by row */
	bool is_spread;  /* programs get each row on a line of its own */
	bool is_list;    /* programs get the cells of the only column, not rows */
	/* Rows are nodes of a tree, by row; the first is the root, which is not shown. NULL: no tree. */
	const struct rowset_node *nodes;
	/* Of a tree of FORM_WANTS_FUNCTIONS or FORM_WANTS_ADDRESSES, by rowset_node.symbol; and its parts. NULL: it has names only. */
	const struct rowset_place *places;
	size_t n_places;
	u32 n_functions;
	const struct rowset_part *parts;
	const struct rowset_times *times; /* of FORM_WANTS_TIMES; NULL: not known */
	bool has_foreign_names; /* nodes have names from another program's folded stacks */
	u64 part, whole;        /* of a tree: the value of the row above it; the value of 100 % */
	const void *of;         /* for the maker of the table */
	size_t below_row;       /* of a table in a cell: for the maker, too */
	void (*cell)(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
		struct str *room, struct cell *ret);
	bool (*shows)(const struct rowset *r, size_t row); /* NULL: all */
	/* All cells of a row, in its order, valid until another row is asked for; NULL: ask by column. */
	const struct rowset_cell *(*cells)(const struct rowset *r, size_t row, size_t *ret_n);
	/* The table in a cell of kind CELL_ROWS, until rowset_close(). */
	void (*below)(const struct rowset *r, const struct cell *cell, size_t row,
		struct rowset *ret);
	/* Tables below rows of the same group are made faster in sequence; NULL: no difference. */
	u32 (*group)(const struct rowset *r, size_t row);
	void (*close)(struct rowset *r); /* NULL: it owns nothing */
};

/* Fills in a cell. The caller owns the room: it is cleared, and the cell's text may be in it. */
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

/* Whether a shown column is a part of the same whole as the one before it. */
static inline bool rowset_continues_band(const struct rowset *r, size_t column)
{
	return column && r->shown[column].band &&
		r->shown[column].band == r->shown[column - 1].band;
}

/* The column of the tables below rows; NULL: there is none. */
static inline const struct rowset_column *rowset_below(const struct rowset *r)
{
	for (size_t i = 0; i < r->n_columns; i++)
		if (r->columns[i].group == ROWSET_BELOW)
			return &r->columns[i];
	return NULL;
}

#endif
