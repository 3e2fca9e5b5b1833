/*
 * diff.h - a comparison of recordings as text and as JSON.
 *
 * The table has the columns of perf diff; words above it say what differs by more than chance.
 * JSON is one document, with the same rows: pace-diff(1) lists its members.
 * In       a paired comparison, judged
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_DIFF_H
#define PACE_VIEW_DIFF_H

#include "base/str.h"
#include "profile/diff/delta.h"
#include "profile/diff/significance.h"

enum diff_method { DIFF_DELTA_ABS, DIFF_DELTA, DIFF_RATIO, DIFF_WDIFF };

/* What a recording's periods are divided by before they are compared. */
enum diff_per { DIFF_PER_LEVEL, DIFF_PER_RUN, DIFF_PER_TOTAL, DIFF_PER_EVENT };

struct diff_options {
	enum diff_method method;
	u64 weights[DELTA_SIDES];
	bool has_sides; /* a column for each side, not for each recording */
	enum diff_per per;
	bool has_periods, has_formula;
	bool has_cycles;          /* how long runs of code take, instead of rows' shares */
	bool has_histogram;       /* with has_cycles: how much that varies */
	bool has_both;            /* with sides: the share of each, not only the baseline's */
	bool is_in_baseline_only; /* only rows that A has */
	bool has_all_words;       /* every row that differs, not only the first */
	bool is_quiet;
	double limit; /* percent: rows that are smaller in all recordings are left out */
	u32 order;    /* sort by this recording of B, from 1; 0: by the baseline */
};

/* For people: the event, the recordings, and what differs by more than chance. */
void diff_add_words(const struct delta *d, const struct significance *j, const char *event,
	const struct diff_options *o, struct str *text);

/* The order in which rows are shown: indexes into d->rows. The caller frees it. */
u32 *diff_order(const struct delta *d, const struct diff_options *o);

#endif
