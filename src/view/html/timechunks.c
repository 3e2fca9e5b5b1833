#include "view/html/timechunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/search.h"
#include "view/html/chunk.h"

enum { TICK_LEAST = 1000 /* ns */, TICKS_MOST = 10000000 };

struct clock_ticks {
	u64 ns; /* length of a tick */
	u64 first,
		count; /* ticks since the clock's zero, and from the first sample to behind the last */
};

struct making {
	struct out *out;
	const struct rowset *r;
	const struct timeline *timeline;
	struct clock_ticks ticks;
	u32 *nodes;   /* by row of the tree: its position in preorder */
	u32 *threads; /* by thread of the timeline: its number in the page */
	u32 *order;   /* threads of the timeline, in the page's order */
	u64 *counts;  /* samples by part */
	u64 *common;  /* by part: the period of all samples, or 0 */
};

bool timechunks_are_there(const struct rowset *r)
{
	return r->times && r->times->timeline->at.n;
}

static struct rowset_spot spot_of(const struct making *m, const struct timeline_sample *s)
{
	return m->r->times->spots[s->row];
}

static bool is_in(const struct making *m, const struct timeline_sample *s, u32 part)
{
	const struct rowset_spot spot = spot_of(m, s);

	return spot.node && spot.part == part;
}

static struct clock_ticks ticks_of(const struct timeline *t)
{
	const u64 from = t->at.at[0].time, to = t->at.at[t->at.n - 1].time;
	struct clock_ticks ticks = {.ns = TICK_LEAST};

	while ((to - from) / ticks.ns > TICKS_MOST)
		ticks.ns *= 10;
	ticks.first = from / ticks.ns;
	ticks.count = to / ticks.ns - ticks.first + 1;
	return ticks;
}

static int by_count(const void *a, const void *b, void *ctx)
{
	const u64 *counts = ctx;
	const u32 i = *(const u32 *)a, j = *(const u32 *)b;

	return counts[i] != counts[j] ? (counts[i] < counts[j] ? 1 : -1) : (i > j) - (i < j);
}

/* Puts the threads with most samples first: their numbers are short. */
static void rank_threads(struct making *m)
{
	const size_t n = m->timeline->threads.n;
	u64 *counts = mem_zalloc((n + 1) * sizeof(*counts));

	vec_each(s, &m->timeline->at)
		counts[s->thread] += spot_of(m, s).node != 0;
	m->order = mem_alloc((n + 1) * sizeof(*m->order));
	m->threads = mem_alloc((n + 1) * sizeof(*m->threads));
	for (u32 i = 0; i < n; i++)
		m->order[i] = i;
	qsort_r(m->order, n, sizeof(*m->order), by_count, counts);
	for (u32 i = 0; i < n; i++)
		m->threads[m->order[i]] = i;
	mem_free(counts);
}

static void count_parts(struct making *m)
{
	bool *differs = mem_zalloc(m->r->n_parts + 1);

	m->counts = mem_zalloc((m->r->n_parts + 1) * sizeof(*m->counts));
	m->common = mem_zalloc((m->r->n_parts + 1) * sizeof(*m->common));
	vec_each(s, &m->timeline->at) {
		const struct rowset_spot spot = spot_of(m, s);

		if (!spot.node)
			continue;
		if (!m->counts[spot.part]++)
			m->common[spot.part] = s->period;
		differs[spot.part] |= m->common[spot.part] != s->period;
	}
	for (u32 part = 0; part < m->r->n_parts; part++)
		m->common[part] = differs[part] ? 0 : m->common[part];
	mem_free(differs);
}

static void add_clock(const struct making *m)
{
	const struct timeline *t = m->timeline;
	struct str text = {0};
	struct chunk chunk;

	str_addc(&text, '{');
	json_u64(&text, "tick", m->ticks.ns);
	json_u64(&text, "first", m->ticks.first);
	json_u64(&text, "ticks", m->ticks.count);
	json_u64(&text, "threads", t->threads.n);
	json_u64(&text, "every", t->every);
	json_u64(&text, "timeless", t->n_timeless);
	json_open(&text, "parts", '[');
	for (u32 part = 0; part < m->r->n_parts; part++) {
		str_addc(&text, '{');
		json_u64(&text, "samples", m->counts[part]);
		json_u64(&text, "common", m->common[part]);
		json_close(&text, '}');
	}
	json_close(&text, ']');
	json_end(&text, '}');
	chunk_open(&chunk, m->out, "times");
	chunk_add(&chunk, text.at, text.n);
	chunk_close(&chunk);
	str_fini(&text);
}

static void add_threads(const struct making *m)
{
	struct str text = {0};
	struct chunk chunk;

	chunk_open(&chunk, m->out, "threads");
	for (size_t i = 0; i < m->timeline->threads.n; i++) {
		const struct timeline_thread *thread = &m->timeline->threads.at[m->order[i]];

		str_clear(&text);
		str_addf(&text, "%d %d ", (s32)thread->pid, (s32)thread->tid);
		str_add_safe(&text, thread->comm, strlen(thread->comm));
		str_addc(&text, '\n');
		chunk_add(&chunk, text.at, text.n);
	}
	chunk_close(&chunk);
	str_fini(&text);
}

