#include "view/hierarchy.h"

#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/sort.h"
#include "view/celltext.h"

enum { INDENT = 3 };

struct row {
	struct hist_entry sum;         /* of all entries below; of an innermost row its entry */
	u32 parent;                    /* row 0 is the root */
	u32 first_child, next_sibling; /* 0: none */
	u32 level;                     /* of the key, from 1 */
	const char *name;
};

struct hierarchy {
	const struct hist *hist;
	const struct text_options *options;
	const struct key *figures[HIST_KEYS_MAX], *keys[HIST_KEYS_MAX];
	struct celltext figure_layouts[HIST_KEYS_MAX], key_layouts[HIST_KEYS_MAX];
	size_t n_figures, n_keys;
	size_t widths[HIST_KEYS_MAX]; /* of the figures */
	VEC(struct row) rows;
	struct table index; /* of all rows but the innermost */
	struct arena arena;
	struct intern names;
	struct str cell, room;
	struct hist_view view;
};

/* ---- rows ---- */

static u32 add_row(struct hierarchy *y, u32 parent, const char *name, const struct hist_entry *e)
{
	const size_t size = y->hist->n_events * sizeof(*e->of);
	struct hist_entry sum = *e;
	u32 i = y->rows.n;

	sum.of = memcpy(arena_alloc(&y->arena, size), e->of, size);
	vec_add(&y->rows,
		((struct row){.sum = sum,
			.parent = parent,
			.next_sibling = y->rows.at[parent].first_child,
			.level = y->rows.at[parent].level + 1,
			.name = name}));
	y->rows.at[parent].first_child = i;
	return i;
}

static void add_value(struct hist_value *sum, struct hist_value v)
{
	sum->n_samples += v.n_samples;
	sum->period += v.period;
}

static void add_values(struct hist_values *sum, const struct hist_values *v)
{
	add_value(&sum->self, v->self);
	add_value(&sum->total, v->total);
	for (size_t i = 0; i < ARRAY_SIZE(sum->sums); i++)
		sum->sums[i] += v->sums[i];
	for (size_t i = 0; i < HIST_MODES; i++)
		sum->self_in[i] += v->self_in[i];
}

static void add_entry_to_row(struct hierarchy *y, struct row *row, const struct hist_entry *e)
{
	for (u32 k = 0; k < y->hist->n_events; k++)
		add_values(&row->sum.of[k], &e->of[k]);
}

/* Of the k-th key. */
static const char *name_of(struct hierarchy *y, size_t k, const struct hist_entry *e)
{
	str_clear(&y->cell);
	celltext_add_entry(&y->key_layouts[k], y->keys[k], y->hist, e, &y->room, &y->cell);
	return intern_add(&y->names, str_text(&y->cell), y->cell.n);
}

/* The row of that name below another, with the entry added. */
static u32 child_with(struct hierarchy *y, u32 parent, const char *name, const struct hist_entry *e)
{
	u64 hash = hash_mix((u64)(uintptr_t)name, parent);
	struct table_probe probe = table_probe(&y->index, hash);
	u32 i;

	while ((i = table_next(&y->index, &probe)) != TABLE_NONE)
		if (y->rows.at[i].parent == parent && y->rows.at[i].name == name) {
			add_entry_to_row(y, &y->rows.at[i], e);
			return i;
		}
	i = add_row(y, parent, name, e);
	table_add(&y->index, hash, i);
	return i;
}

/* k: of the table's events, 0 its own. */
static void sort_by_event(const struct hierarchy *y, struct sort_item *items, size_t n, size_t k)
{
	for (size_t i = 0; i < n; i++) {
		items[i].key = y->rows.at[items[i].value].sum.of[k].self.period;
	}
	sort_by_key(items, n);
}

static void sort_children(struct hierarchy *y, u32 parent)
{
	VEC(struct sort_item) children = {0};
	u32 next = 0;

	for (u32 c = y->rows.at[parent].first_child; c; c = y->rows.at[c].next_sibling)
		vec_add(&children, ((struct sort_item){0, c}));
	/*
	 * They hang in the order opposite to the entries', and are linked from the last on. Of several
	 * events the first decides, then the second.
	 */
	for (size_t k = y->hist->n_events; k-- > 0;)
		sort_by_event(y, children.at, children.n, k);
	if (y->hist->table.order)
		sort_by_event(y, children.at, children.n, y->hist->table.order);
	for (size_t i = 0; i < children.n; i++) {
		y->rows.at[children.at[i].value].next_sibling = next;
		next = children.at[i].value;
	}
	y->rows.at[parent].first_child = next;
	vec_fini(&children);
}

