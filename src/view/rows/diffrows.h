/*
 * diffrows.h - a comparison as a table of cells.
 *
 * In       the rows of all recordings (profile/diff/delta), their significance, what to show
 * Out      struct rowset: a column for each recording, or for each side, for people; for programs the numbers
 *          of each recording in a row, and its significance
 * Owns     what diffrows_init() makes
 */
#ifndef PACE_VIEW_DIFFROWS_H
#define PACE_VIEW_DIFFROWS_H

#include "view/rows/deltatable.h"

struct diffrows {
	struct deltatable table;
	const struct delta *delta;
	const struct significance *significance;
	const struct diff_options *options;
	const char *event;
	bool is_data;
};

/* is_data: has all rows, whatever the options say about those for people. */
void diffrows_init(struct diffrows *r, const struct delta *d, const struct significance *j,
	const char *event, const struct diff_options *o, bool is_data);
void diffrows_fini(struct diffrows *r);

#endif
