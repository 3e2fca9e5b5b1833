/*
 * chartrows.h - which rows of a chart are shown, and in which order.
 *
 * In       a finished chart; what was asked for
 * Out      rows: those of a process together, processes in the order of their beginning; and the sum of those left out
 * Owns     its array, until chartrows_fini()
 */
#ifndef PACE_VIEW_CHARTROWS_H
#define PACE_VIEW_CHARTROWS_H

#include "base/opts.h"
#include "profile/chart/chart.h"

enum { CHARTROWS_NS = 10000000, CHARTROWS_MOST = 1000 };

struct chartrows_options {
	const struct opt_list *processes; /* names and ids: only these; NULL or empty: all */
	u64 most;                         /* rows, however busy; 0: CHARTROWS_MOST */
	u64 least; /* so many rows are shown, even if they ran for less than CHARTROWS_NS */
};

struct chartrows {
	VEC(u32) rows;
	u64 n_left_out;  /* tasks */
	u64 left_out_ns; /* for which they ran */
	bool is_full;    /* CHARTROWS_MOST was the reason */
};

void chartrows_init(struct chartrows *c, const struct chart *t, const struct chartrows_options *o);
void chartrows_fini(struct chartrows *c);

#endif
