#include "profile/hist.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "profile/key.h"

/* ---- which symbols share an entry ---- */

static u32 *make_idents(const struct profile *p, const struct hist_options *o)
{
	u32 *ident = mem_zalloc(p->symbols.n * sizeof(*ident));
	bool by_symbol = false, by_dso = false;

	for (size_t i = 0; i < o->n_keys; i++) {
		by_symbol |= o->keys[i]->frame == KEY_SYMBOL;
		by_dso |= o->keys[i]->frame == KEY_DSO;
	}
	for (u32 i = 1; i < p->symbols.n; i++) {
		ident[i] = by_symbol ? i : 0;
		if (by_symbol || !by_dso)
			continue;
		/* By name: two libraries called the same are one row. There are few DSOs, each found once. */
		for (u32 k = 0; k < p->dsos.n; k++) {
			if (p->dsos.at[k].name == p->dsos.at[p->symbols.at[i].dso].name) {
				ident[i] = k + 1;
				break;
			}
		}
	}
	return ident;
}

/*
 * For each node the nearest caller of the same entry, by one walk through the tree: `last` holds, for each ident,
 * the innermost node on the way down to where the walk is.
 */
static u32 *make_outers(const struct hist *h)
{
	const struct calls_node *nodes = h->calls->nodes.at;
	u32 *outer = mem_zalloc(h->calls->nodes.n * sizeof(*outer));
	u32 *last = mem_zalloc(h->profile->symbols.n * sizeof(*last) + h->profile->dsos.n * sizeof(*last) + sizeof(*last));
	u32 node = nodes[0].first_child;

	while (node) {
		u32 *mine = &last[h->ident[nodes[node].symbol]];

		outer[node] = *mine;
		*mine = node;
		if (nodes[node].first_child) {
			node = nodes[node].first_child;
			continue;
		}
		/* Up, until there is a sibling to go on with. */
		for (;;) {
			last[h->ident[nodes[node].symbol]] = outer[node];
			if (nodes[node].next_sibling || !nodes[node].parent)
				break;
			node = nodes[node].parent;
		}
		node = nodes[node].next_sibling;
	}
	mem_free(last);
	return outer;
}

/* ---- rows into groups ---- */

/* The labels that the keys look at; the others must not split entries. */
static unsigned labels_of(const struct hist_options *o)
{
	unsigned labels = 0;

	for (size_t i = 0; i < o->n_keys; i++)
		labels |= o->keys[i]->labels;
	return labels;
}

static u32 group_of(struct hist *h, struct table *index, const u64 labels[LABEL_COUNT])
{
	u64 hash = hash_words(labels, LABEL_COUNT, 0);
	struct table_probe probe = table_probe(index, hash);
	struct hist_group *g;
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (!memcmp(h->groups.at[i].labels, labels, sizeof(h->groups.at[i].labels)))
			return i;
	table_add(index, hash, h->groups.n);
	g = vec_push(&h->groups);
	memset(g, 0, sizeof(*g));
	memcpy(g->labels, labels, sizeof(g->labels));
	return h->groups.n - 1;
}

/* Sorts the event's rows by group and node, and sums those that fall together. */
static void group_rows(struct hist *h)
{
	const struct profile *p = h->profile;
	unsigned wanted = labels_of(h->options);
	VEC(struct sort_item) items = {0};
	struct table index = {0};
	u32 group = 0;

	vec_each(row, &p->rows) {
		u64 labels[LABEL_COUNT] = {0};
		size_t i = row - p->rows.at;

		if (row->event != h->event)
			continue;
		for (unsigned k = 0; k < LABEL_COUNT; k++)
			labels[k] = wanted >> k & 1 ? row->labels[k] : 0;
		/* Neighbours mostly belong together. */
		if (!h->groups.n || memcmp(h->groups.at[group].labels, labels, sizeof(labels)))
			group = group_of(h, &index, labels);
		vec_add(&items, ((struct sort_item){(u64)group << 32 | h->calls->of_row[i], i}));
	}
	sort_by_key(items.at, items.n);
	vec_each(item, &items) {
		struct hist_group *g = &h->groups.at[item->key >> 32];
		const struct profile_row *row = &p->rows.at[item->value];
		u32 node = (u32)item->key;
		struct hist_own *own;

		if (!g->n)
			g->first = h->owns.n;
		if (!g->n || h->owns.at[h->owns.n - 1].node != node) {
			vec_add(&h->owns, ((struct hist_own){.node = node}));
			g->n++;
		}
		own = &h->owns.at[h->owns.n - 1];
		own->value.n_samples += row->n_samples;
		own->value.period += row->period;
		h->all.n_samples += row->n_samples;
		h->all.period += row->period;
	}
	vec_fini(&items);
	table_fini(&index);
}

