#include "profile/outline.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/key.h"

/* ---- ids ---- */

/* FNV-1a: spelled out, because ids have to be the same everywhere and for ever. */
static u64 hash_on(u64 hash, const void *p, size_t n)
{
	const u8 *at = p;

	while (n--)
		hash = (hash ^ *at++) * 0x100000001b3;
	return hash;
}

static u64 id_below(u64 above, const struct profile *p, const struct profile_symbol *s)
{
	const char *dso = p->dsos.at[s->dso].name;
	u64 hash = hash_on(0xcbf29ce484222325, &above, sizeof(above));

	hash = hash_on(hash, dso, strlen(dso) + 1);
	if (s->name)
		hash = hash_on(hash, s->name, strlen(s->name) + 1);
	else
		hash = hash_on(hash, &s->start, sizeof(s->start));
	/* Addresses, and names made of them, are other functions in another build. */
	if (!profile_is_named(s) && p->dsos.at[s->dso].build)
		hash = hash_on(hash, p->dsos.at[s->dso].build,
			strlen(p->dsos.at[s->dso].build) + 1);
	return hash_on(hash, s->is_inlined ? "i" : "f", 1);
}

/*
 * Programs begin in the C library, which has names here and none there: what leads to main(), or to the
 * first function of a thread, is no part of ids.
 */
static bool is_prelude(const struct profile *p, const struct profile_symbol *s)
{
	static const char *const dsos[] = {"libc.so", "libc-", "libc.musl", "ld-linux", "ld-musl",
		"ld-", "libpthread", "[unknown]"};
	const char *dso = p->dsos.at[s->dso].name;

	for (size_t i = 0; i < ARRAY_SIZE(dsos); i++)
		if (!strncmp(dso, dsos[i], strlen(dsos[i])))
			return true;
	return false;
}

static bool is_main(const struct profile_symbol *s)
{
	return s->name && !strcmp(s->name, "main") && !s->is_inlined;
}

/* ---- the tree ---- */

static u32 child_of(struct outline *o, struct table *index, u32 parent, u32 symbol)
{
	const struct profile_symbol *s = &o->profile->symbols.at[symbol];
	const struct outline_node *up = &o->nodes.at[parent];
	bool is_first = up->is_prelude && is_prelude(o->profile, s);
	u64 id = id_below((up->is_prelude && !is_first) || is_main(s) ? 0 : up->id, o->profile, s);
	u64 hash = hash_u64(id ^ (u64)parent << 32);
	struct table_probe probe = table_probe(index, hash);
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (o->nodes.at[i].id == id && o->nodes.at[i].parent == parent)
			return i;
	i = (u32)o->nodes.n;
	table_add(index, hash, i);
	vec_add(&o->nodes,
		((struct outline_node){.id = id,
			.parent = parent,
			.symbol = symbol,
			.is_prelude = is_first}));
	return i;
}

/* Larger ones first; what is equally large by its name, which is the same everywhere. */
static int by_size(const void *a, const void *b, void *outline)
{
	const struct outline *o = outline;
	const struct outline_node *x = &o->nodes.at[*(const u32 *)a],
				  *y = &o->nodes.at[*(const u32 *)b];
	const char *s = o->profile->symbols.at[x->symbol].name,
		   *t = o->profile->symbols.at[y->symbol].name;
	int r = 0;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (s && t)
		r = strcmp(s, t);
	else if (s || t)
		r = s ? -1 : 1;
	return r ? r : x->id < y->id ? -1 : x->id > y->id;
}

/* Children into lists, the largest first. Nodes without samples of the event are left out. */
static void link_children(struct outline *o)
{
	VEC(u32) order = {0};

	for (u32 i = 1; i < o->nodes.n; i++)
		if (o->nodes.at[i].total)
			vec_add(&order, i);
	if (order.n)
		qsort_r(order.at, order.n, sizeof(*order.at), by_size, o);
	for (size_t i = order.n; i-- > 0;) {
		struct outline_node *n = &o->nodes.at[order.at[i]];

		n->next_sibling = o->nodes.at[n->parent].first_child;
		o->nodes.at[n->parent].first_child = order.at[i];
	}
	vec_fini(&order);
}

void outline_init(struct outline *o, const struct profile *p, const struct calls *c, u32 event)
{
	u32 *of_call = mem_zalloc((c->nodes.n + 1) * sizeof(*of_call));
	struct table index = {0};

	memset(o, 0, sizeof(*o));
	o->profile = p;
	vec_add(&o->nodes, ((struct outline_node){.is_prelude = true}));
	for (u32 i = 1; i < c->nodes.n; i++)
		of_call[i] =
			child_of(o, &index, of_call[c->nodes.at[i].parent], c->nodes.at[i].symbol);
	vec_each(row, &p->rows)
		if (row->event == event)
			o->nodes.at[of_call[c->of_row[row - p->rows.at]]].own += row->period;
	for (size_t i = o->nodes.n; i-- > 0;) {
		struct outline_node *n = &o->nodes.at[i];

		n->total += n->own;
		if (i)
			o->nodes.at[n->parent].total += n->total;
	}
	o->whole = o->nodes.at[0].total;
	link_children(o);
	mem_free(of_call);
	table_fini(&index);
}

