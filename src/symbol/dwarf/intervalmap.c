#include "symbol/dwarf/intervalmap.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

SORT_BY(by_start, struct range, start, value)

static bool is_sorted(const struct range *ranges, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (by_start(&ranges[i - 1], &ranges[i]) > 0)
			return false;
	return true;
}

/* Sorts the few ranges with equal starts: the lowest value first. */
static void sort_equals(range_list *ranges)
{
	for (size_t i = 0, end; i < ranges->n; i = end) {
		struct range *first = &ranges->at[i];

		for (end = i + 1; end < ranges->n && ranges->at[end].start == first->start;)
			end++;
		if (!is_sorted(first, end - i))
			qsort(first, end - i, sizeof(*first), by_start);
	}
}

/*
 * Sorts the ranges. Compilers write many of them in order; units follow the order of files, functions of the
 * source.
 */
static void sort(range_list *ranges)
{
	struct sort_item *items;
	range_list sorted = {0};

	if (is_sorted(ranges->at, ranges->n))
		return;
	items = mem_alloc(ranges->n * sizeof(*items));
	for (size_t i = 0; i < ranges->n; i++)
		items[i] = (struct sort_item){ranges->at[i].start, i};
	sort_by_key(items, ranges->n);
	vec_reserve(&sorted, ranges->n);
	for (size_t i = 0; i < ranges->n; i++)
		vec_add(&sorted, ranges->at[items[i].value]);
	mem_free(items);
	vec_fini(ranges);
	*ranges = sorted;
	sort_equals(ranges);
}

static void add_piece(interval_list *s, u64 start, u32 value)
{
	if (s->n && s->at[s->n - 1].start == start)
		s->at[s->n - 1].value = value;
	else if (value != (s->n ? s->at[s->n - 1].value : 0))
		vec_add(s, ((struct interval){start, value}));
}

/* Ends the ranges on the stack whose end is at most `to`, the innermost first. */
static void end_ranges(range_list *open, u64 to, interval_list *s)
{
	while (open->n && open->at[open->n - 1].end <= to) {
		u64 at = open->at[open->n - 1].end;

		while (open->n && open->at[open->n - 1].end <= at)
			open->n--;
		add_piece(s, at, open->n ? open->at[open->n - 1].value : 0);
	}
}

void intervalmap_of(range_list *ranges, interval_list *ret_pieces)
{
	range_list open = {0};

	sort(ranges);
	vec_each(r, ranges) {
		end_ranges(&open, r->start, ret_pieces);
		vec_add(&open, *r);
		add_piece(ret_pieces, r->start, r->value);
	}
	end_ranges(&open, UINT64_MAX, ret_pieces);
	vec_fini(&open);
}

u32 intervalmap_find(const struct interval *pieces, size_t n, u64 address)
{
	/* `start` is the first member, so search_behind() compares it. */
	size_t low = search_behind(pieces, n, sizeof(*pieces), address);

	return low ? pieces[low - 1].value : 0;
}
