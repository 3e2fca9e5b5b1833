/*
 * stackpath.h - what forms over whole stacks ask a tree of places: what ended in a node, and where its code is.
 *
 * In       struct rowset with nodes and places (view/rows/stackrows.h)
 * Out      the samples and the period that ended in a node; a node's place; what a part's values are called
 * Owns     nothing
 */
#ifndef PACE_VIEW_STACKPATH_H
#define PACE_VIEW_STACKPATH_H

#include <string.h>

#include "base/str.h"
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

/* The node above the frame that a node is of: functions inlined there belong to the frame. */
static inline size_t stackpath_above_frame(const struct rowset *r, size_t node)
{
	while (stackpath_place(r, node)->is_inlined)
		node = r->nodes[node].parent;
	return r->nodes[node].parent;
}

/* Adds what the periods of a part are called, and returns their unit. Imported events have both: "space/bytes". */
static inline const char *stackpath_add_type(const struct rowset *r, u32 part, struct str *ret_type)
{
	const char *name = r->parts[part].name,
		   *slash = r->has_foreign_names ? strrchr(name, '/') : NULL;

	str_addn(ret_type, name, slash ? (size_t)(slash - name) : strlen(name));
	if (slash)
		return slash + 1;
	return r->parts[part].is_time ? "nanoseconds" : "count";
}

/* Adds what the numbers of samples of a part are called. */
static inline void stackpath_add_count_type(const struct rowset *r, u32 part, struct str *ret_type)
{
	if (r->n_parts > 1)
		str_addf(ret_type, "%s_", r->parts[part].name);
	str_add(ret_type, "samples");
}

#endif
