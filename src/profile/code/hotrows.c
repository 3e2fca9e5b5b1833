#include "profile/code/hotrows.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

#define SHARE_LEAST 0.01

struct hotness {
	size_t row;
	double share;
};

/* The row's share of the function's period, the largest of all events. */
static double share_of(const struct assembly *a, const struct assembly_row *row)
{
	double most = 0;

	for (size_t e = 0; e < a->annotation->profile->events.n; e++) {
		u64 all = a->annotation->counts.at[a->function->counts + e].period;

		if (all)
			most = MAX(most,
				(double)a->counts.at[row->counts + e].period / (double)all);
	}
	return most;
}

static int by_share(const void *a, const void *b)
{
	const struct hotness *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

SORT_BY(by_row, struct hotness, row)

static void add_span(struct hotrows *h, size_t from, size_t to)
{
	if (h->spans.n && from <= h->spans.at[h->spans.n - 1].to)
		h->spans.at[h->spans.n - 1].to = to;
	else
		vec_add(&h->spans, ((struct hotrows_span){from, to}));
}

void hotrows_init(struct hotrows *h, const struct assembly *a, size_t around)
{
	VEC(struct hotness) hot = {0};
	size_t n = 0;

	memset(h, 0, sizeof(*h));
	for (size_t i = 0; i < a->rows.n; i++) {
		double share = share_of(a, &a->rows.at[i]);

		if (share > 0)
			vec_add(&hot, ((struct hotness){i, share}));
	}
	if (hot.n)
		qsort(hot.at, hot.n, sizeof(*hot.at), by_share);
	while (n < MIN(hot.n, (size_t)HOTROWS_MOST) && (!n || hot.at[n].share >= SHARE_LEAST))
		n++;
	if (n)
		qsort(hot.at, n, sizeof(*hot.at), by_row);
	for (size_t i = 0; i < n; i++) {
		size_t row = hot.at[i].row;

		add_span(h, row - MIN(row, around),
			around < a->rows.n - row ? row + around + 1 : a->rows.n);
	}
	vec_fini(&hot);
}

void hotrows_fini(struct hotrows *h)
{
	vec_fini(&h->spans);
}
