#include "base/table.h"

#include "base/mem.h"

enum { SLOTS_MIN = 64 };

static void put(struct table *t, u64 slot)
{
	u32 i = (u32)(slot >> 32) & t->mask;

	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = slot;
}

static void resize(struct table *t, u64 n)
{
	struct table old = *t;

	/*
	 * Written at once: pages that are first read would be mapped twice, the second time with a
	 * TLB shootdown.
	 */
	t->slots = memset(mem_alloc(n * sizeof(*t->slots)), 0, n * sizeof(*t->slots));
	t->mask = (u32)(n - 1);
	for (u64 i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i])
			put(t, old.slots[i]);
	mem_free(old.slots);
}

/* At most 5/8 full: linear probing stays at about two cache lines a miss. */
static bool has_room(u64 slots, u64 n)
{
	return n * 8 <= slots * 5;
}

static u64 slots_of(const struct table *t)
{
	return t->slots ? (u64)t->mask + 1 : 0;
}

void table_reserve(struct table *t, u64 n)
{
	u64 slots = MAX(slots_of(t), (u64)SLOTS_MIN);

	while (!has_room(slots, n))
		slots *= 2;
	if (slots > slots_of(t))
		resize(t, slots);
}

void table_add(struct table *t, u64 hash, u32 position)
{
	/* A small table grows faster, so that entries are rehashed less often. */
	if (!has_room(slots_of(t), (u64)t->n + 1))
		table_reserve(t, ((u64)t->n + 1) * (t->n < 1 << 16 ? 3 : 2));
	put(t, (hash & 0xffffffff00000000ULL) | (position + 1));
	t->n++;
}

void table_clear(struct table *t)
{
	if (t->n)
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	t->n = 0;
}

void table_fini(struct table *t)
{
	mem_free(t->slots);
	memset(t, 0, sizeof(*t));
}
