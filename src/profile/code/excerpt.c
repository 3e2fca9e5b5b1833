#include "profile/code/excerpt.h"

#include <stdlib.h>

#include "base/sort.h"

SORT_BY(by_from, struct excerpt_part, from, to)

static int by_samples(const void *a, const void *b)
{
	const struct excerpt_part *x = a, *y = b;

	return x->n_samples > y->n_samples ? -1 : x->n_samples < y->n_samples;
}

void excerpt_sort(excerpt_list *parts)
{
	size_t n = 0;

	if (parts->n)
		qsort(parts->at, parts->n, sizeof(*parts->at), by_from);
	vec_each(p, parts)
		if (n && !by_from(&parts->at[n - 1], p))
			parts->at[n - 1].n_samples += p->n_samples;
		else
			parts->at[n++] = *p;
	parts->n = n;
}

u64 excerpt_least(excerpt_list *all, u64 n_samples, u64 most)
{
	u64 least = n_samples + 1, bytes = 0;

	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), by_samples);
	for (size_t i = 0; i < all->n && all->at[i].n_samples;) {
		u64 samples = all->at[i].n_samples;

		for (; i < all->n && all->at[i].n_samples == samples; i++)
			bytes += all->at[i].to - all->at[i].from;
		if (bytes > most && samples * EXCERPT_SURE < n_samples)
			return least;
		least = samples;
	}
	return 1;
}

void excerpt_keep(excerpt_list *parts, u64 least)
{
	size_t n = 0;

	vec_each(p, parts) {
		if (p->n_samples < least)
			continue;
		if (n && p->from <= parts->at[n - 1].to) {
			parts->at[n - 1].to = MAX(parts->at[n - 1].to, p->to);
			parts->at[n - 1].n_samples += p->n_samples;
		} else {
			parts->at[n++] = *p;
		}
	}
	parts->n = n;
}
