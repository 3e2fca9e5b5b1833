/*
 * columns.h - a tree of stacks as columns: its nodes in preorder, and the names that they share.
 *
 * A browser builds the tree from them in one pass: where a node's parent is follows from its level, where it is drawn from the sums of the
 * values before it.
 * In       rows with nodes and places, like those of view/rows/stackrows.h; they must stay
 * Out      columns; children are in the order of their names, names in the order of how many nodes have them
 * Owns     its arrays, not the texts, until columns_fini()
 */
#ifndef PACE_VIEW_COLUMNS_H
#define PACE_VIEW_COLUMNS_H

#include "base/table.h"
#include "profile/rows/rowset.h"

struct columns_name {
	const char *text, *dso;
	const char *source; /* NULL: not known */
	char kind;          /* enum codekind */
	u32 n_nodes;
};

struct columns {
	size_t n;       /* nodes, without the root */
	u32 *rows;      /* in preorder: the node's row */
	u32 *levels_up; /* from the node before it to the parent */
	u32 *name_of;   /* in preorder: position in names */
	u32 depth;      /* of the deepest node; a root's child has 1 */
	VEC(struct columns_name) names;
	struct table index; /* of names */
};

void columns_init(struct columns *c, const struct rowset *r);
void columns_fini(struct columns *c);

/* The column of this name, or NULL. */
const struct rowset_column *columns_find(const struct rowset *r, const char *name);

/*
 * The values of names: self is what ended there, total what was there or below, recursion counted once. `value` is a
 * column of r; both arrays have a number for each name.
 */
void columns_sum(const struct columns *c, const struct rowset *r, const struct rowset_column *value,
	u32 part, u64 *self, u64 *total);

#endif
