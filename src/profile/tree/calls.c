#include "profile/tree/calls.h"

#include "base/hash.h"

/* The child of a node with that symbol, created if new. */
static u32 child_of(struct calls *c, struct table *index, u32 parent, u32 symbol, bool is_inlined)
{
	u64 hash = hash_u64((u64)parent << 32 | symbol);
	struct table_probe probe = table_probe(index, hash);
	struct calls_node *up;
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (c->nodes.at[i].parent == parent && c->nodes.at[i].symbol == symbol)
			return i;
	i = c->nodes.n;
	table_add(index, hash, i);
	vec_reserve(&c->nodes, c->nodes.n + 1);
	up = &c->nodes.at[parent];
	c->nodes.at[c->nodes.n++] = (struct calls_node){.parent = parent,
		.symbol = symbol,
		.function = is_inlined ? up->function : i,
		.depth = up->depth + 1,
		.next_sibling = up->first_child};
	up->first_child = i;
	return i;
}

/* The node of a frame's innermost function below `parent`, created if new. */
static u32 add_frame(struct calls *c, struct table *index, u32 parent, const struct profile *p,
	u32 frame)
{
	const struct profile_frame *f = &p->frames.at[frame];
	u32 node = child_of(c, index, parent, f->symbol, false);

	for (u32 i = 0; i < f->n_inlined; i++)
		node = child_of(c, index, node, p->inlined.at[f->first_inlined + i], true);
	return node;
}

/* Sorts the rows by event, so that callers need not scan all rows for those of one event. */
static void sort_rows(struct calls *c, const struct profile *p)
{
	size_t *next = mem_zalloc((p->events.n + 1) * sizeof(*next)), sum = 0;

	c->first_row = mem_alloc((p->events.n + 1) * sizeof(*c->first_row));
	c->rows = mem_alloc((p->rows.n + 1) * sizeof(*c->rows));
	vec_each(row, &p->rows)
		next[row->event]++;
	for (size_t event = 0; event <= p->events.n; event++) {
		c->first_row[event] = sum;
		sum += next[event];
		next[event] = c->first_row[event];
	}
	for (size_t i = 0; i < p->rows.n; i++)
		c->rows[next[p->rows.at[i].event]++] = (u32)i;
	mem_free(next);
}

void calls_init(struct calls *c, const struct profile *p)
{
	u32 *of_stack = mem_alloc(p->stacks.n * sizeof(*of_stack));
	struct table index = {0};

	memset(c, 0, sizeof(*c));
	c->of_row = mem_alloc((p->rows.n + 1) * sizeof(*c->of_row));
	sort_rows(c, p);
	table_reserve(&index, p->stacks.n + p->rows.n / 4);
	of_stack[0] = 0;
	vec_add(&c->nodes, ((struct calls_node){0}));
	for (size_t i = 1; i < p->stacks.n; i++)
		of_stack[i] = add_frame(c, &index, of_stack[p->stacks.at[i].parent], p,
			p->stacks.at[i].frame);
	for (size_t i = 0; i < p->rows.n; i++)
		c->of_row[i] = add_frame(c, &index, of_stack[p->rows.at[i].callers], p,
			p->rows.at[i].frame);
	mem_free(of_stack);
	table_fini(&index);
}

void calls_init_part(struct calls *c, const struct calls *whole, const struct profile *part,
	const u32 *rows)
{
	*c = *whole;
	c->of_row = mem_alloc((part->rows.n + 1) * sizeof(*c->of_row));
	sort_rows(c, part);
	for (size_t i = 0; i < part->rows.n; i++)
		c->of_row[i] = whole->of_row[rows[i]];
}

void calls_fini_part(struct calls *c)
{
	memset(&c->nodes, 0, sizeof(c->nodes));
	calls_fini(c);
}

void calls_fini(struct calls *c)
{
	vec_fini(&c->nodes);
	mem_free(c->of_row);
	mem_free(c->first_row);
	mem_free(c->rows);
	*c = (struct calls){0};
}
