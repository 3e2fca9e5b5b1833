/*
 * outlinerows.h - a cut call tree as a table of cells.
 *
 * In       lines (profile/rows/outline), whose selves sum to the whole
 * Out      struct rowset: a row a line, what the tree is of
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
 * node: what is known of it besides what lies below it is said, its way, and its function everywhere; 0: of
 * none. has_others: the title says which event it is of.
 */
void outlinerows_init(struct outlinerows *r, const struct outline *o, u32 event, u32 node,
	bool has_others);
void outlinerows_fini(struct outlinerows *r);

#endif