static void make_rows(struct hierarchy *y)
{
	vec_add(&y->rows, ((struct row){0}));
	vec_each(e, &y->hist->entries) {
		u32 at = 0;

		for (size_t k = 0; k + 1 < y->n_keys; k++)
			at = child_with(y, at, name_of(y, k, e), e);
		add_row(y, at, name_of(y, y->n_keys - 1, e), e);
	}
	for (u32 i = 0; i < y->rows.n; i++)
		sort_children(y, i);
}

/* ---- text ---- */

static void choose_widths(struct hierarchy *y)
{
	for (size_t f = 0; f < y->n_figures; f++) {
		y->widths[f] = MAX(strlen(y->figure_layouts[f].title),
			(size_t)y->figure_layouts[f].width * key_n_parts(y->figures[f], y->hist));
		for (u32 i = 1; i < y->rows.n; i++) {
			str_clear(&y->cell);
			celltext_add_entry(&y->figure_layouts[f], y->figures[f], y->hist,
				&y->rows.at[i].sum, &y->room, &y->cell);
			y->widths[f] = MAX(y->widths[f], y->cell.n);
		}
	}
}

static void add_header(struct hierarchy *y, struct str *text)
{
	str_add(text, "#");
	for (size_t f = 0; f < y->n_figures; f++) {
		str_add(text, f ? "  " : " ");
		str_add_right(text, y->figure_layouts[f].title, y->widths[f]);
	}
	str_fill(text, ' ', INDENT * (y->n_keys - 1) + 2);
	for (size_t k = 0; k < y->n_keys; k++) {
		str_add(text, k ? " / " : "");
		str_add(text, y->key_layouts[k].title);
	}
	str_add(text, "\n#\n");
}

static void add_rows(struct hierarchy *y, u32 parent, struct out *out)
{
	const struct text_options *o = y->options;
	struct str *text = &out->text;
	bool has_any = false;

	for (u32 i = y->rows.at[parent].first_child; i; i = y->rows.at[i].next_sibling) {
		const struct row *row = &y->rows.at[i];

		if (hist_percent(y->hist, &row->sum) < o->row_limit)
			continue;
		has_any = true;
		str_fill(text, ' ', INDENT * (row->level - 1));
		for (size_t f = 0; f < y->n_figures; f++) {
			str_clear(&y->cell);
			celltext_add_entry(&y->figure_layouts[f], y->figures[f], y->hist, &row->sum,
				&y->room, &y->cell);
			str_add(text, "  ");
			str_add_right(text, str_text(&y->cell), y->widths[f]);
		}
		str_fill(text, ' ', INDENT * (y->n_keys - 1) + 2);
		str_add(text, row->name);
		str_addc(text, '\n');
		if (row->level < y->n_keys)
			add_rows(y, i, out);
		else if (text_has_graph(y->hist, &row->sum, o))
			drawing_add(text, &y->view, &row->sum, &o->drawing);
		out_flush_some(out);
	}
	if (has_any || !parent)
		return;
	str_fill(text, ' ', INDENT * (y->rows.at[parent].level + y->n_keys - 1) + 2);
	for (size_t f = 0; f < y->n_figures; f++)
		str_fill(text, ' ', y->widths[f] + 2);
	str_addf(text, "no entry >= %.2f%%\n", o->row_limit);
}

static void choose(const struct key *key, const struct key **keys, struct celltext *layouts,
	size_t *n)
{
	/* Titles are those of rows without callers. */
	layouts[*n] = celltext_of(key, NULL);
	keys[(*n)++] = key;
}

void hierarchy_report(struct out *out, const struct rowset *r, const struct text_options *o)
{
	const struct hist *h = r->calls;
	struct hierarchy y = {.hist = h, .options = o};

	for (size_t i = 0; i < o->n_columns; i++)
		if (o->columns[i]->is_value)
			choose(o->columns[i], y.figures, y.figure_layouts, &y.n_figures);
		else
			choose(o->columns[i], y.keys, y.key_layouts, &y.n_keys);
	hist_view_init(&y.view, h);
	make_rows(&y);
	choose_widths(&y);
	if (!o->is_bare) {
		text_add_title(h, &out->text);
		add_header(&y, &out->text);
	}
	add_rows(&y, 0, out);
	hist_view_fini(&y.view);
	vec_fini(&y.rows);
	table_fini(&y.index);
	arena_fini(&y.arena);
	intern_fini(&y.names);
	str_fini(&y.cell);
	str_fini(&y.room);
}
