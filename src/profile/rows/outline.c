#include "profile/rows/outline.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/rows/budget.h"
#include "profile/rows/key.h"

/* ---- ids ---- */

/* FNV-1a, written out because ids must be the same everywhere and forever. */
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
	/* In another build, the same address, or a name made from it, is another function. */
	if (!profile_is_named(s) && p->dsos.at[s->dso].build)
		hash = hash_on(hash, p->dsos.at[s->dso].build,
			strlen(p->dsos.at[s->dso].build) + 1);
	return hash_on(hash, s->is_inlined ? "i" : "f", 1);
}

/*
 * Whether the function is in the C library, where programs begin, and which has names on some machines only.
 * So the path to main(), or to the first function of a thread, is not part of ids.
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

int outline_compare(const struct outline *o, u32 a, u32 b)
{
	const struct outline_node *x = &o->nodes.at[a], *y = &o->nodes.at[b];
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

static int by_size(const void *a, const void *b, void *outline)
{
	return outline_compare(outline, *(const u32 *)a, *(const u32 *)b);
}

/* Links children into lists, the largest first. Nodes without samples of the event are left out. */
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
	for (size_t k = c->first_row[event]; k < c->first_row[event + 1]; k++) {
		u32 row = c->rows[k];

		o->nodes.at[of_call[c->of_row[row]]].own += p->rows.at[row].period;
	}
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

/* Nodes with a line, as a tree of their own. */
struct listing {
	struct outline *outline;
	struct budget budget;
	u32 *first; /* by node with a line: the largest line below it, or 0 */
	u32 *next;  /* by node with a line: its next sibling, or 0 */
};

/*
 * When a function shares the line of its largest child: if no more than this goes elsewhere, as a fraction of
 * an even share per line, and of what enters the line.
 */
static const struct sharing {
	u64 lines; /* divisor of an even share per line; 0: no limit */
	u64 enters;
} sharings[] = {{4, 4}, {1, 4}, {0, 2}};

static void share_lines(struct outline *o, u32 top, u64 n, const struct sharing *s)
{
	u64 *entering = mem_alloc(o->nodes.n * sizeof(*entering));
	u64 least = s->lines ? o->nodes.at[top].total / n / s->lines : UINT64_MAX;

	for (u32 i = 0; i < o->nodes.n; i++) {
		struct outline_node *node = &o->nodes.at[i];
		const struct outline_node *up = &o->nodes.at[node->parent];
		u64 next = o->nodes.at[node->first_child].total, left;

		entering[i] = up->shares_line ? entering[node->parent] : node->total;
		node->line_parent = up->shares_line ? up->line_parent : node->parent;
		left = entering[i] - next;
		node->shares_line = i && i != top && node->first_child &&
			(node->total == next || (left <= least && left <= entering[i] / s->enters));
	}
	mem_free(entering);
}

static void link_lines(struct listing *l)
{
	struct outline *o = l->outline;
	VEC(u32) order = {0};

	for (u32 i = o->top + 1; i < o->nodes.n; i++)
		if (l->budget.has_line[i])
			vec_add(&order, i);
	if (order.n)
		qsort_r(order.at, order.n, sizeof(*order.at), by_size, o);
	for (size_t i = order.n; i-- > 0;) {
		u32 node = order.at[i], up = o->nodes.at[node].line_parent;

		l->next[node] = l->first[up];
		l->first[up] = node;
	}
	vec_fini(&order);
}

static void add_line(struct listing *l, u32 node, u32 depth)
{
	const struct outline_node *n = &l->outline->nodes.at[node];

	vec_add(&l->outline->lines,
		((struct outline_line){.node = node,
			.depth = depth,
			.own = n->own,
			.total = n->total}));
}

static void add_rest(struct listing *l, u32 node, u32 depth)
{
	if (l->budget.rest[node])
		vec_add(&l->outline->lines,
			((struct outline_line){.node = node,
				.is_rest = true,
				.depth = depth,
				.own = l->budget.rest[node],
				.total = l->budget.rest[node],
				.n_hidden = l->budget.n_hidden[node]}));
}

/* Lists the lines in order. It follows links, because recorded stacks may be deeper than our own. */
static void list_lines(struct listing *l)
{
	struct outline *o = l->outline;
	u32 node = o->top, depth = 0, next;

	o->lines.n = 0;
	if (node)
		add_line(l, node, depth++);
	for (next = l->first[node];;) {
		if (next) {
			node = next;
			add_line(l, node, depth++);
			next = l->first[node];
			continue;
		}
		add_rest(l, node, depth);
		if (node == o->top)
			return;
		next = l->next[node];
		node = o->nodes.at[node].line_parent;
		depth--;
	}
}

/* Lines that join many callers are hard to read: they are chosen only if they leave clearly less unknown. */
#define CLEARLY_LESS 0.2 /* bits */

static void choose_lines(struct listing *l, u64 n)
{
	struct outline *o = l->outline;
	size_t best = 0, last = ARRAY_SIZE(sharings) - 1;

	for (size_t i = 0; i < ARRAY_SIZE(sharings); i++) {
		struct budget b;

		share_lines(o, o->top, n, &sharings[i]);
		budget_init(&b, o, o->top, n);
		if (i && b.bits > l->budget.bits - CLEARLY_LESS) {
			budget_fini(&b);
			continue;
		}
		budget_fini(&l->budget);
		l->budget = b;
		best = i;
	}
	if (best != last)
		share_lines(o, o->top, n, &sharings[best]);
}

void outline_cut(struct outline *o, u32 top, u64 n)
{
	struct listing l = {.outline = o,
		.first = mem_zalloc(o->nodes.n * sizeof(*l.first)),
		.next = mem_zalloc(o->nodes.n * sizeof(*l.next))};

	o->top = top;
	choose_lines(&l, n);
	link_lines(&l);
	list_lines(&l);
	budget_fini(&l.budget);
	mem_free(l.first);
	mem_free(l.next);
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

		/* Of long paths the ends are enough. */
		if (path.n > FIRST + LAST + 1 && at == FIRST) {
			str_addf(text, "... %zu more ... > ", path.n - FIRST - LAST);
			i = LAST;
			continue;
		}
		key_add_symbol(&o->profile->symbols.at[o->nodes.at[path.at[i]].symbol], text);
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
			"--node '%.40s': a node ID has %d hexadecimal digits; --budget shows the IDs",
			id, OUTLINE_ID_DIGITS);
	for (u32 i = 1; i < o->nodes.n; i++) {
		if (!o->nodes.at[i].total ||
			shown_id(o, i) >> 4 * (OUTLINE_ID_DIGITS - digits) != wanted)
			continue;
		if (found && o->nodes.at[i].id != o->nodes.at[found].id)
			return err_set(err, ERR_INVAL,
				"--node '%s': more than one node ID begins with this", id);
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
