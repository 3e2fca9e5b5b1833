#include "symbol/pieces.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* Compilers write most ranges in order; an inlined call's own list may go back. */
static void sort(range_list *ranges)
{
	for (size_t i = 1; i < ranges->n; i++) {
		if (by_start(&ranges->at[i - 1], &ranges->at[i]) > 0) {
			qsort(ranges->at, ranges->n, sizeof(*ranges->at), by_start);
			return;
		}
	}
}

static void add_piece(piece_list *s, u64 start, u32 value)
{
	if (s->n && s->at[s->n - 1].start == start)
		s->at[s->n - 1].value = value;
	else if (value != (s->n ? s->at[s->n - 1].value : 0))
		vec_add(s, ((struct piece){start, value}));
}

/* Ends the ranges on the stack that are over at `to`, innermost first. */
static void end_ranges(range_list *open, u64 to, piece_list *s)
{
	while (open->n && open->at[open->n - 1].end <= to) {
		u64 at = open->at[open->n - 1].end;

		while (open->n && open->at[open->n - 1].end <= at)
			open->n--;
		add_piece(s, at, open->n ? open->at[open->n - 1].value : 0);
	}
}

void pieces_of(range_list *ranges, piece_list *ret_pieces)
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

u32 pieces_find(const struct piece *pieces, size_t n, u64 address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pieces[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? pieces[low - 1].value : 0;
}
