/*
 * table.h - a hash index over the caller's array.
 *
 * The entries live in the caller's vector, in the order they were added; the table only finds their
 * positions. So iteration is deterministic, an entry can be of any shape, and a slot is 8 bytes.
 *
 *     u32 i;
 *     struct table_probe probe = table_probe(&t, hash);
 *     while ((i = table_next(&t, &probe)) != TABLE_NONE)
 *             if (entries.at[i].key == key)
 *                     return &entries.at[i];
 *     table_add(&t, hash, entries.n);     then push the entry
 *
 * Owns     its slots
 * Limits   2^32 - 2 entries
 * Threads  readers may share a table that nobody changes
 */
#ifndef PACE_BASE_TABLE_H
#define PACE_BASE_TABLE_H

#include "base/types.h"

#define TABLE_NONE 0xffffffffu

struct table {
	u64 *slots; /* low half: position + 1, 0 = empty; high half: the hash's high half */
	u32 mask;   /* number of slots - 1 */
	u32 n;
};

struct table_probe {
	u32 slot;
	u32 tag;
};

static inline struct table_probe table_probe(const struct table *t, u64 hash)
{
	u32 tag = (u32)(hash >> 32);

	return (struct table_probe){.slot = tag & t->mask, .tag = tag};
}

/* The position of the next entry that may match, or TABLE_NONE. */
static inline u32 table_next(const struct table *t, struct table_probe *p)
{
	if (!t->slots)
		return TABLE_NONE;
	for (;;) {
		u64 slot = t->slots[p->slot];

		if (!slot)
			return TABLE_NONE;
		p->slot = (p->slot + 1) & t->mask;
		if ((u32)(slot >> 32) == p->tag)
			return (u32)slot - 1;
	}
}

/* Makes `position` findable under `hash`. */
void table_add(struct table *t, u64 hash, u32 position);
/* Makes room for n entries at once. */
void table_reserve(struct table *t, u64 n);
void table_clear(struct table *t); /* forgets the entries, keeps the memory */
void table_fini(struct table *t);

#endif
