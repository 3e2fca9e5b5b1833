#include "view/svg/boxes.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 2, LABELLED = 3, BYTES_OF_REST = 512 };

/* A stack on the way to its root: the row that it ends in, and the caller that was reached. */
struct climb {
	u32 row, at;
};

/* A box, or what may become one: a node, or the stacks that have the same callees up to here. */
struct piece {
	u32 place, node, parent;
	u32 number;    /* as a box, in the order in which boxes were chosen */
	u32 n_waiting; /* children that are not boxes yet */
	u64 waiting;   /* their weight */
	bool is_box;
	u64 weight;
	struct climb *climbs; /* inverted */
	u32 n_climbs;
};

struct choosing {
	const struct rowset *r;
	const struct boxes_options *o;
	u64 *periods, *samples; /* by row and part: of the node and below; inverted: own */
	VEC(struct piece) pieces;
	VEC(u32) heap; /* of pieces, the next one first */
	VEC(u32) chosen;
	VEC(u64) chosen_periods, chosen_samples; /* likewise, by part */
	u32 *group_of; /* by place, while stacks are told apart: position in pieces, or 0 */
	u64 whole, n_elements, n_bytes;
	u64 n_rests;
};

/* ---- values ---- */

static const struct rowset_column *column_of(const struct rowset *r, const char *name)
{
	for (size_t i = 0; i < r->n_columns; i++)
		if (!strcmp(r->columns[i].name, name))
			return &r->columns[i];
	return NULL;
}

static u64 *values_of(const struct rowset *r, const char *name)
{
	const struct rowset_column *column = column_of(r, name);
	u64 *values = mem_alloc((r->n * r->n_parts + 1) * sizeof(*values));
	struct str room = {0};
	struct cell cell;

	for (size_t row = 0; row < r->n; row++)
		for (u32 part = 0; part < r->n_parts; part++) {
			rowset_cell(r, column, row, part, &room, &cell);
			values[row * r->n_parts + part] = cell.n;
		}
	str_fini(&room);
	return values;
}

/* Adds to each node what is below it: parents stand before their children. */
static void sum_up(const struct rowset *r, u64 *values)
{
	for (size_t row = r->n; row-- > 1;)
		for (u32 part = 0; part < r->n_parts; part++)
			values[r->nodes[row].parent * r->n_parts + part] +=
				values[row * r->n_parts + part];
}

static u64 weight_of(const struct choosing *c, u32 row, bool counts)
{
	u64 sum = 0;

	for (u32 part = 0; part < c->r->n_parts; part++)
		sum += c->o->counts[part] == counts ? c->periods[(size_t)row * c->r->n_parts + part]
						    : 0;
	return sum;
}

/* Adds the values of a piece, part by part. */
static void add_values(const struct choosing *c, const struct piece *p, u64 *periods, u64 *samples)
{
	const u32 n = c->r->n_parts;

	for (u32 part = 0; part < n && c->r->n; part++) {
		if (!c->o->is_inverted) {
			periods[part] += c->periods[(size_t)p->node * n + part];
			samples[part] += c->samples[(size_t)p->node * n + part];
			continue;
		}
		for (u32 i = 0; i < p->n_climbs; i++) {
			periods[part] += c->periods[(size_t)p->climbs[i].row * n + part];
			samples[part] += c->samples[(size_t)p->climbs[i].row * n + part];
		}
	}
}

/* ---- which is next ---- */

static int by_name(const struct rowset *r, u32 a, u32 b)
{
	const struct rowset_place *p = &r->places[a], *q = &r->places[b];
	int order;

	if (a == b)
		return 0;
	order = strcmp(p->name, q->name);
	order = order ? order : strcmp(p->dso ? p->dso : "", q->dso ? q->dso : "");
	return order                 ? order
		: p->kind != q->kind ? p->kind - q->kind
				     : p->is_inlined - q->is_inlined;
}

/* The heavier first; nothing depends on the order of rows. */
static bool comes_before(const struct choosing *c, u32 a, u32 b)
{
	const struct piece *p = &c->pieces.at[a], *q = &c->pieces.at[b];
	u32 m, n;

	if (p->weight != q->weight)
		return p->weight > q->weight;
	m = c->pieces.at[p->parent].number;
	n = c->pieces.at[q->parent].number;
	return m != n ? m < n : by_name(c->r, p->place, q->place) < 0;
}

