#include "profile/beside.h"

#include <string.h>

#include "base/hash.h"
#include "profile/histsort.h"

static const u64 *values_of(const struct hist *h, const struct hist_entry *e)
{
	return h->values.at + (size_t)e->group * h->n_values;
}

static u64 hash_of(const struct hist *h, const struct hist_entry *e)
{
	return h->n_values ? hash_words(values_of(h, e), h->n_values, e->ident)
			   : hash_u64(e->ident);
}

/* The entry of `other` that is about the same; `index` has its entries. UINT32_MAX: none. */
static u32 same_entry(const struct hist *other, const struct table *index, const struct hist *h,
	const struct hist_entry *e)
{
	struct table_probe probe = table_probe(index, hash_of(h, e));
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE) {
		const struct hist_entry *o = &other->entries.at[i];

		if (o->ident == e->ident &&
			(!h->n_values ||
				!memcmp(values_of(other, o), values_of(h, e), h->n_values * 8)))
			return i;
	}
	return UINT32_MAX;
}

static void index_entries(const struct hist *h, struct table *index)
{
	vec_each(e, &h->entries)
		table_add(index, hash_of(h, e), (u32)(e - h->entries.at));
}

static void put_beside(struct hist *h, struct hist *other)
{
	struct hist_beside b = {other, mem_alloc((h->entries.n + 1) * sizeof(*b.entries))};
	struct table index = {0};

	index_entries(other, &index);
	for (size_t i = 0; i < h->entries.n; i++)
		b.entries[i] = same_entry(other, &index, h, &h->entries.at[i]);
	table_fini(&index);
	vec_add(&h->beside, b);
}

static struct hist *hist_of(const struct hist *h, u32 event)
{
	struct hist *other = mem_alloc(sizeof(*other));

	hist_init(other, h->profile, h->calls, event, h->options);
	return other;
}

void beside_join(struct hist *h, u32 event, bool is_first)
{
	put_beside(h, hist_of(h, event));
	if (!is_first)
		return;
	h->first = (u32)h->beside.n;
	hist_sort(h);
}

/* Entries of nothing for those that only the other one has. */
static void add_missing(struct hist *h, const struct hist *other)
{
	struct table index = {0};

	index_entries(h, &index);
	vec_each(o, &other->entries) {
		struct hist_entry e = {.ident = o->ident, .symbol = o->symbol, .depth = o->depth};

		if (same_entry(h, &index, other, o) != UINT32_MAX)
			continue;
		e.group = hist_group(h, values_of(other, o));
		vec_add(&h->entries, e);
	}
	table_fini(&index);
}

void beside_gather(struct hist *h, u32 n, u32 first)
{
	VEC(struct hist *) others = {0};

	for (u32 k = 1; k < n; k++)
		vec_add(&others, hist_of(h, h->event + k));
	vec_each(other, &others)
		add_missing(h, *other);
	vec_each(other, &others)
		put_beside(h, *other);
	vec_fini(&others);
	h->is_together = true;
	h->first = first < n ? first : 0;
	hist_sort(h);
}

const struct hist_beside *beside_find(const struct hist *h, u32 event)
{
	vec_each(b, &h->beside)
		if (b->hist->event == event)
			return b;
	return NULL;
}

const struct hist_entry *beside_entry(const struct hist *h, const struct hist_beside *b,
	const struct hist_entry *e)
{
	static const struct hist_entry none;
	u32 i = b->entries[e - h->entries.at];

	return i == UINT32_MAX ? &none : &b->hist->entries.at[i];
}
