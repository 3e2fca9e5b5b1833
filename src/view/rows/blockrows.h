/*
 * blockrows.h - runs of code in several recordings as a table of cells: how many cycles more or less a run takes.
 *
 * In       rows of all recordings (profile/diff/delta) that are runs of code, paired; what to show
 * Out      struct rowset: for people a difference for each recording, or for the sides; for programs means, spread and histograms
 * Owns     what blockrows_init() makes
 */
#ifndef PACE_VIEW_BLOCKROWS_H
#define PACE_VIEW_BLOCKROWS_H

#include "profile/diff/blockdiff.h"
#include "view/rows/deltatable.h"

struct blockrows {
	struct deltatable table;
	const struct delta *delta;
	const struct diff_options *options;
	const char *event;
	bool is_data;
};

/* is_data: has all rows, whatever the options say about those for people. */
void blockrows_init(struct blockrows *r, const struct delta *d, const char *event,
	const struct diff_options *o, bool is_data);
void blockrows_fini(struct blockrows *r);

/* For people: the event, the recordings, what they have. n_unknown: runs that were left out, by recording. */
void blockrows_add_words(const struct delta *d, const u64 *n_unknown, const char *event,
	const struct diff_options *o, struct str *text);

#endif
