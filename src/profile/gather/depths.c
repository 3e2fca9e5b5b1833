#include "profile/gather/depths.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"

enum {
	ROOT_FRAME = 256, /* room for the root frame itself, above the highest known address */
	STACK_MAX = 64 << 20,
};

void depths_fini(struct depths *d)
{
	vec_fini(&d->threads);
	vec_fini(&d->cut);
	table_fini(&d->by_tid);
}

static u32 thread_of(struct depths *d, u32 pid, u32 tid)
{
	u64 hash = hash_mix(pid, tid);
	struct table_probe probe = table_probe(&d->by_tid, hash);
	u32 i;

	while ((i = table_next(&d->by_tid, &probe)) != TABLE_NONE)
		if (d->threads.at[i].tid == tid && d->threads.at[i].pid == pid)
			return i;
	table_add(&d->by_tid, hash, d->threads.n);
	vec_add(&d->threads, ((struct depths_thread){pid, tid, 0}));
	return (u32)d->threads.n - 1;
}

void depths_add_top(struct depths *d, u32 pid, u32 tid, u64 top)
{
	u32 i = thread_of(d, pid, tid);
	struct depths_thread *t = &d->threads.at[i];

	t->top = MAX(t->top, top);
}

void depths_add_cut(struct depths *d, u32 pid, u32 tid, u64 sp)
{
	u32 i = thread_of(d, pid, tid);

	if (d->cut.n < DEPTHS_CUT_MAX)
		vec_add(&d->cut, ((struct depths_cut){i, sp}));
}

void depths_merge(struct depths *d, const struct depths *from)
{
	vec_each(t, &from->threads)
		depths_add_top(d, t->pid, t->tid, t->top);
	vec_each(c, &from->cut)
		depths_add_cut(d, from->threads.at[c->thread].pid, from->threads.at[c->thread].tid,
			c->sp);
}

SORT_NUMBERS(by_size, u64)

u64 depths_enough(const struct depths *d, double share)
{
	VEC(u64) sizes = {0};
	u64 enough = 0;

	vec_each(c, &d->cut) {
		u64 size = d->threads.at[c->thread].top - c->sp;

		/* A larger distance is not within one stack: a handler ran on another one. */
		if (d->threads.at[c->thread].top > c->sp && size < STACK_MAX)
			vec_add(&sizes, size + ROOT_FRAME);
	}
	if (sizes.n) {
		qsort(sizes.at, sizes.n, sizeof(*sizes.at), by_size);
		enough = sizes.at[MIN((size_t)(share * (double)sizes.n), sizes.n - 1)];
	}
	vec_fini(&sizes);
	return enough;
}