void outline_fini(struct outline *o)
{
	vec_fini(&o->nodes);
	vec_fini(&o->lines);
}

/* ---- the cut ---- */

struct cutting {
	struct outline *outline;
	u32 top;
	u64 least; /* what is less gets no line for itself */
	u32 *order; /* nodes that may have a line, the largest first: none is larger than its callers */
	size_t n_order;
	bool *has_line; /* by node */
	u32 *nearest;   /* by node: it, or the caller that has a line */
	u64 *rest;      /* by node with a line: what ends in nodes below it that have none */
	u64 *n_hidden;  /* and in how many */
};

/* Functions off whose way so little goes share the line of the next one. */
static void share_lines(struct cutting *c)
{
	struct outline *o = c->outline;

	for (u32 i = 0; i < o->nodes.n; i++) {
		struct outline_node *n = &o->nodes.at[i];
		const struct outline_node *up = &o->nodes.at[n->parent];

		n->shares_line = i && i != c->top && n->first_child &&
			n->total - o->nodes.at[n->first_child].total <= c->least;
		n->line_parent = up->shares_line ? up->line_parent : n->parent;
	}
}

static void order_nodes(struct cutting *c)
{
	struct outline *o = c->outline;
	bool *is_below = mem_zalloc(o->nodes.n);

	is_below[c->top] = true;
	for (u32 i = c->top + 1; i < o->nodes.n; i++) {
		const struct outline_node *n = &o->nodes.at[i];

		is_below[i] = is_below[n->parent];
		if (is_below[i] && n->total && !n->shares_line)
			c->order[c->n_order++] = i;
	}
	mem_free(is_below);
	if (c->n_order)
		qsort_r(c->order, c->n_order, sizeof(*c->order), by_size, o);
}

/* What is below the nodes with a line and has none, where it is told. Returns how many lines that makes. */
static u64 place_rests(struct cutting *c, size_t n_with_line)
{
	const struct outline *o = c->outline;
	u64 n_lines = n_with_line + (c->top != 0);

	memset(c->has_line, 0, o->nodes.n);
	memset(c->rest, 0, o->nodes.n * sizeof(*c->rest));
	memset(c->n_hidden, 0, o->nodes.n * sizeof(*c->n_hidden));
	c->has_line[c->top] = true;
	for (size_t i = 0; i < n_with_line; i++)
		c->has_line[c->order[i]] = true;
	/* What is not below the top is nearest to nothing. */
	for (u32 i = 0; i < o->nodes.n; i++) {
		const struct outline_node *n = &o->nodes.at[i];

		c->nearest[i] = c->has_line[i] ? i : i ? c->nearest[n->parent] : UINT32_MAX;
		if (c->has_line[i] || !n->own || c->nearest[i] == UINT32_MAX)
			continue;
		c->rest[c->nearest[i]] += n->own;
		c->n_hidden[c->nearest[i]]++;
	}
	for (size_t i = o->nodes.n; i-- > 0;) {
		u32 up;

		if (!c->has_line[i] || !c->rest[i])
			continue;
		n_lines++;
		if (i == c->top || c->rest[i] > c->least)
			continue;
		n_lines--;
		up = c->nearest[o->nodes.at[i].parent];
		c->rest[up] += c->rest[i];
		c->n_hidden[up] += c->n_hidden[i];
		c->rest[i] = 0;
	}
	return n_lines;
}

static void add_rest(struct cutting *c, u32 node, u32 depth)
{
	if (c->rest[node])
		vec_add(&c->outline->lines,
			((struct outline_line){.node = node,
				.is_rest = true,
				.depth = depth,
				.own = c->rest[node],
				.total = c->rest[node],
				.n_hidden = c->n_hidden[node]}));
}

/* The node that a line tells that begins with this one. */
static u32 end_of_line(const struct outline *o, u32 node)
{
	while (o->nodes.at[node].shares_line)
		node = o->nodes.at[node].first_child;
	return node;
}

/* The next one with a line among the siblings, or 0. */
static u32 next_with_line(const struct cutting *c, u32 node)
{
	while (node && !c->has_line[end_of_line(c->outline, node)])
		node = c->outline->nodes.at[node].next_sibling;
	return node ? end_of_line(c->outline, node) : 0;
}

