#include "profile/maths/align.h"

#include <string.h>

enum { DIFFERENCES_MAX = 1024 }; /* differences searched from either end before giving up */

/* How far a path reaches on a diagonal from one end: rows of A passed; -1: not at all. */
struct reach {
	s64 *at; /* by diagonal; from -size to size */
};

struct aligning {
	struct align *align;
	const u64 *a, *b;
	struct reach forward, backward;
};

/* A stretch of both sequences: half-open. */
struct stretch {
	s64 a, a_end, b, b_end;
};

static bool is_equal(const struct aligning *s, const struct stretch *t, s64 x, s64 y, bool is_back)
{
	return is_back ? s->a[t->a_end - 1 - x] == s->b[t->b_end - 1 - y]
		       : s->a[t->a + x] == s->b[t->b + y];
}

/* Goes one difference further on diagonal k, then along equal keys; -1: this leads outside. */
static s64 advance(const struct aligning *s, const struct stretch *t, struct reach *r, s64 k, s64 d,
	bool is_back)
{
	s64 n = t->a_end - t->a, m = t->b_end - t->b, x = d ? -1 : 0;

	if (k < d && r->at[k + 1] >= 0 && r->at[k + 1] - k <= m)
		x = r->at[k + 1];
	if (k > -d && r->at[k - 1] >= 0 && r->at[k - 1] < n)
		x = MAX(x, r->at[k - 1] + 1);
	if (x < 0)
		return -1;
	while (x < n && x - k < m && is_equal(s, t, x, x - k, is_back))
		x++;
	return x;
}

/* The end of the furthest path from the beginning. */
static void settle(const struct reach *r, s64 d, s64 *ret_x, s64 *ret_y)
{
	*ret_x = *ret_y = 0;
	for (s64 k = -d; k <= d; k += 2)
		if (r->at[k] >= 0 && 2 * r->at[k] - k > *ret_x + *ret_y) {
			*ret_x = r->at[k];
			*ret_y = r->at[k] - k;
		}
}

/* A point on a best path, with as many differences from one end as from the other. */
static void find_middle(struct aligning *s, const struct stretch *t, s64 *ret_x, s64 *ret_y)
{
	s64 n = t->a_end - t->a, m = t->b_end - t->b, delta = n - m, d;

	for (d = 0; d <= DIFFERENCES_MAX; d++) {
		for (s64 k = -d; k <= d; k += 2) {
			s64 x = advance(s, t, &s->forward, k, d, false), other = delta - k;

			s->forward.at[k] = x;
			if (x >= 0 && delta % 2 && other > -d && other < d &&
				s->backward.at[other] >= 0 && x + s->backward.at[other] >= n) {
				*ret_x = x;
				*ret_y = x - k;
				return;
			}
		}
		for (s64 k = -d; k <= d; k += 2) {
			s64 x = advance(s, t, &s->backward, k, d, true), other = delta - k;

			s->backward.at[k] = x;
			if (x >= 0 && delta % 2 == 0 && other >= -d && other <= d &&
				s->forward.at[other] >= 0 && x + s->forward.at[other] >= n) {
				*ret_x = n - x;
				*ret_y = m - (x - k);
				return;
			}
		}
	}
	settle(&s->forward, d - 1, ret_x, ret_y);
}

static void add_pair(struct aligning *s, s64 a, s64 b)
{
	vec_add(&s->align->pairs, ((struct align_pair){(u32)a, (u32)b}));
}

static void align_stretch(struct aligning *s, struct stretch t)
{
	s64 n_tail = 0, x, y;

	while (t.a < t.a_end && t.b < t.b_end && s->a[t.a] == s->b[t.b])
		add_pair(s, t.a++, t.b++);
	while (t.a < t.a_end && t.b < t.b_end && s->a[t.a_end - 1] == s->b[t.b_end - 1]) {
		t.a_end--;
		t.b_end--;
		n_tail++;
	}
	/* The remaining stretches begin and end with differences, so the middle is neither end. */
	if (t.a < t.a_end && t.b < t.b_end) {
		find_middle(s, &t, &x, &y);
		align_stretch(s, (struct stretch){t.a, t.a + x, t.b, t.b + y});
		align_stretch(s, (struct stretch){t.a + x, t.a_end, t.b + y, t.b_end});
	}
	for (s64 i = 0; i < n_tail; i++)
		add_pair(s, t.a_end + i, t.b_end + i);
}

void align_add(struct align *align, const u64 *a, u32 n, const u64 *b, u32 m)
{
	enum { SIZE = 2 * (DIFFERENCES_MAX + 2) + 1 };
	s64 *cells = mem_alloc(2 * SIZE * sizeof(*cells));
	struct aligning s = {align, a, b, {cells + SIZE / 2}, {cells + SIZE + SIZE / 2}};

	align_stretch(&s, (struct stretch){0, n, 0, m});
	mem_free(cells);
}

void align_fini(struct align *align)
{
	vec_fini(&align->pairs);
}
