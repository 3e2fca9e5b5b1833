#include "view/chart/chartrows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static bool is_id(const char *word, u32 id)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", id);
	return id && !strcmp(word, text);
}

static bool is_meant(const struct opt_list *words, const struct chart_life *life)
{
	for (size_t i = 0; i < words->n; i++)
		if (!strcmp(words->at[i], life->name) || is_id(words->at[i], life->tid) ||
			is_id(words->at[i], life->pid))
			return true;
	return false;
}

/* The rows that have a task with one of the names or ids. */
static void find_wanted(struct chartrows *c, const struct chart *t, const struct opt_list *words)
{
	bool *is_wanted = mem_zalloc(t->rows.n + 1);

	vec_each(life, &t->lives)
		if (!words || !words->n || is_meant(words, life))
			is_wanted[life->row] = true;
	for (u32 row = 0; row < t->rows.n; row++)
		if (is_wanted[row])
			vec_add(&c->rows, row);
	mem_free(is_wanted);
}

/* ---- orders ---- */

/* For how long each row ran or did I/O. */
static u64 *find_busy(const struct chart *t)
{
	u64 *busy = mem_alloc((t->rows.n + 1) * sizeof(*busy));

	for (size_t i = 0; i < t->rows.n; i++)
		busy[i] = t->rows.at[i].ns[LANE_RUNNING];
	vec_each(io, &t->ios)
		if (io->kind != CHART_POLL)
			busy[t->lives.at[io->life].row] += io->until - io->from;
	return busy;
}

static int by_activity(const void *a, const void *b, void *ctx)
{
	const u64 *busy = ctx;
	const u32 i = *(const u32 *)a, j = *(const u32 *)b;

	return busy[i] != busy[j] ? (busy[i] < busy[j] ? 1 : -1) : (i > j) - (i < j);
}

struct place {
	u64 began; /* the process */
	u32 pid, row;
	u64 from;
	bool is_thread;
};

static int by_place(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	if (p->began != q->began)
		return p->began < q->began ? -1 : 1;
	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->is_thread != q->is_thread)
		return p->is_thread ? 1 : -1;
	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return (p->row > q->row) - (p->row < q->row);
}

/* Puts rows of a process together, behind those of processes that began earlier. */
static void put_in_order(struct chartrows *c, const struct chart *t)
{
	struct place *places = mem_alloc((c->rows.n + 1) * sizeof(*places));
	struct table by_pid = {0};

	for (size_t i = 0; i < c->rows.n; i++) {
		const struct chart_row *r = &t->rows.at[c->rows.at[i]];
		const struct chart_life *life = &t->lives.at[r->first];
		const u32 pid = r->pid ? r->pid : life->pid ? life->pid : life->tid;

		places[i] = (struct place){r->from, pid, c->rows.at[i], r->from, r->pid != 0};
	}
	for (size_t i = 0; i < c->rows.n; i++) {
		const u64 hash = hash_u64(places[i].pid);
		struct table_probe probe = table_probe(&by_pid, hash);
		u32 at;

		while ((at = table_next(&by_pid, &probe)) != TABLE_NONE &&
			places[at].pid != places[i].pid)
			;
		if (at == TABLE_NONE)
			table_add(&by_pid, hash, (u32)i);
		else
			places[at].began = MIN(places[at].began, places[i].began);
	}
	for (size_t i = 0; i < c->rows.n; i++) {
		struct table_probe probe = table_probe(&by_pid, hash_u64(places[i].pid));
		u32 at;

		while ((at = table_next(&by_pid, &probe)) != TABLE_NONE)
			if (places[at].pid == places[i].pid)
				places[i].began = places[at].began;
	}
	qsort(places, c->rows.n, sizeof(*places), by_place);
	for (size_t i = 0; i < c->rows.n; i++)
		c->rows.at[i] = places[i].row;
	table_fini(&by_pid);
	mem_free(places);
}

void chartrows_init(struct chartrows *c, const struct chart *t, const struct chartrows_options *o)
{
	const bool is_named = o->processes && o->processes->n;
	const size_t most = o->most ? o->most : CHARTROWS_MOST;
	u64 *busy = find_busy(t);
	size_t n = 0;

	*c = (struct chartrows){0};
	find_wanted(c, t, o->processes);
	if (c->rows.n > 1)
		qsort_r(c->rows.at, c->rows.n, sizeof(u32), by_activity, busy);
	while (n < c->rows.n && n < most &&
		(is_named || n < o->least || busy[c->rows.at[n]] >= CHARTROWS_NS))
		n++;
	c->is_full = n == most && n < c->rows.n;
	for (size_t i = n; i < c->rows.n; i++) {
		c->n_left_out += t->rows.at[c->rows.at[i]].n_lives;
		c->left_out_ns += t->rows.at[c->rows.at[i]].ns[LANE_RUNNING];
	}
	c->rows.n = n;
	put_in_order(c, t);
	mem_free(busy);
}

void chartrows_fini(struct chartrows *c)
{
	vec_fini(&c->rows);
}