/* Where the line of a node begins: below its line_parent. */
static u32 begin_of_line(const struct outline *o, u32 node)
{
	u32 above = o->nodes.at[node].line_parent;

	while (o->nodes.at[node].parent != above)
		node = o->nodes.at[node].parent;
	return node;
}

/* Down and up by the links, because stacks may be deeper than ours. */
static void list_lines(struct cutting *c)
{
	struct outline *o = c->outline;
	u32 node = c->top, depth = 0, next = c->top;

	o->lines.n = 0;
	if (!c->top)
		next = next_with_line(c, o->nodes.at[0].first_child);
	for (;;) {
		if (next) {
			const struct outline_node *n = &o->nodes.at[next];

			node = next;
			vec_add(&o->lines,
				((struct outline_line){.node = node,
					.depth = depth++,
					.own = n->own,
					.total = n->total}));
			next = next_with_line(c, n->first_child);
			continue;
		}
		add_rest(c, node, depth);
		if (node == c->top)
			return;
		next = next_with_line(c, o->nodes.at[begin_of_line(o, node)].next_sibling);
		node = o->nodes.at[node].line_parent;
		depth--;
	}
}

void outline_cut(struct outline *o, u32 top, u64 n)
{
	struct cutting c = {.outline = o,
		.top = top,
		.least = o->nodes.at[top].total / n / 4,
		.order = mem_alloc((o->nodes.n + 1) * sizeof(*c.order)),
		.has_line = mem_zalloc(o->nodes.n + 1),
		.nearest = mem_alloc((o->nodes.n + 1) * sizeof(*c.nearest)),
		.rest = mem_alloc((o->nodes.n + 1) * sizeof(*c.rest)),
		.n_hidden = mem_alloc((o->nodes.n + 1) * sizeof(*c.n_hidden))};
	size_t n_with_line;
	u64 n_lines;

	o->top = top;
	share_lines(&c);
	order_nodes(&c);
	n_with_line = MIN((u64)c.n_order, n);
	while ((n_lines = place_rests(&c, n_with_line)) > n && n_with_line)
		n_with_line -= MIN((n_lines - n + 1) / 2, (u64)n_with_line);
	list_lines(&c);
	mem_free(c.order);
	mem_free(c.has_line);
	mem_free(c.nearest);
	mem_free(c.rest);
	mem_free(c.n_hidden);
}

/* ---- names ---- */

static u64 shown_id(const struct outline *o, u32 node)
{
	return o->nodes.at[node].id >> (64 - 4 * OUTLINE_ID_DIGITS);
}

void outline_add_id(const struct outline *o, u32 node, struct str *text)
{
	str_addf(text, "%0*llx", OUTLINE_ID_DIGITS, (unsigned long long)shown_id(o, node));
}

void outline_add_names(const struct outline *o, u32 node, u32 above, struct str *text)
{
	enum { FIRST = 2, LAST = 3 };
	VEC(u32) path = {0};

	for (; node != above && node; node = o->nodes.at[node].parent)
		vec_add(&path, node);
	for (size_t i = path.n; i-- > 0;) {
		size_t at = path.n - 1 - i;

		/* Of long ways the ends are enough: the rest is no choice. */
		if (path.n > FIRST + LAST + 1 && at == FIRST) {
			str_addf(text, "... %zu more ... > ", path.n - FIRST - LAST);
			i = LAST;
			continue;
		}
		key_add_symbol(o->profile, &o->profile->symbols.at[o->nodes.at[path.at[i]].symbol],
			false, text);
		str_add(text, i ? " > " : "");
	}
	vec_fini(&path);
}

int outline_find(const struct outline *o, const char *id, u32 *ret_node, struct err *err)
{
	size_t digits = strlen(id);
	char *end;
	u64 wanted = strtoull(id, &end, 16);
	u32 found = 0;

	if (!digits || *end || digits > OUTLINE_ID_DIGITS ||
		strspn(id, "0123456789abcdefABCDEF") != digits)
		return err_set(err, ERR_INVAL,
			"--node '%.40s': a node has a number of %d hexadecimal digits, which --budget shows",
			id, OUTLINE_ID_DIGITS);
	for (u32 i = 1; i < o->nodes.n; i++) {
		if (!o->nodes.at[i].total ||
			shown_id(o, i) >> 4 * (OUTLINE_ID_DIGITS - digits) != wanted)
			continue;
		if (found && o->nodes.at[i].id != o->nodes.at[found].id)
			return err_set(err, ERR_INVAL, "--node '%s': more than one begins so", id);
		if (!found || o->nodes.at[i].total > o->nodes.at[found].total)
			found = i;
	}
	if (!found)
		return err_set(err, ERR_INVAL,
			"--node '%s': there is no such node in this event's call tree; nodes of functions without names have other IDs in other builds of a program",
			id);
	*ret_node = found;
	return 0;
}
