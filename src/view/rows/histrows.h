/*
 * histrows.h - the entries of a histogram as a table of cells, with call graphs below them.
 *
 * In       a histogram, the columns that people want, the share below which rows are left out
 * Out      struct rowset: for programs always with samples, period and share
 * Owns     what histrows_init() makes, until histrows_fini(); the histogram must stay
 */
#ifndef PACE_VIEW_HISTROWS_H
#define PACE_VIEW_HISTROWS_H

#include "profile/rows/graph.h"
#include "profile/rows/key.h"

/* Figures may have parts: a column each. */
enum {
	HISTROWS_SHOWN_MAX = HIST_KEYS_MAX + HIST_SUMS_MAX,
	HISTROWS_COLUMNS_MAX = HISTROWS_SHOWN_MAX + HIST_KEYS_MAX + 16,
};

struct histrows_options {
	const struct key *columns[HIST_KEYS_MAX]; /* for people */
	u16 widths[HIST_KEYS_MAX];                /* of these columns; 0: as wide as needed */
	size_t n_columns;
	double limit;   /* percent: smaller rows are left out */
	bool has_graph; /* rows have their callees or callers below them */
	enum graph_order order;
	double graph_limit; /* percent: smaller rows have no graph */
};

struct histrows {
	struct rowset rows, head;
	const struct hist *hist;
	struct histrows_options options;
	struct hist_view *view; /* for graphs; NULL: none are wanted */
	struct rowset_column columns[HISTROWS_COLUMNS_MAX], shown[HISTROWS_SHOWN_MAX];
};

void histrows_init(struct histrows *r, const struct hist *h, const struct histrows_options *o);
void histrows_fini(struct histrows *r);

/* For other views of the same entries: the cell of what is below an entry, and the table there. */
void histrows_set_below(const struct histrows *r, const struct hist_entry *e, struct cell *ret);
void histrows_open_below(const struct histrows *r, const struct hist_entry *e, struct rowset *ret);

#endif
