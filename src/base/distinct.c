#include "base/distinct.h"

#include <string.h>

#include "base/hash.h"

u32 distinct_add(struct distinct *d, const void *data, size_t n)
{
	const char *text = n ? data : "";
	const u64 hash = hash_bytes(text, n);
	struct table_probe probe = table_probe(&d->index, hash);
	u32 i;

	while ((i = table_next(&d->index, &probe)) != TABLE_NONE)
		if (d->items.at[i].n == n && !memcmp(d->items.at[i].at, text, n))
			return i;
	i = (u32)d->items.n;
	table_add(&d->index, hash, i);
	vec_add(&d->items, ((struct distinct_item){arena_strdup(&d->arena, text, n), n}));
	return i;
}

u32 distinct_add_text(struct distinct *d, const char *text)
{
	return distinct_add(d, text, strlen(text));
}

void distinct_fini(struct distinct *d)
{
	vec_fini(&d->items);
	table_fini(&d->index);
	arena_fini(&d->arena);
}
