/*
 * histrows.h - the entries of a histogram as a table of cells.
 *
 * In       a histogram, the columns that people want, the share below which rows are left out
 * Out      struct rowset: with samples, period and share for programs, whatever people want
 * Owns     what histrows_init() makes; the histogram must stay
 */
#ifndef PACE_PROFILE_HISTROWS_H
#define PACE_PROFILE_HISTROWS_H

#include "profile/key.h"
#include "profile/rowset.h"

enum { HISTROWS_COLUMNS_MAX = 2 * HIST_KEYS_MAX + 16 };

struct histrows_options {
	const struct key *const *columns; /* for people */
	const u16 *widths;                /* of these; 0: as wide as they need */
	size_t n_columns;
	double limit; /* percent: rows of less are left out */
};

struct histrows {
	struct rowset rows, head;
	const struct hist *hist;
	double limit;
	struct rowset_column columns[HISTROWS_COLUMNS_MAX], shown[HIST_KEYS_MAX];
};

void histrows_init(struct histrows *r, const struct hist *h, const struct histrows_options *o);

#endif
