/*
 * graphrows.h - the call graph below a row of a report as a tree of cells.
 *
 * In       a view of the call tree (hist_view), the row, the order; the period that is 100 %
 * Out      struct rowset with nodes: for people the name, and what is known about its branches
 * Owns     the graph, until rowset_close()
 */
#ifndef PACE_VIEW_GRAPHROWS_H
#define PACE_VIEW_GRAPHROWS_H

#include "profile/rows/graph.h"

void graphrows_open(struct rowset *r, struct hist_view *view, const struct hist_entry *e,
	enum graph_order order, u64 whole);

#endif
