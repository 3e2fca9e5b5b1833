/*
 * text.h - a report as plain text, in the layout that perf's users know.
 *
 * In       a table of cells, how the trees below its rows are drawn
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_TEXT_H
#define PACE_VIEW_TEXT_H

#include "base/out.h"
#include "view/forms/drawing.h"

struct text_options {
	struct drawing_options drawing;
	double row_limit; /* percent: printed where smaller rows are left out */
	unsigned n_workers;
	bool is_wall;    /* the wall-clock summary replaces the title */
	bool is_bare;    /* only rows */
	bool has_colour; /* shares of the time have colours */
};

/* The title and the table. */
void text_add_table(struct out *out, const struct rowset *r, const struct text_options *o);

#endif
