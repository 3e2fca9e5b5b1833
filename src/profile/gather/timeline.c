#include "profile/gather/timeline.h"

#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"

struct timeline *timeline_new(u32 every)
{
	struct timeline *t = mem_zalloc(sizeof(*t));

	t->every = MAX(every, 1u);
	return t;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	vec_fini(&t->at);
	vec_fini(&t->threads);
	table_fini(&t->thread_index);
	intern_fini(&t->strings);
	mem_free(t);
}

u32 timeline_every(u64 n_samples, u64 most)
{
	const u64 every = most ? (n_samples + most - 1) / most : 1;

	return every > UINT32_MAX ? UINT32_MAX : (u32)MAX(every, (u64)1);
}

bool timeline_wants(const struct timeline *t, u32 tid, u64 time)
{
	return t->every == 1 ||
		hash_lasting(hash_lasting(time, tid), t->every) <= UINT64_MAX / t->every;
}

static bool is_thread(const struct timeline_thread *a, const struct timeline_thread *b)
{
	return a->tid == b->tid && a->pid == b->pid &&
		(a->comm == b->comm || !strcmp(a->comm, b->comm));
}

static u32 thread_of(struct timeline *t, const struct timeline_thread *thread)
{
	const u64 hash = hash_mix((u64)thread->pid << 32 | thread->tid,
		hash_bytes(thread->comm, strlen(thread->comm)));
	struct table_probe probe = table_probe(&t->thread_index, hash);
	struct timeline_thread own = *thread;
	u32 i;

	while ((i = table_next(&t->thread_index, &probe)) != TABLE_NONE)
		if (is_thread(&t->threads.at[i], thread))
			return i;
	own.comm = intern_str(&t->strings, thread->comm);
	table_add(&t->thread_index, hash, (u32)t->threads.n);
	vec_add(&t->threads, own);
	return (u32)t->threads.n - 1;
}

void timeline_add(struct timeline *t, const struct timeline_thread *thread,
	const struct timeline_sample *sample)
{
	struct timeline_sample *added = vec_push(&t->at);

	*added = *sample;
	added->period *= t->every;
	added->n = t->every;
	if (!t->last_thread || !is_thread(&t->threads.at[t->last_thread - 1], thread))
		t->last_thread = thread_of(t, thread) + 1;
	added->thread = t->last_thread - 1;
}

void timeline_merge(struct timeline *t, const struct timeline *from, u32 first_row)
{
	u32 *threads = mem_alloc((from->threads.n + 1) * sizeof(*threads));

	for (size_t i = 0; i < from->threads.n; i++)
		threads[i] = thread_of(t, &from->threads.at[i]);
	vec_reserve(&t->at, t->at.n + from->at.n);
	vec_each(s, &from->at) {
		struct timeline_sample *added = vec_push(&t->at);

		*added = *s;
		added->thread = threads[s->thread];
		added->row += first_row;
	}
	t->n_timeless += from->n_timeless;
	mem_free(threads);
}

void timeline_move(struct timeline *t, const u32 *rows)
{
	size_t n = 0;

	vec_each(s, &t->at) {
		const u32 row = rows[s->row];

		if (row == TABLE_NONE)
			continue;
		t->at.at[n] = *s;
		t->at.at[n++].row = row;
	}
	t->at.n = n;
}

/* What tells samples of the same time apart. */
static u64 place_of(const struct timeline *t, const struct timeline_sample *s,
	u32 (*event_of)(const void *ctx, u32 row), const void *ctx)
{
	return (u64)t->threads.at[s->thread].tid << 32 | (u64)(s->cpu & UINT16_MAX) << 16 |
		(event_of(ctx, s->row) & UINT16_MAX);
}

void timeline_sort(struct timeline *t, u32 (*event_of)(const void *ctx, u32 row), const void *ctx)
{
	const size_t n = t->at.n;
	struct sort_item *order = mem_alloc((n + 1) * sizeof(*order));
	struct timeline_sample *sorted = mem_alloc((n + 1) * sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		order[i] = (struct sort_item){t->at.at[i].time, i};
	sort_by_key(order, n);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && order[end].key == order[first].key;)
			end++;
		if (end - first == 1)
			continue;
		for (size_t i = first; i < end; i++)
			order[i].key = place_of(t, &t->at.at[order[i].value], event_of, ctx);
		sort_by_key(order + first, end - first);
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = t->at.at[order[i].value];
	mem_free(order);
	mem_free(t->at.at);
	t->at.at = sorted;
	t->at.cap = n + 1;
}

u64 timeline_bytes(const struct timeline *t)
{
	return t ? t->at.cap * sizeof(*t->at.at) + t->threads.cap * sizeof(*t->threads.at) +
			t->strings.arena.total
		 : 0;
}

size_t timeline_find(const struct timeline *t, u64 time)
{
	return search_first(i, t->at.n, t->at.at[i].time >= time);
}
