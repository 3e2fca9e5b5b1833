/*
 * stackpath.h - what forms over whole stacks ask a tree of places: what ended in a node, and where its code is.
 *
 * In       struct rowset with nodes and places (view/rows/stackrows.h)
 * Out      the samples and the period that ended in a node; a node's place
 * Owns     nothing
 */
#ifndef PACE_VIEW_STACKPATH_H
#define PACE_VIEW_STACKPATH_H

#include "profile/rows/rowset.h"

enum stackpath_value { STACKPATH_SAMPLES = 1, STACKPATH_PERIOD = 2 }; /* columns of the tree */

static inline const struct rowset_place *stackpath_place(const struct rowset *r, size_t node)
{
	return &r->places[r->nodes[node].symbol];
}

static inline u64 stackpath_value(const struct rowset *r, size_t row, u32 part,
	enum stackpath_value value)
{
	struct str room = {0};
	struct cell cell;

	rowset_cell(r, &r->columns[value], row, part, &room, &cell);
	return cell.n;
}

/* Whether samples of any part ended in the node. */
static inline bool stackpath_is_end(const struct rowset *r, size_t row)
{
	return r->nodes[row].own || r->nodes[row].own_samples;
}

#endif