static void add_ticks(const struct making *m, struct chunk *chunk, u32 part)
{
	u64 before = m->ticks.first;

	vec_each(s, &m->timeline->at) {
		if (!is_in(m, s, part))
			continue;
		chunk_add_number(chunk, s->time / m->ticks.ns - before);
		before = s->time / m->ticks.ns;
	}
}

static void add_cpus(const struct making *m, struct chunk *chunk, u32 part)
{
	/* By thread: what stands for its CPU; 0: it had none yet. */
	u64 *last = mem_zalloc((m->timeline->threads.n + 1) * sizeof(*last));

	vec_each(s, &m->timeline->at) {
		const u64 cpu = s->cpu == UINT32_MAX ? 1 : (u64)s->cpu + 2;

		if (!is_in(m, s, part))
			continue;
		chunk_add_number(chunk, last[s->thread] == cpu ? 0 : cpu);
		last[s->thread] = cpu;
	}
	mem_free(last);
}

static void add_part(const struct making *m, u32 part)
{
	struct str id = {0};
	struct chunk chunk;

	str_addf(&id, "moments%u", part);
	chunk_open_numbers(&chunk, m->out, str_text(&id));
	add_ticks(m, &chunk, part);
	vec_each(s, &m->timeline->at)
		if (is_in(m, s, part))
			chunk_add_number(&chunk, m->threads[s->thread]);
	add_cpus(m, &chunk, part);
	vec_each(s, &m->timeline->at)
		if (is_in(m, s, part))
			chunk_add_number(&chunk, m->nodes[spot_of(m, s).node]);
	vec_each(s, &m->timeline->at)
		if (!m->common[part] && is_in(m, s, part))
			chunk_add_number(&chunk, s->period);
	chunk_close(&chunk);
	str_fini(&id);
}

/* ---- states ---- */

static u64 tick_of(const struct making *m, u64 time)
{
	const u64 tick = time / m->ticks.ns;

	return tick < m->ticks.first ? 0 : MIN(tick - m->ticks.first, m->ticks.count);
}

/* The part of a lane from one time to another, if anything is known of it. */
static void add_lane(const struct making *m, struct chunk *chunk, const struct lane *lane, u32 kind,
	u32 number, u64 from, u64 until)
{
	const struct lane_piece *at = lane->pieces.at;
	/* Thousands of lives may share a lane. */
	const struct lane_piece *first =
		at + search_first(i, lane->pieces.n, lane_piece_end(lane, at + i) > from);
	const struct lane_piece *last = at + search_first(i, lane->pieces.n, at[i].from >= until);

	if (first >= last)
		return;
	chunk_add_number(chunk, kind);
	chunk_add_number(chunk, number);
	chunk_add_number(chunk, tick_of(m, MAX(first->from, from)));
	chunk_add_number(chunk, (u64)(last - first));
	for (const struct lane_piece *p = first; p < last; p++) {
		const u64 end = MIN(lane_piece_end(lane, p), until);

		chunk_add_number(chunk, tick_of(m, end) - tick_of(m, MAX(p->from, from)));
		chunk_add_number(chunk, p->state);
	}
}

static void add_states(const struct making *m, const struct chart *t)
{
	struct chunk chunk;

	chunk_open_numbers(&chunk, m->out, "states");
	/* Of others than those recorded, only wake-ups may be known. */
	vec_each(life, &t->lives)
		if (life->tid && life->row < t->rows.n && life->n_runs)
			add_lane(m, &chunk, &t->rows.at[life->row].lane, 0, life->tid, life->from,
				life->until);
	for (u32 cpu = 0; cpu < t->cpus.n; cpu++)
		if (t->cpus.at[cpu].is_seen)
			add_lane(m, &chunk, &t->cpus.at[cpu].lane, 1, cpu, 0, UINT64_MAX);
	chunk_close(&chunk);
}

void timechunks_add(struct out *out, const struct rowset *r, const struct columns *c,
	const struct chart *states)
{
	struct making m = {.out = out,
		.r = r,
		.timeline = r->times->timeline,
		.ticks = ticks_of(r->times->timeline),
		.nodes = mem_zalloc((r->n + 1) * sizeof(*m.nodes))};

	for (u32 i = 0; i < c->n; i++)
		m.nodes[c->rows[i]] = i;
	rank_threads(&m);
	count_parts(&m);
	add_clock(&m);
	add_threads(&m);
	for (u32 part = 0; part < r->n_parts; part++)
		add_part(&m, part);
	if (states && states->lives.n)
		add_states(&m, states);
	mem_free(m.nodes);
	mem_free(m.order);
	mem_free(m.threads);
	mem_free(m.counts);
	mem_free(m.common);
}
