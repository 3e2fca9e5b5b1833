#include "view/rows/hierrows.h"

#include "base/hash.h"
#include "base/sort.h"

static void add_value(struct hist_value *sum, struct hist_value v)
{
	sum->n_samples += v.n_samples;
	sum->period += v.period;
}

static void add_values(const struct hist *h, struct hist_values *sum, const struct hist_values *v)
{
	add_value(&sum->self, v->self);
	add_value(&sum->total, v->total);
	for (size_t i = 0; i < h->options->n_sums; i++) {
		sum->sums[i] += v->sums[i];
		sum->total_sums[i] += v->total_sums[i];
	}
	for (size_t i = 0; i < HIST_MODES; i++)
		sum->self_in[i] += v->self_in[i];
}

static void add_entry(const struct hist *h, struct hist_entry *sum, const struct hist_entry *e)
{
	for (u32 k = 0; k < h->n_events; k++)
		add_values(h, &sum->of[k], &e->of[k]);
}

static u32 add_row(struct hierrows *y, u32 parent, const char *name, const struct hist_entry *e)
{
	struct rowset_node *above = &y->nodes.at[parent];
	struct hist_entry sum = *e;
	u32 i = y->nodes.n, next = above->first_child;

	sum.of = hist_new_values(y->flat.hist, &y->arena);
	add_entry(y->flat.hist, &sum, e);
	above->first_child = i;
	vec_add(&y->nodes, ((struct rowset_node){.parent = parent, .next_sibling = next}));
	vec_add(&y->sums, ((struct hierrows_row){sum, name, y->sums.at[parent].level + 1}));
	return i;
}

/* The text of the k-th key of an entry. */
static const char *name_of(struct hierrows *y, size_t k, size_t entry)
{
	str_clear(&y->cell);
	celltext_add_row(&y->layouts[k], &y->flat.rows, y->keys[k], entry, &y->room, &y->cell);
	return intern_add(&y->names, str_text(&y->cell), y->cell.n);
}

/* Finds or makes the row with this name below `parent`, and adds the entry to it. */
static u32 child_with(struct hierrows *y, u32 parent, const char *name, const struct hist_entry *e)
{
	u64 hash = hash_mix((u64)(uintptr_t)name, parent);
	struct table_probe probe = table_probe(&y->index, hash);
	u32 i;

	while ((i = table_next(&y->index, &probe)) != TABLE_NONE) {
		if (y->nodes.at[i].parent != parent || y->sums.at[i].name != name)
			continue;
		add_entry(y->flat.hist, &y->sums.at[i].sum, e);
		return i;
	}
	i = add_row(y, parent, name, e);
	table_add(&y->index, hash, i);
	return i;
}

/* By the figure that rows are sorted by first. k: index into the table's events; 0 is its own. */
static void sort_by_event(const struct hierrows *y, struct sort_item *items, size_t n, u32 k)
{
	const struct hist *h = y->flat.hist;
	const struct key *first = h->options->n_order ? h->options->order[0] : NULL;
	const struct key *by = first && first->is_value && first->figure ? first : key_self;

	for (size_t i = 0; i < n; i++)
		items[i].key = by->figure(h, &y->sums.at[items[i].value].sum, k);
	sort_by_key(items, n);
}

static void sort_children(struct hierrows *y, u32 parent)
{
	const struct hist *h = y->flat.hist;
	VEC(struct sort_item) children = {0};
	u32 next = 0;

	for (u32 c = y->nodes.at[parent].first_child; c; c = y->nodes.at[c].next_sibling)
		vec_add(&children, ((struct sort_item){0, c}));
	/*
	 * Children are in the opposite order of the entries and are linked from the last one on. If there are several
	 * events, the first decides, then the second.
	 */
	for (u32 k = h->n_events; k-- > 0;)
		sort_by_event(y, children.at, children.n, k);
	if (h->table.order)
		sort_by_event(y, children.at, children.n, h->table.order);
	for (size_t i = 0; i < children.n; i++) {
		y->nodes.at[children.at[i].value].next_sibling = next;
		next = children.at[i].value;
	}
	y->nodes.at[parent].first_child = next;
	vec_fini(&children);
}

static void make_rows(struct hierrows *y)
{
	const struct hist *h = y->flat.hist;

	vec_add(&y->nodes, ((struct rowset_node){0}));
	vec_add(&y->sums, ((struct hierrows_row){0}));
	for (size_t entry = 0; entry < h->entries.n; entry++) {
		const struct hist_entry *e = &h->entries.at[entry];
		u32 at = 0;

		for (size_t k = 0; k + 1 < y->n_keys; k++)
			at = child_with(y, at, name_of(y, k, entry), e);
		add_row(y, at, name_of(y, y->n_keys - 1, entry), e);
	}
	for (u32 i = 0; i < y->nodes.n; i++)
		sort_children(y, i);
}

/* ---- cells ---- */

static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct hierrows *y = r->of;
	const struct hierrows_row *own = &y->sums.at[row];

	if (c->group == ROWSET_BELOW && own->level == y->n_keys)
		histrows_set_below(&y->flat, &own->sum, ret);
	else if (c->group == ROWSET_KEY && c == y->keys[own->level - 1])
		cell_text(ret, own->name);
	else if (c->group == ROWSET_VALUE)
		key_cell(c->key, y->flat.hist, &own->sum, part, room, ret);
}

static bool shows(const struct rowset *r, size_t row)
{
	const struct hierrows *y = r->of;

	return hist_percent(y->flat.hist, &y->sums.at[row].sum) >= y->flat.options.limit;
}

static void below(const struct rowset *r, const struct cell *cell, size_t row, struct rowset *ret)
{
	const struct hierrows *y = r->of;

	(void)cell;
	histrows_open_below(&y->flat, &y->sums.at[row].sum, ret);
}

void hierrows_init(struct hierrows *y, const struct hist *h, const struct histrows_options *o)
{
	*y = (struct hierrows){0};
	histrows_init(&y->flat, h, o);
	for (size_t i = 0; i < y->flat.rows.n_shown; i++) {
		if (y->flat.shown[i].group != ROWSET_KEY)
			continue;
		y->layouts[y->n_keys] = celltext_of_column(&y->flat.shown[i]);
		y->keys[y->n_keys++] = &y->flat.shown[i];
	}
	make_rows(y);
	y->rows = y->flat.rows;
	y->rows.nodes = y->nodes.at;
	y->rows.n = y->nodes.n;
	y->rows.of = y;
	y->rows.cell = cell_of;
	y->rows.shows = shows;
	y->rows.below = below;
	y->rows.group = NULL;
}

void hierrows_fini(struct hierrows *y)
{
	histrows_fini(&y->flat);
	vec_fini(&y->nodes);
	vec_fini(&y->sums);
	table_fini(&y->index);
	arena_fini(&y->arena);
	intern_fini(&y->names);
	str_fini(&y->cell);
	str_fini(&y->room);
}
