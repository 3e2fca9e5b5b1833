#include "profile/numbering.h"

enum { KEPT_AT_LEAST = 4096 };

static const u64 ASKED = 1ULL << 63;

void numbering_init(struct numbering *n, struct reader *r)
{
	memset(n, 0, sizeof(*n));
	n->is_possible = n->has_cursor = !r->is_stream && !r->is_packed && r->parts.n == 1;
	if (n->has_cursor)
		reader_cursor_init(&n->cursor, r, r->data_start, r->data_end);
}

void numbering_fini(struct numbering *n)
{
	if (n->has_cursor)
		reader_cursor_fini(&n->cursor);
	vec_fini(&n->offsets);
	memset(n, 0, sizeof(*n));
}

static void drop_asked(struct numbering *n)
{
	size_t left = n->offsets.n - n->n_asked;

	if (n->n_asked < KEPT_AT_LEAST || n->n_asked < left)
		return;
	memmove(n->offsets.at, n->offsets.at + n->n_asked, left * sizeof(*n->offsets.at));
	n->first += n->n_asked;
	n->offsets.n = left;
	n->n_asked = 0;
}

static void walk_until(struct numbering *n, u64 offset)
{
	struct record rec;
	struct err err;

	while (!n->has_ended &&
		(!n->offsets.n || (n->offsets.at[n->offsets.n - 1] & ~ASKED) < offset)) {
		if (reader_next(&n->cursor, &rec, &err) > 0)
			vec_add(&n->offsets, rec.offset);
		else
			n->has_ended = true;
	}
}

bool numbering_find(struct numbering *n, u64 offset, u64 *ret_nr)
{
	size_t low = 0, high;

	/* That records are packed, a reader knows when it meets the first: it stands for many. */
	if (n->has_cursor && n->cursor.reader->is_packed)
		n->is_possible = false;
	if (!n->is_possible)
		return false;
	walk_until(n, offset);
	for (high = n->offsets.n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if ((n->offsets.at[middle] & ~ASKED) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == n->offsets.n || n->offsets.at[low] != offset)
		return false;
	*ret_nr = n->first + low;
	n->offsets.at[low] |= ASKED;
	while (n->n_asked < n->offsets.n && n->offsets.at[n->n_asked] & ASKED)
		n->n_asked++;
	drop_asked(n);
	return true;
}