/* ---- entries ---- */

void hist_view_init(struct hist_view *v, const struct hist *h)
{
	memset(v, 0, sizeof(*v));
	v->hist = h;
	v->group = UINT32_MAX;
	v->own = mem_zalloc(h->calls->nodes.n * sizeof(*v->own));
	v->total = mem_zalloc(h->calls->nodes.n * sizeof(*v->total));
	v->scratch = mem_zalloc(h->calls->nodes.n * sizeof(*v->scratch));
}

void hist_view_fini(struct hist_view *v)
{
	mem_free(v->own);
	mem_free(v->total);
	mem_free(v->scratch);
	vec_fini(&v->touched);
	vec_fini(&v->by_ident);
}

/* Puts the touched nodes in ascending order. */
static void order_touched(struct hist_view *v)
{
	VEC(struct sort_item) items = {0};

	/* When many are touched, looking at all is cheaper than sorting some. */
	if (v->touched.n > v->hist->calls->nodes.n / 16) {
		v->touched.n = 0;
		for (u32 node = 1; node < v->hist->calls->nodes.n; node++)
			if (v->total[node].n_samples)
				vec_add(&v->touched, node);
		return;
	}
	vec_each(node, &v->touched)
		vec_add(&items, ((struct sort_item){*node, 0}));
	sort_by_key(items.at, items.n);
	for (size_t i = 0; i < items.n; i++)
		v->touched.at[i] = (u32)items.at[i].key;
	vec_fini(&items);
}

void hist_view_show(struct hist_view *v, u32 group)
{
	const struct hist *h = v->hist;
	const struct calls_node *nodes = h->calls->nodes.at;
	const struct hist_group *g = &h->groups.at[group];

	if (v->group == group)
		return;
	vec_each(node, &v->touched)
		v->own[*node] = v->total[*node] = (struct hist_value){0};
	v->touched.n = v->by_ident.n = 0;
	v->group = group;
	for (size_t i = g->first; i < g->first + g->n; i++) {
		const struct hist_own *own = &h->owns.at[i];

		v->own[own->node] = own->value;
		/* A node with a total has been touched, and so have its parents. */
		for (u32 node = own->node; node && !v->total[node].n_samples; node = nodes[node].parent) {
			v->total[node].n_samples = 1;
			vec_add(&v->touched, node);
		}
	}
	order_touched(v);
	vec_each(node, &v->touched)
		v->total[*node] = v->own[*node];
	for (size_t i = v->touched.n; i-- > 0;) {
		u32 node = v->touched.at[i], parent = nodes[node].parent;

		if (!parent)
			continue;
		v->total[parent].n_samples += v->total[node].n_samples;
		v->total[parent].period += v->total[node].period;
	}
}

const struct sort_item *hist_view_nodes(struct hist_view *v, u32 ident, size_t *ret_n)
{
	size_t low = 0, high, end;

	if (!v->by_ident.n) {
		vec_each(node, &v->touched)
			vec_add(&v->by_ident,
				((struct sort_item){v->hist->ident[v->hist->calls->nodes.at[*node].symbol], *node}));
		sort_by_key(v->by_ident.at, v->by_ident.n);
	}
	for (high = v->by_ident.n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (v->by_ident.at[middle].key < ident)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < v->by_ident.n && v->by_ident.at[end].key == ident;)
		end++;
	*ret_n = end - low;
	return v->by_ident.at + low;
}

