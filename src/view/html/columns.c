#include "view/html/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

const struct rowset_column *columns_find(const struct rowset *r, const char *name)
{
	for (size_t i = 0; i < r->n_columns; i++)
		if (!strcmp(r->columns[i].name, name))
			return &r->columns[i];
	return NULL;
}

/* ---- names ---- */

static u32 add_name(struct columns *c, const struct columns_name *name)
{
	const u64 hash =
		hash_mix((u64)(uintptr_t)name->text ^ (u8)name->kind, (u64)(uintptr_t)name->dso);
	struct table_probe probe = table_probe(&c->index, hash);
	u32 i;

	while ((i = table_next(&c->index, &probe)) != TABLE_NONE) {
		const struct columns_name *other = &c->names.at[i];

		if (other->text == name->text && other->dso == name->dso &&
			other->kind == name->kind)
			return i;
	}
	table_add(&c->index, hash, (u32)c->names.n);
	vec_add(&c->names, *name);
	return (u32)c->names.n - 1;
}

/* Returns the name of each row, as a position in the names in the order in which they were found. */
static u32 *name_rows(struct columns *c, const struct rowset *r)
{
	u32 *names = mem_alloc(r->n * sizeof(*names));
	u32 *of_place = mem_alloc((r->n_places + 1) * sizeof(*of_place));

	for (size_t i = 0; i < r->n_places; i++) {
		const struct rowset_place *place = &r->places[i];

		of_place[i] = add_name(c,
			&(struct columns_name){.text = place->name,
				.dso = place->dso_name ? place->dso_name : "",
				.source = place->source,
				.kind = place->kind});
	}
	for (u32 row = 1; row < r->n; row++) {
		names[row] = of_place[r->nodes[row].symbol];
		c->names.at[names[row]].n_nodes++;
	}
	mem_free(of_place);
	return names;
}

static int by_frequency(const void *a, const void *b, void *ctx)
{
	const struct columns *c = ctx;
	const u32 i = *(const u32 *)a, j = *(const u32 *)b;
	const u32 n = c->names.at[i].n_nodes, m = c->names.at[j].n_nodes;

	return n != m ? (n < m ? 1 : -1) : (i > j) - (i < j);
}

/* Puts the most frequent names first: their numbers are short. */
static void rank_names(struct columns *c, u32 *names, size_t n_rows)
{
	u32 *order = mem_alloc((c->names.n + 1) * sizeof(*order));
	u32 *ranks = mem_alloc((c->names.n + 1) * sizeof(*ranks));
	struct columns_name *sorted = mem_alloc((c->names.n + 1) * sizeof(*sorted));

	for (u32 i = 0; i < c->names.n; i++)
		order[i] = i;
	qsort_r(order, c->names.n, sizeof(*order), by_frequency, c);
	for (u32 i = 0; i < c->names.n; i++) {
		ranks[order[i]] = i;
		sorted[i] = c->names.at[order[i]];
	}
	for (size_t row = 1; row < n_rows; row++)
		names[row] = ranks[names[row]];
	if (c->names.n)
		memcpy(c->names.at, sorted, c->names.n * sizeof(*sorted));
	mem_free(order);
	mem_free(ranks);
	mem_free(sorted);
}

/* ---- nodes ---- */

struct walk {
	struct columns *c;
	const struct rowset *r;
	const u32 *names; /* of rows */
	VEC(u32) waiting; /* rows whose turn comes, the next one last */
	VEC(u32) depths;  /* theirs */
};

static int last_name_first(const void *a, const void *b, void *ctx)
{
	const struct walk *w = ctx;
	const u32 i = *(const u32 *)a, j = *(const u32 *)b;
	const int order =
		strcmp(w->c->names.at[w->names[j]].text, w->c->names.at[w->names[i]].text);

	return order ? order : (i < j) - (i > j);
}

static void add_children(struct walk *w, u32 row, u32 depth)
{
	const size_t start = w->waiting.n;

	for (u32 child = w->r->nodes[row].first_child; child;
		child = w->r->nodes[child].next_sibling) {
		vec_add(&w->waiting, child);
		vec_add(&w->depths, depth);
	}
	if (w->waiting.n > start + 1)
		qsort_r(w->waiting.at + start, w->waiting.n - start, sizeof(u32), last_name_first,
			w);
}

static void order_nodes(struct columns *c, const struct rowset *r, const u32 *names)
{
	struct walk w = {.c = c, .r = r, .names = names};
	u32 before = 0;

	c->rows = mem_alloc(r->n * sizeof(*c->rows));
	c->levels_up = mem_alloc(r->n * sizeof(*c->levels_up));
	c->name_of = mem_alloc(r->n * sizeof(*c->name_of));
	add_children(&w, 0, 1);
	while (w.waiting.n) {
		const u32 row = w.waiting.at[--w.waiting.n], depth = w.depths.at[--w.depths.n];

		c->rows[c->n] = row;
		c->levels_up[c->n] = before + 1 - depth;
		c->name_of[c->n++] = names[row];
		c->depth = MAX(c->depth, depth);
		before = depth;
		add_children(&w, row, depth + 1);
	}
	vec_fini(&w.waiting);
	vec_fini(&w.depths);
}

void columns_init(struct columns *c, const struct rowset *r)
{
	u32 *names;

	*c = (struct columns){0};
	if (!r->n)
		return;
	names = name_rows(c, r);
	rank_names(c, names, r->n);
	order_nodes(c, r, names);
	mem_free(names);
}

void columns_fini(struct columns *c)
{
	mem_free(c->rows);
	mem_free(c->levels_up);
	mem_free(c->name_of);
	vec_fini(&c->names);
	table_fini(&c->index);
}

void columns_sum(const struct columns *c, const struct rowset *r, const struct rowset_column *value,
	u32 part, u64 *self, u64 *total)
{
	u32 *on_path = mem_zalloc((c->names.n + 1) * sizeof(*on_path));
	VEC(u32) path = {0};
	VEC(u64) below = {0}; /* of the path's nodes, themselves included */
	struct str room = {0};
	struct cell cell;

	memset(self, 0, c->names.n * sizeof(*self));
	memset(total, 0, c->names.n * sizeof(*total));
	for (size_t i = 0; i <= c->n; i++) {
		const size_t depth = i < c->n ? path.n - c->levels_up[i] : 0;

		while (path.n > depth) {
			const u32 name = path.at[--path.n];
			const u64 sum = below.at[--below.n];

			total[name] += --on_path[name] ? 0 : sum;
			if (path.n)
				below.at[path.n - 1] += sum;
		}
		if (i == c->n)
			break;
		rowset_cell(r, value, c->rows[i], part, &room, &cell);
		self[c->name_of[i]] += cell.n;
		on_path[c->name_of[i]]++;
		vec_add(&path, c->name_of[i]);
		vec_add(&below, cell.n);
	}
	mem_free(on_path);
	vec_fini(&path);
	vec_fini(&below);
	str_fini(&room);
}
