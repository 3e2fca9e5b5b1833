#include "profile/chart/lane.h"

#include <string.h>

/* ---- growing ---- */

static bool is_same(const struct lane_piece *p, enum lane_state state, u32 who)
{
	return p->n == 1 && p->state == state && p->who == who;
}

void lane_put(struct lane *l, u64 time, enum lane_state state, u32 who)
{
	struct lane_piece *last = l->pieces.n ? &l->pieces.at[l->pieces.n - 1] : NULL;

	if (last && time < l->end)
		time = l->end;
	l->end = time;
	/* A state that lasted no time was none. */
	if (last && last->from == time && last->n == 1)
		last = --l->pieces.n ? last - 1 : NULL;
	if (!last || !is_same(last, state, who))
		vec_add(&l->pieces,
			((struct lane_piece){.from = time,
				.who = who,
				.n = 1,
				.is_first = 1,
				.state = state}));
}

void lane_extend(struct lane *l, u64 time)
{
	l->end = MAX(l->end, time);
}

void lane_append(struct lane *l, const struct lane *other)
{
	if (!other->pieces.n)
		return;
	if (l->pieces.n && other->pieces.at[0].from > l->end)
		lane_put(l, l->end, LANE_NOTHING, LANE_SEVERAL);
	vec_reserve(&l->pieces, l->pieces.n + other->pieces.n);
	memcpy(l->pieces.at + l->pieces.n, other->pieces.at,
		other->pieces.n * sizeof(*other->pieces.at));
	l->pieces.n += other->pieces.n;
	l->end = other->end;
}

void lane_fini(struct lane *l)
{
	vec_fini(&l->pieces);
}

/* ---- merging ---- */

/* Neighbours that become one group. */
struct group {
	size_t first, n_pieces, n_units;
	u64 ns[LANE_STATES], total;
	u64 n[LANE_STATES];
	u32 who[LANE_STATES];
};

static void take_unit(struct group *g, const struct lane *l, size_t first, size_t after)
{
	if (!g->n_units++)
		g->first = first;
	g->n_pieces += after - first;
	for (size_t i = first; i < after; i++) {
		const struct lane_piece *p = &l->pieces.at[i];
		const u64 ns = p[1].from - p->from;

		g->who[p->state] =
			!g->n[p->state] || g->who[p->state] == p->who ? p->who : LANE_SEVERAL;
		g->n[p->state] += p->n;
		g->ns[p->state] += ns;
		g->total += ns;
	}
}

/* Writes the group to `out`, which is not behind where it was, and returns what follows it there. */
static size_t put_group(struct group *g, struct lane *l, size_t out)
{
	u64 from = g->n_units ? l->pieces.at[g->first].from : 0;
	bool is_first = true;

	if (g->n_units == 1) {
		memmove(l->pieces.at + out, l->pieces.at + g->first,
			g->n_pieces * sizeof(*l->pieces.at));
		out += g->n_pieces;
	}
	for (size_t s = 0; s < LANE_STATES && g->n_units > 1; s++) {
		if (!g->ns[s])
			continue;
		l->pieces.at[out++] = (struct lane_piece){.from = from,
			.who = g->who[s],
			.n = (u32)MIN(MAX(g->n[s], (u64)2), (u64)LANE_N_MOST),
			.is_first = is_first,
			.state = s};
		is_first = false;
		from += g->ns[s];
	}
	*g = (struct group){0};
	return out;
}

void lane_coarsen(struct lane *l, u64 shortest)
{
	struct group g = {0};
	size_t out = 0, next;

	for (size_t i = 0; i + 1 < l->pieces.n; i = next) {
		u64 ns;

		for (next = i + 1; !l->pieces.at[next].is_first;)
			next++;
		ns = l->pieces.at[next].from - l->pieces.at[i].from;
		if (ns >= shortest)
			out = put_group(&g, l, out);
		take_unit(&g, l, i, next);
		if (g.total >= shortest)
			out = put_group(&g, l, out);
	}
	out = put_group(&g, l, out);
	if (l->pieces.n) {
		l->pieces.at[out++] = l->pieces.at[l->pieces.n - 1];
		l->pieces.n = out;
	}
}
