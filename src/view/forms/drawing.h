/*
 * drawing.h - the call graph of one row of a report as text, in the layouts that perf's users know.
 *
 * In       the row's tree of cells, how it is drawn
 * Out      text: nothing if no branch is above the limit
 * Owns     nothing
 *
 * graph, fractal   a tree; shares of the whole, or of the branch above
 * flat, folded     each stack that samples ended in, most expensive first: a function a line, or
 *                  all in one line with semicolons between them
 */
#ifndef PACE_VIEW_DRAWING_H
#define PACE_VIEW_DRAWING_H

#include "base/str.h"
#include "profile/rows/rowset.h"

enum drawing_style { DRAWING_GRAPH, DRAWING_FRACTAL, DRAWING_FLAT, DRAWING_FOLDED };

/* The numbers at branches and stacks. */
enum drawing_value { DRAWING_PERCENT, DRAWING_PERIOD, DRAWING_COUNT };

struct drawing_options {
	enum drawing_style style;
	enum drawing_value value;
	double limit;          /* percent: smaller branches and stacks are not drawn */
	u64 entries;           /* branches of one level, or stacks, at most; 0: no limit */
	bool skips_first_node; /* rows are symbols: their tree need not repeat the name */
	bool has_colour;       /* percentages have colours */
};

void drawing_add(struct str *text, const struct rowset *tree, const struct drawing_options *o);

#endif