static struct hist_entry *entry_of(struct hist *h, struct table *index, u32 group, u32 node)
{
	u32 symbol = h->calls->nodes.at[node].symbol, ident = h->ident[symbol], i;
	u64 hash = hash_u64((u64)group << 32 | ident);
	struct table_probe probe = table_probe(index, hash);
	struct hist_entry *e;

	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (h->entries.at[i].group == group && h->entries.at[i].ident == ident)
			return &h->entries.at[i];
	table_add(index, hash, h->entries.n);
	e = vec_push(&h->entries);
	memset(e, 0, sizeof(*e));
	memcpy(e->labels, h->groups.at[group].labels, sizeof(e->labels));
	e->group = group;
	e->ident = ident;
	e->symbol = symbol;
	e->depth = h->calls->nodes.at[node].depth;
	return e;
}

static void make_entries(struct hist *h)
{
	struct table index = {0};
	struct hist_view view;

	hist_view_init(&view, h);
	for (u32 g = 0; g < h->groups.n; g++) {
		hist_view_show(&view, g);
		vec_each(node, &view.touched) {
			const struct hist_value *own = &view.own[*node], *total = &view.total[*node];
			struct hist_entry *e;

			if (!own->n_samples && !h->options->has_children)
				continue;
			e = entry_of(h, &index, g, *node);
			e->self.n_samples += own->n_samples;
			e->self.period += own->period;
			e->depth = MIN(e->depth, h->calls->nodes.at[*node].depth);
			if (!h->options->has_children || h->outer[*node])
				continue;
			e->total.n_samples += total->n_samples;
			e->total.period += total->period;
		}
	}
	hist_view_fini(&view);
	table_fini(&index);
}

/* ---- order ---- */

static int descending(u64 a, u64 b)
{
	return a > b ? -1 : a < b;
}

static int compare_entries(const void *x, const void *y, void *ctx)
{
	const struct hist_entry *a = x, *b = y;
	const struct hist *h = ctx;
	int r;

	if (h->options->has_children) {
		r = descending(a->total.period, b->total.period);
		if (!r && h->options->prefers_callers)
			r = -descending(a->depth, b->depth);
		if (r)
			return r;
	}
	r = descending(a->self.period, b->self.period);
	for (size_t i = 0; i < h->options->n_keys && !r; i++)
		r = h->options->keys[i]->compare(h->profile, a, b);
	/* Nothing may depend on who counted first. */
	if (!r)
		r = -descending(h->profile->symbols.at[a->symbol].start, h->profile->symbols.at[b->symbol].start);
	return r;
}

/*
 * Most of many rows stand for one or two samples and differ only in their names: the figures are sorted first,
 * in linear time, and only rows with the same ones are compared.
 */
static void sort_entries(struct hist *h)
{
	bool by_total = h->options->has_children;
	struct sort_item *items = mem_alloc((h->entries.n + 1) * sizeof(*items));
	struct hist_entry *sorted = mem_alloc((h->entries.n + 1) * sizeof(*sorted));

	vec_each(e, &h->entries)
		items[e - h->entries.at] =
			(struct sort_item){~(by_total ? e->total.period : e->self.period), e - h->entries.at};
	sort_by_key(items, h->entries.n);
	for (size_t i = 0; i < h->entries.n; i++)
		sorted[i] = h->entries.at[items[i].value];
	for (size_t i = 0, j; i < h->entries.n; i = j) {
		for (j = i + 1; j < h->entries.n && items[j].key == items[i].key;)
			j++;
		if (j - i > 1)
			qsort_r(sorted + i, j - i, sizeof(*sorted), compare_entries, h);
	}
	mem_free(items);
	mem_free(h->entries.at);
	h->entries.at = sorted;
	h->entries.cap = h->entries.n;
}

void hist_init(struct hist *h, const struct profile *p, const struct calls *c, u32 event,
	const struct hist_options *options)
{
	memset(h, 0, sizeof(*h));
	h->profile = p;
	h->calls = c;
	h->event = event;
	h->options = options;
	h->ident = make_idents(p, options);
	h->outer = make_outers(h);
	group_rows(h);
	make_entries(h);
	sort_entries(h);
}

void hist_fini(struct hist *h)
{
	vec_fini(&h->entries);
	vec_fini(&h->groups);
	vec_fini(&h->owns);
	mem_free(h->ident);
	mem_free(h->outer);
}
