#include "profile/rows/histsort.h"

#include "base/sort.h"
#include "profile/rows/key.h"

/* Sorts the items by a new key; items with equal keys keep their order. */
static void sort_again(const struct hist *h, struct sort_item *items,
	u64 (*key)(const struct hist *h, const struct hist_entry *e, const u32 *ranks),
	const u32 *ranks)
{
	for (size_t i = 0; i < h->entries.n; i++)
		items[i].key = key(h, &h->entries.at[items[i].value], ranks);
	sort_by_key(items, h->entries.n);
}

static u64 by_rank_of_symbol(const struct hist *h, const struct hist_entry *e, const u32 *ranks)
{
	(void)h;
	return ranks[e->symbol];
}

static u64 by_rank_of_dso(const struct hist *h, const struct hist_entry *e, const u32 *ranks)
{
	return ranks[h->profile->symbols.at[e->symbol].dso];
}

static u64 by_rank_of_group(const struct hist *h, const struct hist_entry *e, const u32 *ranks)
{
	(void)h;
	return ranks[e->group];
}

static u64 by_depth(const struct hist *h, const struct hist_entry *e, const u32 *ranks)
{
	(void)h;
	(void)ranks;
	return e->depth;
}

static void sort_by_group_key(const struct hist *h, struct sort_item *items, const struct key *key)
{
	u32 *ranks = key_ranks(key, h);

	sort_again(h, items,
		key->frame == KEY_DSO                ? by_rank_of_dso
			: key->frame == KEY_NO_FRAME ? by_rank_of_group
						     : by_rank_of_symbol,
		ranks);
	mem_free(ranks);
}

/* Sorts the items by the figure of one event, the largest first. */
static void sort_by_event(const struct hist *h, struct sort_item *items, const struct key *key,
	u32 k)
{
	for (size_t i = 0; i < h->entries.n; i++)
		items[i].key = ~key->figure(h, &h->entries.at[items[i].value], k);
	sort_by_key(items, h->entries.n);
}

static void sort_by_figure(const struct hist *h, struct sort_item *items, const struct key *key)
{
	const struct hist_options *o = h->options;

	if (!key->figure)
		return;
	if (key == key_total && o->has_children && o->prefers_callers)
		sort_again(h, items, by_depth, NULL);
	for (u32 k = hist_n_parts(h); k-- > 0;)
		sort_by_event(h, items, key, k);
	if (!h->table.are_columns && h->table.order)
		sort_by_event(h, items, key, h->table.order);
}

static void take_order(struct hist *h, const struct sort_item *items)
{
	const size_t n = h->entries.n;
	struct hist_entry *sorted = mem_alloc((n + 1) * sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		sorted[i] = h->entries.at[items[i].value];
	mem_free(h->entries.at);
	h->entries.at = sorted;
	h->entries.cap = n;
}

/*
 * Rows are sorted by their shares. In a large report most rows have the share of one sample, so their names
 * decide, and there are far fewer distinct names than comparisons of names. So each key ranks its values once,
 * and rows are sorted by numbers in linear time, the least important key first. The result does not depend on
 * the order of counting.
 */
void hist_sort(struct hist *h)
{
	struct sort_item *items = mem_alloc((h->entries.n + 1) * sizeof(*items));
	const struct hist_options *o = h->options;

	for (size_t i = 0; i < h->entries.n; i++)
		items[i] = (struct sort_item){0, i};
	/* The keys in their order decide between rows that are otherwise equal. */
	for (size_t k = o->n_keys; k-- > 0;)
		sort_by_group_key(h, items, o->keys[k]);
	if (!o->n_order) {
		sort_by_figure(h, items, key_self);
		if (o->has_children)
			sort_by_figure(h, items, key_total);
	}
	for (size_t k = o->n_order; k-- > 0;) {
		if (o->order[k]->is_value)
			sort_by_figure(h, items, o->order[k]);
		else
			sort_by_group_key(h, items, o->order[k]);
	}
	if (h->table.are_columns && h->table.order)
		sort_by_event(h, items, key_total, h->table.order);
	take_order(h, items);
	mem_free(items);
}
