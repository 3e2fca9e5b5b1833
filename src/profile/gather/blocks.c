#include "profile/gather/blocks.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/search.h"
#include "event/abi.h"
#include "record/branch.h"

struct blocks_worker {
	struct blocks blocks;
};

static bool has_cycles(const struct event_attr *a)
{
	return a->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		a->branch_sample_type & PERF_SAMPLE_BRANCH_ANY &&
		!(a->branch_sample_type &
			(PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS));
}

bool blocks_are_there(const struct session *s)
{
	vec_each(e, &s->reader.events)
		if (has_cycles(&e->attr))
			return true;
	return false;
}

static void add(struct blocks *b, const struct block *block)
{
	u64 hash = hash_mix(hash_mix(block->start, block->end), block->dso);
	struct table_probe probe = table_probe(&b->index, hash);
	u32 i;

	while ((i = table_next(&b->index, &probe)) != TABLE_NONE) {
		struct block *known = &b->at.at[i];

		if (known->dso != block->dso || known->start != block->start ||
			known->end != block->end)
			continue;
		known->n_times += block->n_times;
		known->n_cycles += block->n_cycles;
		return;
	}
	table_add(&b->index, hash, (u32)b->at.n);
	vec_add(&b->at, *block);
}

static void add_run(struct blocks_worker *w, const struct thread_state *state, u64 start, u64 end,
	u64 cycles)
{
	const struct map *map;

	if (!cycles || end < start || end - start > BLOCKS_REACH)
		return;
	map = state->user ? machine_find(state->user, start) : NULL;
	if (!map && state->kernel)
		map = machine_find(state->kernel, start);
	if (map && end < map->end)
		add(&w->blocks,
			&(struct block){map->dso->id, map_offset(map, start), map_offset(map, end),
				1, cycles});
}

/* per sample: entry 0 is the newest; each tells the cycles since the branch before it, which is the next entry */
static void take_branches(void *ctx, struct visit *v)
{
	const struct sample_branches *branches = &v->sample->branches;
	const struct event_list *events = &v->visits->trace->session.reader.events;
	struct blocks_worker *w = ctx;
	const struct thread_state *state;

	if (v->is_next || branches->n < 2 || !has_cycles(&events->at[v->taken_by].attr))
		return;
	state = visit_state(v);
	for (u64 i = 0; i + 1 < branches->n; i++) {
		struct branch b = branch_at(branches->entries, i);

		add_run(w, state, branch_at(branches->entries, i + 1).to, b.from,
			branch_cycles(b.flags));
	}
}

static int by_place(const void *left, const void *right)
{
	const struct block *a = left, *b = right;

	if (a->dso != b->dso)
		return a->dso < b->dso ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static void *join(void *blocks)
{
	(void)blocks;
	return mem_zalloc(sizeof(struct blocks_worker));
}

static void leave(void *blocks, void *worker)
{
	struct blocks_worker *w = worker;
	struct blocks *b = blocks;

	vec_each(block, &w->blocks.at)
		add(b, block);
	blocks_fini(&w->blocks);
	mem_free(w);
}

struct visitor blocks_visitor(struct blocks *b)
{
	return (struct visitor){.wanted = PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK,
		.ctx = b,
		.join = join,
		.sample = take_branches,
		.leave = leave};
}

void blocks_sort(struct blocks *b)
{
	if (b->at.n)
		qsort(b->at.at, b->at.n, sizeof(*b->at.at), by_place);
	table_clear(&b->index);
}

void blocks_fini(struct blocks *b)
{
	vec_fini(&b->at);
	table_fini(&b->index);
}

const struct block *blocks_between(const struct blocks *b, u32 dso, u64 start, u64 end,
	size_t *ret_n)
{
	const struct block *at = b->at.at;
	const size_t low = search_first(i, b->at.n,
		at[i].dso > dso || (at[i].dso == dso && at[i].start >= start));
	size_t last;

	for (last = low; last < b->at.n && b->at.at[last].dso == dso && b->at.at[last].start < end;)
		last++;
	*ret_n = last - low;
	return *ret_n ? &b->at.at[low] : NULL;
}