static void push(struct choosing *c, u32 piece)
{
	size_t i = c->heap.n;

	vec_add(&c->heap, piece);
	for (; i && comes_before(c, piece, c->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
		c->heap.at[i] = c->heap.at[(i - 1) / 2];
	c->heap.at[i] = piece;
}

static void drop_first(struct choosing *c)
{
	const u32 last = c->heap.at[--c->heap.n];
	size_t i = 0, next;

	while ((next = 2 * i + 1) < c->heap.n) {
		if (next + 1 < c->heap.n && comes_before(c, c->heap.at[next + 1], c->heap.at[next]))
			next++;
		if (!comes_before(c, c->heap.at[next], last))
			break;
		c->heap.at[i] = c->heap.at[next];
		i = next;
	}
	if (c->heap.n)
		c->heap.at[i] = last;
}

/* ---- children ---- */

static void add_child(struct choosing *c, u32 parent, struct piece piece)
{
	piece.parent = parent;
	vec_add(&c->pieces, piece);
	if (!piece.weight)
		return;
	c->pieces.at[parent].n_waiting++;
	c->pieces.at[parent].waiting += piece.weight;
	push(c, (u32)c->pieces.n - 1);
}

static void open_node(struct choosing *c, u32 piece)
{
	if (!c->r->n)
		return;
	for (u32 node = c->r->nodes[c->pieces.at[piece].node].first_child; node;
		node = c->r->nodes[node].next_sibling) {
		const u64 weight = weight_of(c, node, true);

		if (weight || weight_of(c, node, false))
			add_child(c, piece,
				(struct piece){.place = c->r->nodes[node].symbol,
					.node = node,
					.weight = weight});
	}
}

/* The caller that comes next; 0: the stack ends here. */
static u32 next_caller(const struct choosing *c, const struct piece *p, u32 i)
{
	return p->parent == UINT32_MAX ? p->climbs[i].row : c->r->nodes[p->climbs[i].at].parent;
}

/* Sorts the stacks of a piece by the caller that comes next. */
static void open_stacks(struct choosing *c, u32 piece)
{
	const size_t first = c->pieces.n;
	struct piece p = c->pieces.at[piece];

	for (u32 i = 0; i < p.n_climbs; i++) {
		const u32 at = next_caller(c, &p, i);
		u32 *group = &c->group_of[c->r->nodes[at].symbol];

		if (!at)
			continue;
		if (!*group) {
			*group = (u32)c->pieces.n;
			vec_add(&c->pieces,
				((struct piece){.place = c->r->nodes[at].symbol, .parent = piece}));
		}
		c->pieces.at[*group].n_climbs++;
	}
	for (size_t i = first; i < c->pieces.n; i++) {
		struct piece *child = &c->pieces.at[i];

		child->climbs = mem_alloc(child->n_climbs * sizeof(*child->climbs));
		child->n_climbs = 0;
	}
	for (u32 i = 0; i < p.n_climbs; i++) {
		const u32 at = next_caller(c, &p, i);
		struct piece *child =
			at ? &c->pieces.at[c->group_of[c->r->nodes[at].symbol]] : NULL;

		if (!child)
			continue;
		child->climbs[child->n_climbs++] = (struct climb){p.climbs[i].row, at};
		child->weight += weight_of(c, p.climbs[i].row, true);
	}
	for (size_t i = first; i < c->pieces.n; i++) {
		c->group_of[c->pieces.at[i].place] = 0;
		if (!c->pieces.at[i].weight)
			continue;
		c->pieces.at[piece].n_waiting++;
		c->pieces.at[piece].waiting += c->pieces.at[i].weight;
		push(c, (u32)i);
	}
}

/* ---- choosing ---- */

static u64 elements_of(const struct choosing *c, u64 weight)
{
	return (double)weight >= c->o->labelled * (double)c->whole ? LABELLED : ELEMENTS;
}

/* Of the rest of a piece. */
static u64 rest_of(const struct choosing *c, const struct piece *p)
{
	return p->n_waiting ? elements_of(c, p->waiting) : 0;
}

/* Counts a piece as a box; its rest cannot take more than it does itself. */
static bool has_room(const struct choosing *c, const struct piece *p, const struct piece *parent)
{
	struct piece after = *parent;
	u64 n_elements = c->n_elements + 2 * elements_of(c, p->weight);
	u64 n_bytes = c->n_bytes + (c->n_rests + 1) * BYTES_OF_REST;

	if (p != parent) {
		after.n_waiting--;
		after.waiting -= p->weight;
		n_elements += rest_of(c, &after) - rest_of(c, parent);
		n_bytes += c->o->bytes[p->place];
	}
	return n_elements <= c->o->n_elements && n_bytes <= c->o->n_bytes;
}

static void note_values(struct choosing *c, const struct piece *p)
{
	const size_t n = c->chosen_periods.n;

	for (u32 part = 0; part < c->r->n_parts; part++) {
		vec_add(&c->chosen_periods, 0);
		vec_add(&c->chosen_samples, 0);
	}
	add_values(c, p, c->chosen_periods.at + n, c->chosen_samples.at + n);
}

/* Makes a box of a piece if there is room for it, and for the rests of it and of its parent. */
static bool choose(struct choosing *c, u32 piece)
{
	struct piece *p = &c->pieces.at[piece], *parent = piece ? &c->pieces.at[p->parent] : p;

	if (piece &&
		((double)p->weight < c->o->least * (double)c->whole || !has_room(c, p, parent)))
		return false;
	c->n_elements += elements_of(c, p->weight);
	c->n_bytes += piece ? c->o->bytes[p->place] : 0;
	p->is_box = true;
	p->number = (u32)c->chosen.n;
	vec_add(&c->chosen, piece);
	if (piece) {
		c->n_elements -= rest_of(c, parent);
		c->n_rests -= !--parent->n_waiting;
		parent->waiting -= p->weight;
		c->n_elements += rest_of(c, parent);
	}
	note_values(c, p);
	(c->o->is_inverted ? open_stacks : open_node)(c, piece);
	/* Its stacks are those of its children now. */
	mem_free(c->pieces.at[piece].climbs);
	c->pieces.at[piece].climbs = NULL;
	c->pieces.at[piece].n_climbs = 0;
	c->n_elements += rest_of(c, &c->pieces.at[piece]);
	c->n_rests += c->pieces.at[piece].n_waiting != 0;
	return true;
}

static void begin(struct choosing *c)
{
	struct piece root = {.place = BOXES_ROOT, .parent = c->o->is_inverted ? UINT32_MAX : 0};

	c->periods = values_of(c->r, "period");
	c->samples = values_of(c->r, "samples");
	if (c->o->is_inverted) {
		c->group_of = mem_zalloc((c->r->n_places + 1) * sizeof(*c->group_of));
		root.climbs = mem_alloc((c->r->n + 1) * sizeof(*root.climbs));
		for (u32 row = 0; row < c->r->n; row++)
			if (c->r->nodes[row].own || c->r->nodes[row].own_samples)
				root.climbs[root.n_climbs++] = (struct climb){row, row};
		for (u32 i = 0; i < root.n_climbs; i++)
			root.weight += weight_of(c, root.climbs[i].row, true);
	} else {
		sum_up(c->r, c->periods);
		sum_up(c->r, c->samples);
		root.weight = c->r->n ? weight_of(c, 0, true) : 0; /* no stacks: no root */
	}
	c->whole = root.weight;
	vec_add(&c->pieces, root);
}

/* ---- boxes ---- */

struct ordering {
	const struct choosing *c;
	const struct boxes *b;
};

/* Of boxes with the same parent: a rest is last. */
static int by_order(const void *a, const void *b, void *ctx)
{
	const struct ordering *o = ctx;
	const struct box *p = &o->b->all.at[*(const u32 *)a], *q = &o->b->all.at[*(const u32 *)b];

	if (p->parent != q->parent)
		return p->parent < q->parent ? -1 : 1;
	if (p->place == BOXES_REST || q->place == BOXES_REST)
		return (p->place == BOXES_REST) - (q->place == BOXES_REST);
	if (o->c->o->is_heaviest && p->weight != q->weight)
		return p->weight < q->weight ? 1 : -1;
	return by_name(o->c->r, p->place, q->place);
}

static void add_box(struct boxes *b, const struct box *box)
{
	vec_add(&b->all, *box);
	b->n_levels = MAX(b->n_levels, box->depth + 1);
}

/* The chosen pieces as boxes, in the order in which they were chosen, and then the rests. */
static void make_boxes(struct boxes *b, const struct choosing *c)
{
	u32 *rests = mem_zalloc((c->chosen.n + 1) * sizeof(*rests));
	const size_t size = (c->chosen.n * 2 + 1) * b->n_parts * sizeof(u64);

	b->periods = mem_zalloc(size);
	b->samples = mem_zalloc(size);
	for (u32 i = 0; i < c->chosen.n; i++) {
		const struct piece *p = &c->pieces.at[c->chosen.at[i]];
		const u32 parent = i ? c->pieces.at[p->parent].number : 0;

		add_box(b,
			&(struct box){.place = p->place,
				.parent = parent,
				.depth = i ? b->all.at[parent].depth + 1 : 0,
				.weight = p->weight});
	}
	memcpy(b->periods, c->chosen_periods.at, c->chosen_periods.n * sizeof(u64));
	memcpy(b->samples, c->chosen_samples.at, c->chosen_samples.n * sizeof(u64));
	for (u32 i = 1; i < c->pieces.n; i++) {
		const struct piece *p = &c->pieces.at[i];
		const u32 parent = c->pieces.at[p->parent].number;
		struct box *rest;

		if (p->is_box)
			continue;
		if (!p->weight) {
			vec_add(&b->gone,
				((struct boxes_gone){.place = p->place, .parent = parent}));
			continue;
		}
		if (!rests[parent]) {
			rests[parent] = (u32)b->all.n;
			add_box(b,
				&(struct box){.place = BOXES_REST,
					.parent = parent,
					.depth = b->all.at[parent].depth + 1});
			b->n_rests++;
		}
		rest = &b->all.at[rests[parent]];
		rest->only = rest->n_merged++ ? 0 : p->place;
		rest->weight += p->weight;
		b->n_merged++;
		b->merged_weight += p->weight;
		add_values(c, p, &b->periods[rests[parent] * b->n_parts],
			&b->samples[rests[parent] * b->n_parts]);
	}
	mem_free(rests);
}

static void weigh_gone(struct boxes *b, const struct choosing *c)
{
	size_t n = 0;

	for (u32 i = 1; i < c->pieces.n; i++) {
		const struct piece *p = &c->pieces.at[i];

		if (p->weight)
			continue;
		if (!c->o->is_inverted)
			b->gone.at[n].weight = weight_of(c, p->node, false);
		for (u32 k = 0; k < p->n_climbs; k++)
			b->gone.at[n].weight += weight_of(c, p->climbs[k].row, false);
		n++;
	}
}

/* Puts boxes into preorder. */
static void arrange(struct boxes *b, const struct choosing *c)
{
	const struct ordering ordering = {c, b};
	const size_t n = b->all.n, size = n * b->n_parts * sizeof(u64);
	u32 *order = mem_alloc((n + 1) * sizeof(*order)),
	    *first = mem_zalloc((n + 1) * sizeof(*first));
	u32 *new_of = mem_zalloc((n + 1) * sizeof(*new_of));
	struct box *boxes = mem_alloc((n + 1) * sizeof(*boxes));
	u64 *periods = mem_zalloc(size + 8), *samples = mem_zalloc(size + 8);
	VEC(u32) waiting = {0};
	size_t at = 0;

	for (u32 i = 0; i < n; i++)
		order[i] = i;
	if (n > 2)
		qsort_r(order + 1, n - 1, sizeof(*order), by_order, (void *)&ordering);
	for (u32 i = (u32)n; i-- > 1;)
		first[b->all.at[order[i]].parent] = i;
	vec_add(&waiting, 0);
	while (waiting.n) {
		const u32 old = waiting.at[--waiting.n];
		u32 last = first[old];

		boxes[at] = b->all.at[old];
		boxes[at].parent = new_of[b->all.at[old].parent];
		new_of[old] = (u32)at;
		for (u32 part = 0; part < b->n_parts; part++) {
			periods[at * b->n_parts + part] = boxes_period(b, old, part);
			samples[at * b->n_parts + part] = boxes_samples(b, old, part);
		}
		at++;
		while (last && last < n && b->all.at[order[last]].parent == old)
			last++;
		for (; last > first[old]; last--)
			vec_add(&waiting, order[last - 1]);
	}
	vec_each(gone, &b->gone)
		gone->parent = new_of[gone->parent];
	memcpy(b->all.at, boxes, n * sizeof(*boxes));
	mem_free(b->periods);
	mem_free(b->samples);
	b->periods = periods;
	b->samples = samples;
	mem_free(order);
	mem_free(first);
	mem_free(new_of);
	mem_free(boxes);
	vec_fini(&waiting);
}

void boxes_init(struct boxes *b, const struct rowset *r, const struct boxes_options *o)
{
	struct choosing c = {.r = r, .o = o};

	*b = (struct boxes){.n_parts = r->n_parts};
	begin(&c);
	choose(&c, 0);
	while (c.heap.n) {
		const u32 next = c.heap.at[0];

		drop_first(&c);
		if (!choose(&c, next))
			break;
	}
	make_boxes(b, &c);
	weigh_gone(b, &c);
	arrange(b, &c);
	vec_each(p, &c.pieces)
		mem_free(p->climbs);
	vec_fini(&c.pieces);
	vec_fini(&c.heap);
	vec_fini(&c.chosen);
	vec_fini(&c.chosen_periods);
	vec_fini(&c.chosen_samples);
	mem_free(c.group_of);
	mem_free(c.periods);
	mem_free(c.samples);
}

void boxes_fini(struct boxes *b)
{
	vec_fini(&b->all);
	vec_fini(&b->gone);
	mem_free(b->periods);
	mem_free(b->samples);
}
