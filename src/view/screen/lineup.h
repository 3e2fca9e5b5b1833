/*
 * lineup.h - a table and the trees below its rows as lines: which of them are open, found and in which order.
 *
 * In       a table of cells; how the trees below its rows are drawn as text, so that both leave out the same branches
 * Out      lines, from the top to the bottom
 * Owns     the trees that were opened, and what is searched for
 */
#ifndef PACE_VIEW_LINEUP_H
#define PACE_VIEW_LINEUP_H

#include "base/str.h"
#include "view/forms/drawing.h"
#include "view/screen/namesearch.h"

struct lineup_line {
	u32 row;
	u32 node; /* of the tree below the row; 0: the row itself */
	u32 head; /* the first node of the run without branches that the node is in */
	u16 depth;
	bool has_more; /* something is below it */
	bool is_open;
};

/* What is below a row. */
struct lineup_tree {
	struct rowset tree;
	bool *is_open; /* by node; NULL: the tree was not opened yet */
	u32 top;       /* the node whose children are shown first */
	bool is_shown, is_empty;
};

struct lineup {
	const struct rowset *rows;
	const struct drawing_options *drawing;
	const struct rowset_column *below;
	struct lineup_tree *trees; /* by row */
	bool *is_found;            /* by row */
	size_t n_found;
	VEC(u32) order; /* rows that are shown, as they are sorted */
	VEC(struct lineup_line) lines;
	struct namesearch search;
	bool filters; /* only rows that are found have lines */
	struct str room, names[NAMESEARCH_FIELDS];
	/* The names of all rows, one after the other, from the first search on; and where those of a row are. */
	struct str row_names;
	size_t *name_at;     /* NAMESEARCH_FIELDS for each row */
	size_t n_named;      /* so many rows of `order`, as it was at first, are named */
	u32 *to_name;        /* that order */
	struct str searched; /* what is_found is about */
	bool has_searched;
};

void lineup_init(struct lineup *l, const struct rowset *rows,
	const struct drawing_options *drawing);
void lineup_fini(struct lineup *l);

/* Opens or closes what is below a line; nothing happens if there is nothing. */
void lineup_toggle(struct lineup *l, size_t line);
/* Opens or closes everything below a line's row, or below all rows. */
void lineup_set_row(struct lineup *l, u32 row, bool is_open);
void lineup_set_all(struct lineup *l, bool is_open);
/* Opens the most expensive path below a row, and returns the line where it ends. */
size_t lineup_open_hottest(struct lineup *l, u32 row);

/*
 * For callers that know what was open before: what is below a row, shown, with all of its nodes closed; NULL: nothing is
 * below. They set is_open of nodes, and call lineup_update() at the end.
 */
struct lineup_tree *lineup_show(struct lineup *l, u32 row);
void lineup_update(struct lineup *l);

/*
 * Sorts by a column that people see, by its cells of one part: numbers from the largest, texts by the alphabet. Equal ones
 * stay as the table has them. n_shown: the table's own order.
 */
void lineup_sort(struct lineup *l, size_t column, u32 part);

/* Makes what searching needs of up to n more rows, while there is nothing else to do. False: all are made. */
bool lineup_prepare(struct lineup *l, size_t n);
/* "": nothing is searched for, and all rows have lines. */
void lineup_search(struct lineup *l, const char *text, bool filters);
/* Whether a line, of a row or a node, is found. */
bool lineup_is_found(struct lineup *l, const struct lineup_line *line);

/* The line of a row or node; the line of the row if the node has none; 0 if the row has none. */
size_t lineup_find(const struct lineup *l, u32 row, u32 node);
/* What people see of a node: its name, and what is known about its branches. */
void lineup_add_name(struct lineup *l, const struct lineup_line *line, struct str *text);

#endif
