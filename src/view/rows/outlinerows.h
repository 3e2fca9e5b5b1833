/*
 * outlinerows.h - a cut call tree as a table of cells.
 *
 * In       lines (profile/rows/outline), whose selves sum to the whole
 * Out      struct rowset: a row for each line, and facts about the tree
 * Owns     texts, until outlinerows_fini(); the outline must stay
 */
#ifndef PACE_VIEW_OUTLINEROWS_H
#define PACE_VIEW_OUTLINEROWS_H

#include "profile/rows/outline.h"
#include "profile/rows/rowmaker.h"

struct outlinerows {
	struct rowset rows, head;
	struct rowmaker lines, facts;
	struct str title, notes;
};

/*
 * node: also describes this node, its path and its function in all places; 0: describes none. has_others: the title
 * names the event.
 */
void outlinerows_init(struct outlinerows *r, const struct outline *o, u32 event, u32 node,
	bool has_others);
void outlinerows_fini(struct outlinerows *r);

#endif
