/*
 * memo.h - a cache of recent lookups, over the caller's vector: a table that forgets.
 *
 * Each slot refers to the entry that was stored there last. The entries lie close together in the vector,
 * however many slots there are, because untouched memory costs two page faults, one for the first read
 * and one for the first write, and the second one stalls the other threads.
 *
 *     u32 *slot = memo_slot(&m, hash);
 *     if (*slot && entries.at[*slot - 1] is the one) ...
 *     memo_keep(&entries, slot, one);      forgets the entry that was there
 *
 * Owns     its slots; what the entries own is the caller's
 * Limits   a power of two of slots, up to 2^31
 */
#ifndef PACE_BASE_MEMO_H
#define PACE_BASE_MEMO_H

#include <string.h>

#include "base/mem.h"
#include "base/types.h"
#include "base/vec.h"

struct memo {
	u32 *slots; /* position + 1; 0: empty */
	u32 mask;   /* number of slots - 1 */
};

static inline struct memo memo_of(u32 n_slots)
{
	return (struct memo){mem_zalloc(n_slots * sizeof(u32)), n_slots - 1};
}

static inline void memo_fini(struct memo *m)
{
	mem_free(m->slots);
	*m = (struct memo){0};
}

static inline u32 *memo_slot(const struct memo *m, u64 hash)
{
	return &m->slots[hash & m->mask];
}

/* Forgets all entries; the caller may empty the vector too. */
static inline void memo_clear(struct memo *m)
{
	memset(m->slots, 0, ((size_t)m->mask + 1) * sizeof(*m->slots));
}

#define memo_keep(entries, slot, entry)                                       \
	((void)(*(slot) || (vec_push(entries), *(slot) = (u32)(entries)->n)), \
		(void)((entries)->at[*(slot)-1] = (entry)))

#endif
