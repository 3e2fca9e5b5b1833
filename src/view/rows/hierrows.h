/*
 * hierrows.h - entries of a histogram as rows below rows: a level for each key.
 *
 * In       the entries of an event, the columns that people want (struct histrows_options)
 * Out      struct rowset with nodes: what the rows of a level have in common is the row above them, with their
 *          sums; only the innermost rows have call graphs
 * Owns     its rows, until hierrows_fini(); the histogram must stay
 *
 * Columns that use arrays next to the entries (confidence, other events) have no sums: callers
 * refuse them. Rows of a level differ by their texts, the innermost ones by their entries.
 */
#ifndef PACE_VIEW_HIERROWS_H
#define PACE_VIEW_HIERROWS_H

#include "view/text/celltext.h"
#include "view/rows/histrows.h"

struct hierrows_row {
	struct hist_entry sum; /* of all entries below; an innermost row has its own entry */
	const char *name;
	u32 level; /* of the key, from 1 */
};

struct hierrows {
	struct rowset rows;
	struct histrows flat; /* the same entries, without levels */
	struct celltext layouts[HIST_KEYS_MAX];
	const struct rowset_column *keys[HIST_KEYS_MAX]; /* by level, of flat.shown */
	u32 n_keys;
	VEC(struct rowset_node) nodes;
	VEC(struct hierrows_row) sums; /* one for each node */
	struct table index;            /* contains all rows but the innermost */
	struct arena arena;
	struct intern names;
	struct str cell, room;
};

void hierrows_init(struct hierrows *y, const struct hist *h, const struct histrows_options *o);
void hierrows_fini(struct hierrows *y);

#endif
