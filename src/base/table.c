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

static void grow(struct table *t)
{
	struct table old = *t;
	u64 n = old.slots ? ((u64)old.mask + 1) * 2 : SLOTS_MIN;

	t->slots = mem_zalloc(n * sizeof(*t->slots));
	t->mask = (u32)(n - 1);
	for (u64 i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i])
			put(t, old.slots[i]);
	mem_free(old.slots);
}

void table_add(struct table *t, u64 hash, u32 position)
{
	/* At most 5/8 full: linear probing stays at about two cache lines a miss. */
	if (!t->slots || ((u64)t->n + 1) * 8 > ((u64)t->mask + 1) * 5)
		grow(t);
	put(t, (hash & 0xffffffff00000000ULL) | (position + 1));
	t->n++;
}

void table_clear(struct table *t)
{
	if (t->slots)
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	t->n = 0;
}

void table_fini(struct table *t)
{
	mem_free(t->slots);
	memset(t, 0, sizeof(*t));
}
