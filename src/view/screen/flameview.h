/*
 * flameview.h - a tree of calls as icicles on the terminal: each function as wide as its share, below what called it.
 *
 * In       a tree of cells with names (view/rows/stackrows.h), which must stay; keys and clicks
 * Out      a grid
 * Owns     which functions it shows, and how, until flameview_fini()
 * Errors   none
 */
#ifndef PACE_VIEW_FLAMEVIEW_H
#define PACE_VIEW_FLAMEVIEW_H

#include "base/vec.h"
#include "profile/rows/rowset.h"
#include "view/screen/namesearch.h"
#include "view/screen/screen.h"
#include "view/screen/textpage.h"

struct flameview {
	const struct rowset *tree;
	const char *title; /* of what */
	struct screen *screen;
	u32 *children; /* of all nodes, those of a node together, in the order in which they are drawn */
	u32 *first;     /* by node: where its children are; one more: where they end */
	u32 *depths;    /* by node */
	u32 root, at;   /* the node that has the whole width; the cursor */
	VEC(u32) zooms; /* the roots before */
	bool is_by_name, is_typing, is_over;
	struct namesearch search;
	bool *is_found; /* by node */
	u64 found;      /* periods: what goes through functions that are found */
	struct str typed, kept, message;
	struct textpage page;
	u32 top;   /* the depth, from the whole, of the first row */
	u32 *hits; /* by cell of the drawing: its node; 0: none */
	unsigned columns, rows;
};

extern const struct keytable flameview_keys;

void flameview_init(struct flameview *v, const struct rowset *tree, const char *title);
void flameview_fini(struct flameview *v);

void flameview_draw(struct flameview *v, struct grid *g);
void flameview_take(struct flameview *v, const struct screen_event *e);

/* Until a key ends it. */
void flameview_run(const struct rowset *tree, const char *title, struct screen *s);

#endif
