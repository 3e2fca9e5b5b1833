#include "profile/rows/key.h"

#include <stdlib.h>
#include <string.h>

static int compare_u64(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

struct ranking {
	const struct profile *profile;
	const struct hist *hist;
	const struct key *key;
};

static int compare_groups(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;

	u64 x = hist_label(r->hist, *(const u32 *)a, r->key),
	    y = hist_label(r->hist, *(const u32 *)b, r->key);

	if (r->key->is_descending) {
		u64 swapped = x;

		x = y;
		y = swapped;
	}
	return r->key->compare ? r->key->compare(r->profile, x, y) : compare_u64(x, y);
}

static int compare_dsos(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;

	return strcmp(r->profile->dsos.at[*(const u32 *)a].name,
		r->profile->dsos.at[*(const u32 *)b].name);
}

static const char *source_of(const struct ranking *r, u32 symbol)
{
	const struct profile_symbol *s = &r->profile->symbols.at[symbol];
	const char *source = r->key->frame == KEY_LINE ? s->line : s->file;

	return source ? source : "";
}

static int compare_sizes(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;
	const struct profile_symbol *x = &r->profile->symbols.at[*(const u32 *)a];
	const struct profile_symbol *y = &r->profile->symbols.at[*(const u32 *)b];

	return compare_u64(x->end - x->start, y->end - y->start);
}

static int compare_sources(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;

	return strcmp(source_of(r, *(const u32 *)a), source_of(r, *(const u32 *)b));
}

static int compare_names(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;
	const struct profile_symbol *x = &r->profile->symbols.at[*(const u32 *)a];
	const struct profile_symbol *y = &r->profile->symbols.at[*(const u32 *)b];
	int c = strcmp(x->name, y->name);

	if (!c)
		c = strcmp(r->profile->dsos.at[x->dso].name, r->profile->dsos.at[y->dso].name);
	if (!c)
		c = compare_u64(x->start, y->start);
	/* Functions with the same start differ in lines, or one of them is inlined. */
	if (!c && x->line && y->line)
		c = strcmp(x->line, y->line);
	if (!c && x->file && y->file)
		c = strcmp(x->file, y->file);
	return c ? c : (int)x->is_inlined - (int)y->is_inlined;
}

/* Ranks 0 .. n - 1 by a comparison. */
static u32 *rank_by(size_t n, int (*compare)(const void *a, const void *b, void *ctx),
	struct ranking *r)
{
	u32 *order = mem_alloc((n + 1) * sizeof(*order)),
	    *ranks = mem_zalloc((n + 1) * sizeof(*ranks)), rank = 0;

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare, r);
	for (size_t i = 0; i < n; i++) {
		rank += i && compare(&order[i - 1], &order[i], r) != 0;
		ranks[order[i]] = rank;
	}
	mem_free(order);
	return ranks;
}

static int compare_dsos_of(const void *a, const void *b, void *profile)
{
	const struct sort_item *x = a, *y = b;
	const struct profile *p = profile;
	int c = strcmp(p->dsos.at[p->symbols.at[x->value].dso].name,
		p->dsos.at[p->symbols.at[y->value].dso].name);

	return c ? c : compare_u64(x->value, y->value);
}

/* Sorts equal addresses by the names of their DSOs. */
static void order_by_dso(const struct profile *p, struct sort_item *items, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && items[end].key == items[i].key;)
			end++;
		if (end - i > 1)
			qsort_r(items + i, end - i, sizeof(*items), compare_dsos_of, (void *)p);
	}
}

/*
 * Ranks functions by name, then addresses without a name. There may be many of the latter, and numbers
 * sort fast.
 */
static u32 *rank_symbols(struct ranking *r)
{
	const struct profile *p = r->profile;
	u32 *named = mem_alloc(p->symbols.n * sizeof(*named)),
	    *ranks = mem_zalloc(p->symbols.n * sizeof(*ranks));
	struct sort_item *nameless = mem_alloc(p->symbols.n * sizeof(*nameless));
	size_t n_named = 0, n_nameless = 0;

	for (u32 i = 1; i < p->symbols.n; i++) {
		if (p->symbols.at[i].name)
			named[n_named++] = i;
		else
			nameless[n_nameless++] = (struct sort_item){p->symbols.at[i].start, i};
	}
	qsort_r(named, n_named, sizeof(*named), compare_names, r);
	sort_by_key(nameless, n_nameless);
	order_by_dso(p, nameless, n_nameless);
	for (size_t i = 0; i < n_named; i++)
		ranks[named[i]] = i;
	for (size_t i = 0; i < n_nameless; i++)
		ranks[nameless[i].value] = n_named + i;
	mem_free(named);
	mem_free(nameless);
	return ranks;
}

u32 *key_ranks(const struct key *key, const struct hist *h)
{
	struct ranking r = {h->profile, h, key};

	if (key->frame == KEY_SYMBOL)
		return rank_symbols(&r);
	if (key->frame == KEY_DSO)
		return rank_by(h->profile->dsos.n, compare_dsos, &r);
	if (key->frame == KEY_SIZE)
		return rank_by(h->profile->symbols.n, compare_sizes, &r);
	if (key->frame == KEY_LINE || key->frame == KEY_FILE)
		return rank_by(h->profile->symbols.n, compare_sources, &r);
	return rank_by(h->n_groups, compare_groups, &r);
}
