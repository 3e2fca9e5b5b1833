#include "profile/beside.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

static const u64 *values_of(const struct hist *h, const struct hist_entry *e)
{
	return h->values.at + (size_t)e->group * h->n_values;
}

static u64 hash_of(const struct hist *h, const struct hist_entry *e)
{
	return h->n_values ? hash_words(values_of(h, e), h->n_values, e->ident)
			   : hash_u64(e->ident);
}

/* The entry of `other` that is about the same; `index` has its entries. */
static const struct hist_entry *same_entry(const struct hist *other, const struct table *index,
	const struct hist *h, const struct hist_entry *e)
{
	struct table_probe probe = table_probe(index, hash_of(h, e));
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE) {
		const struct hist_entry *o = &other->entries.at[i];

		if (o->ident == e->ident &&
			(!h->n_values ||
				!memcmp(values_of(other, o), values_of(h, e), h->n_values * 8)))
			return o;
	}
	return NULL;
}

static void put_beside(struct hist *h, struct hist_beside *b, const struct hist *other)
{
	struct table index = {0};

	vec_each(e, &other->entries)
		table_add(&index, hash_of(other, e), (u32)(e - other->entries.at));
	b->self = mem_zalloc((h->entries.n + 1) * sizeof(*b->self));
	b->total = mem_zalloc((h->entries.n + 1) * sizeof(*b->total));
	for (size_t i = 0; i < h->entries.n; i++) {
		const struct hist_entry *e = same_entry(other, &index, h, &h->entries.at[i]);

		if (!e)
			continue;
		b->self[i] = e->self;
		b->total[i] = h->options->has_children ? e->total : e->self;
	}
	table_fini(&index);
}

static void *in_order(const void *from, const struct sort_item *items, size_t n, size_t size)
{
	u8 *to = mem_alloc((n + 1) * size);

	for (size_t i = 0; i < n; i++)
		memcpy(to + i * size, (const u8 *)from + items[i].value * size, size);
	return to;
}

/* The other event's order; where it has the same, entries keep theirs. */
static void sort_by_beside(struct hist *h, const struct hist_beside *first)
{
	struct sort_item *items = mem_alloc((h->entries.n + 1) * sizeof(*items));
	size_t n = h->entries.n;
	void *old;

	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){~first->total[i].period, i};
	sort_by_key(items, n);
	old = h->entries.at;
	h->entries.at = in_order(old, items, n, sizeof(*h->entries.at));
	h->entries.cap = n + 1;
	mem_free(old);
	for (u32 k = 0; k < h->n_beside; k++) {
		struct hist_beside *b = &h->beside[k];

		old = b->self;
		b->self = in_order(old, items, n, sizeof(*b->self));
		mem_free(old);
		old = b->total;
		b->total = in_order(old, items, n, sizeof(*b->total));
		mem_free(old);
	}
	mem_free(items);
}

void beside_join(struct hist *h, u32 event, bool is_first)
{
	struct hist_beside *b = &h->beside[h->n_beside];
	struct hist other;

	assert(h->n_beside < HIST_BESIDE_MAX);
	hist_init(&other, h->profile, h->calls, event, h->options);
	*b = (struct hist_beside){.event = event, .all = other.all};
	put_beside(h, b, &other);
	h->n_beside++;
	hist_fini(&other);
	if (!is_first)
		return;
	h->first = b;
	sort_by_beside(h, b);
}

const struct hist_beside *beside_find(const struct hist *h, u32 event)
{
	for (u32 k = 0; k < h->n_beside; k++)
		if (h->beside[k].event == event)
			return &h->beside[k];
	return NULL;
}
