#include "profile/chart/bounds.h"

#include "base/hash.h"

enum {
	FIRST_NS = 1024,
	SPEEDS_MOST = 4096, /* of one CPU */
	SLOTS = 1 << 14,    /* pairs of tasks that are remembered while wake-ups are merged */
};

static u64 next_length(u64 length)
{
	return length ? 2 * length : FIRST_NS;
}

static bool is_over(u64 length, const struct chart *t)
{
	return length > INT64_MAX || length / 2 > t->end - t->begin;
}

/* ---- pieces ---- */

static u64 coarsen(struct lane *l, u64 shortest)
{
	lane_coarsen(l, shortest);
	return l->pieces.n;
}

void chart_coarsen(struct chart *t, u64 shortest)
{
	t->shortest = MAX(t->shortest, shortest);
	t->n_pieces = 0;
	vec_each(c, &t->cpus)
		t->n_pieces += coarsen(&c->lane, t->shortest);
	vec_each(r, &t->rows)
		t->n_pieces += coarsen(&r->lane, t->shortest);
	vec_each(task, &t->tasks)
		if (task->lane.pieces.n)
			t->n_pieces += coarsen(&task->lane, t->shortest);
}

void bounds_merge_pieces(struct chart *t)
{
	/* What is new has not been merged by the length that the older pieces have. */
	chart_coarsen(t, t->shortest);
	while (t->n_pieces > t->limits.pieces / 4 * 3 && !is_over(t->shortest, t))
		chart_coarsen(t, next_length(t->shortest));
	/* So many lanes that even the shortest ones are too many: they are all needed. */
	if (t->n_pieces > t->limits.pieces / 4 * 3)
		t->limits.pieces = 2 * t->n_pieces;
}

/* ---- wake-ups ---- */

/* Tasks whose lives have ended are their rows. */
static u64 place_of(const struct chart *t, u32 life)
{
	if (life == CHART_NONE)
		return life;
	return t->lives.at[life].row != CHART_NONE ? ((u64)t->lives.at[life].row + 1) << 32 : life;
}

static void merge_wakes(struct chart *t, u64 shortest, bool has_pairs)
{
	u32 *slots = mem_zalloc(SLOTS * sizeof(*slots)); /* where the pair's last wake-up is */
	size_t out = 0;

	for (size_t i = 0; i < t->wakes.n; i++) {
		const struct chart_wake w = t->wakes.at[i];
		const u64 from = has_pairs ? place_of(t, w.from) : 0,
			  to = has_pairs ? place_of(t, w.to) : 0;
		u32 *slot = &slots[(hash_lasting(from, to) >> 32) % SLOTS];
		struct chart_wake *last = &t->wakes.at[*slot];

		if (out && w.time - last->time < shortest &&
			(!has_pairs ||
				(place_of(t, last->from) == from && place_of(t, last->to) == to))) {
			last->n += w.n;
			continue;
		}
		*slot = (u32)out;
		t->wakes.at[out++] = w;
	}
	t->wakes.n = out;
	mem_free(slots);
}

void bounds_merge_wakes(struct chart *t)
{
	const u64 enough = t->limits.wakes / 4 * 3;

	merge_wakes(t, t->wakes_shortest, true);
	while (t->wakes.n > enough && !is_over(t->wakes_shortest, t)) {
		t->wakes_shortest = next_length(t->wakes_shortest);
		merge_wakes(t, t->wakes_shortest, true);
	}
	/* Too many pairs: one stands for all of a moment. */
	for (u64 shortest = FIRST_NS; t->wakes.n > enough && !is_over(shortest, t); shortest *= 2)
		merge_wakes(t, shortest, false);
}

/* ---- I/O ---- */

static void merge_ios(struct chart *t, u64 shortest)
{
	u32 *last_of = mem_alloc((t->lives.n + 1) * CHART_IO_KINDS * sizeof(*last_of));
	size_t out = 0;

	memset(last_of, 0xff, (t->lives.n + 1) * CHART_IO_KINDS * sizeof(*last_of));
	for (size_t i = 0; i < t->ios.n; i++) {
		const struct chart_io io = t->ios.at[i];
		u32 *at = &last_of[(size_t)io.life * CHART_IO_KINDS + io.kind];
		struct chart_io *last = *at != UINT32_MAX ? &t->ios.at[*at] : NULL;

		if (last && io.until - last->from < shortest) {
			last->until = MAX(last->until, io.until);
			last->bytes += io.bytes;
			last->n += io.n;
			last->fd = last->fd == io.fd ? io.fd : -1;
			last->error = last->error ? last->error : io.error;
			continue;
		}
		*at = (u32)out;
		t->ios.at[out++] = io;
	}
	t->ios.n = out;
	mem_free(last_of);
}

void bounds_merge_ios(struct chart *t)
{
	merge_ios(t, t->io_shortest);
	while (t->ios.n > t->limits.ios / 4 * 3 && !is_over(t->io_shortest, t)) {
		t->io_shortest = next_length(t->io_shortest);
		merge_ios(t, t->io_shortest);
	}
	if (t->ios.n > t->limits.ios / 4 * 3)
		t->limits.ios = 2 * t->ios.n;
}

/* ---- stacks ---- */

void bounds_drop_waits(struct chart *t)
{
	while (t->waits.n > t->limits.waits / 4 * 3) {
		size_t out = 0;

		t->waits_shortest = next_length(t->waits_shortest);
		for (size_t i = 0; i < t->waits.n; i++)
			if (t->waits.at[i].until - t->waits.at[i].from >= t->waits_shortest)
				t->waits.at[out++] = t->waits.at[i];
		t->waits.n = out;
	}
}

void bounds_keep_samples(struct chart *t)
{
	if (t->samples.n <= t->limits.waits)
		return;
	for (size_t i = 0; i < t->samples.n / 2; i++)
		t->samples.at[i] = t->samples.at[2 * i];
	t->samples.n /= 2;
	t->samples_every *= 2;
}

/* ---- frequencies ---- */

/* Keeps every second change: the graph of a CPU's frequency needs no more. */
void bounds_keep_speeds(const struct chart *t, struct chart_cpu *c)
{
	(void)t;
	if (c->speeds.n < SPEEDS_MOST)
		return;
	for (size_t i = 0; i < c->speeds.n / 2; i++)
		c->speeds.at[i] = c->speeds.at[2 * i];
	c->speeds.n /= 2;
}
