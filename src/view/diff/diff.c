#include "view/diff/diff.h"

#include <math.h>
#include <stdlib.h>

/* ---- the order of rows ---- */

struct rank {
	bool is_common; /* rows that can be compared come first */
	double by;      /* descending */
	u32 row;
};

/* The figure that rows are sorted by; `recording` is one of B. */
static double figure_of(const struct delta *d, const struct delta_row *row, size_t recording,
	const struct diff_options *o)
{
	const struct delta_value *a = &row->values[0], *b = &row->values[recording];
	double delta = o->has_sides
		? delta_side_share(d, row, DELTA_B) - delta_side_share(d, row, DELTA_A)
		: delta_share(d, row, recording) - delta_share(d, row, 0);

	switch (o->method) {
	case DIFF_DELTA:
		return delta;
	case DIFF_DELTA_ABS:
		return fabs(delta);
	case DIFF_RATIO:
		return a->period ? (double)b->period / (double)a->period : 0;
	case DIFF_WDIFF:
		return (double)b->period * (double)o->weights[DELTA_B] -
			(double)a->period * (double)o->weights[DELTA_A];
	}
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->is_common != y->is_common)
		return x->is_common ? -1 : 1;
	if (x->by != y->by)
		return x->by > y->by ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

u32 *diff_order(const struct delta *d, const struct diff_options *o)
{
	struct rank *ranks = mem_alloc((d->rows.n + 1) * sizeof(*ranks));
	u32 *order = mem_alloc((d->rows.n + 1) * sizeof(*order));
	size_t n_a = 0, recording;
	bool is_delta = o->method == DIFF_DELTA || o->method == DIFF_DELTA_ABS;

	vec_each(r, &d->recordings)
		n_a += r->side == DELTA_A;
	recording = MIN(n_a + MAX(o->order, 1u) - 1, d->recordings.n - 1);
	vec_each(row, &d->rows) {
		u32 i = row - d->rows.at;

		ranks[i] = (struct rank){is_delta || (row->is_in[DELTA_A] && row->is_in[DELTA_B]),
			o->order ? figure_of(d, row, recording, o)
				 : delta_side_share(d, row, DELTA_A),
			i};
	}
	if (d->rows.n)
		qsort(ranks, d->rows.n, sizeof(*ranks), by_rank);
	for (size_t i = 0; i < d->rows.n; i++)
		order[i] = ranks[i].row;
	mem_free(ranks);
	return order;
}
