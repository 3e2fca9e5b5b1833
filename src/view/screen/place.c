#include "view/screen/place.h"

#include <string.h>

#include "base/hash.h"

/* ---- names as hashes ---- */

static u64 hash_text(const char *text, size_t n, u64 seed)
{
	u64 hash = hash_mix(seed, n);

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (u8)text[i]) * 0x100000001b3;
	return hash_u64(hash);
}

/* Of the cells that say which row it is. */
static u64 row_id(const struct rowset *r, u32 row)
{
	struct str text = {0}, room = {0};
	struct cell cell;
	u64 hash;

	for (size_t i = 0; i < r->n_columns; i++) {
		if (r->columns[i].group != ROWSET_KEY)
			continue;
		rowset_cell(r, &r->columns[i], row, 0, &room, &cell);
		cell_add_data(&cell, &text);
		str_addc(&text, '\n');
	}
	hash = hash_text(str_text(&text), text.n, 1);
	str_fini(&text);
	str_fini(&room);
	return hash;
}

/* Of a tree's nodes, by the names on the way to each; parents come first. The caller frees them. */
static u64 *node_ids(struct lineup *l, u32 row, u64 id)
{
	const struct rowset *tree = &l->trees[row].tree;
	u64 *ids = mem_alloc((tree->n + 1) * sizeof(*ids));
	struct str name = {0};

	ids[0] = id;
	for (u32 node = 1; node < tree->n; node++) {
		str_cut(&name, 0);
		lineup_add_name(l, &(struct lineup_line){.row = row, .node = node}, &name);
		ids[node] = hash_text(str_text(&name), name.n, ids[tree->nodes[node].parent]);
	}
	str_fini(&name);
	return ids;
}

/* What a table keeps of a hash besides its high half. */
static u32 low(u64 id)
{
	return (u32)id >> 1;
}

static void note(struct table *t, u64 id)
{
	table_add(t, id, low(id));
}

static bool is_noted(const struct table *t, u64 id)
{
	struct table_probe probe = table_probe(t, id);
	u32 value;

	while ((value = table_next(t, &probe)) != TABLE_NONE)
		if (value == low(id))
			return true;
	return false;
}

/* ---- before ---- */

static void keep_tree(struct place *p, struct lineup *l, u32 row)
{
	const struct lineup_tree *t = &l->trees[row];
	const u64 id = row_id(l->rows, row);
	u64 *ids;

	if (!t->is_shown || !t->is_open)
		return;
	note(&p->open, id);
	ids = node_ids(l, row, id);
	for (u32 node = 1; node < t->tree.n; node++)
		if (t->is_open[node])
			note(&p->open, ids[node]);
	mem_free(ids);
}

void place_keep(struct place *p, struct browser *b)
{
	const struct lineup *l = &b->lineup;

	*p = (struct place){.widths = mem_alloc((b->rows->n_shown + 1) * sizeof(*p->widths)),
		.n_widths = b->rows->n_shown,
		.line = b->line,
		.first = b->first,
		.order = b->order,
		.part = b->part,
		.shift = b->shift,
		.has_line = b->line < l->lines.n};
	memcpy(p->widths, b->widths, p->n_widths * sizeof(*p->widths));
	vec_each(row, &l->order)
		keep_tree(p, &b->lineup, *row);
	p->is_top = !b->line && !(l->lines.n && l->lines.at[0].is_open);
	if (!p->has_line)
		return;
	const struct lineup_line *line = &l->lines.at[b->line];

	p->row = row_id(l->rows, line->row);
	if (line->node) {
		u64 *ids = node_ids(&b->lineup, line->row, p->row);

		p->node = ids[line->node];
		mem_free(ids);
	}
}

/* ---- after ---- */

static void open_tree(const struct place *p, struct lineup *l, u32 row, u64 id)
{
	struct lineup_tree *t = lineup_show(l, row);
	u64 *ids;

	if (!t)
		return;
	ids = node_ids(l, row, id);
	for (u32 node = 1; node < t->tree.n; node++)
		t->is_open[node] = is_noted(&p->open, ids[node]);
	mem_free(ids);
}

/* The node of the cursor, or its nearest caller that has a line. */
static size_t line_of_node(const struct place *p, struct lineup *l, u32 row)
{
	u64 *ids = node_ids(l, row, p->row);
	size_t line = lineup_find(l, row, 0);

	for (u32 node = 1; node < l->trees[row].tree.n; node++)
		if (ids[node] == p->node)
			line = lineup_find(l, row, node);
	mem_free(ids);
	return line;
}

/* The cursor keeps its line on the screen; the first lines stay in sight if they were. */
static void go_to(const struct place *p, struct browser *b, size_t line)
{
	b->line = line;
	if (p->first)
		b->first = line > p->line - p->first ? line - (p->line - p->first) : 0;
}

void place_bring_back(struct place *p, struct browser *b)
{
	struct lineup *l = &b->lineup;
	u32 here = UINT32_MAX;

	browser_renew(b);
	for (size_t i = 0; i < l->order.n; i++) {
		const u32 row = l->order.at[i];
		const u64 id = row_id(l->rows, row);

		if (id == p->row && p->has_line)
			here = row;
		if (is_noted(&p->open, id))
			open_tree(p, l, row, id);
	}
	for (size_t c = 0; p->n_widths == b->rows->n_shown && c < p->n_widths; c++)
		b->widths[c] = MAX(b->widths[c], p->widths[c]);
	b->order = MIN(p->order, l->rows->n_shown);
	b->part = MIN(p->part, browser_n_parts(b) - 1);
	b->shift = p->shift;
	if (b->order < l->rows->n_shown)
		lineup_sort(l, b->order, b->part);
	else
		lineup_update(l);
	if (p->is_top)
		b->line = b->first = 0;
	else if (here == UINT32_MAX)
		go_to(p, b, p->line);
	else
		go_to(p, b, p->node ? line_of_node(p, l, here) : lineup_find(l, here, 0));
	table_fini(&p->open);
	mem_free(p->widths);
}
