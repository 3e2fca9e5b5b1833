#include "profile/rows/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The largest CANDIDATES nodes per line and SPARE more are judged; smaller ones tell less. With more than
 * AT_ONCE lines, several are assigned before the rest are judged again.
 */
enum { CANDIDATES = 8, SPARE = 64, AT_ONCE = 64 };

/* A sum of parts, as shares of all below the top: the total, and the parts' sum of x*log2(x). */
struct sum {
	double share, logs;
};

/* A function that may get a line, with those of its callers that have none yet. */
struct candidate {
	u32 node;
	u32 first; /* the outermost of these callers, or the node itself */
	u32 n_lines;
	double own;  /* share that their lines would name */
	double left; /* bits that stay unknown below all of them but the last */
};

/* A possible use of lines. */
struct move {
	u32 node, first; /* lines from first down to node; first 0: a sum below the node */
	u64 n_lines;
	u64 bits; /* saved per line, times 1e12 */
	size_t place;
};

struct budgeting {
	const struct outline *o;
	struct budget *b;
	u32 top;
	double whole;
	u32 *order; /* nodes that may have a line, the largest first: none is larger than its callers */
	size_t n_order;
	u32 *nearest;       /* by node: itself if it has a line, else the nearest one above */
	struct sum *below;  /* by node: the node and all below it */
	struct sum *hidden; /* by node with a line: the nodes without one that are nearest to it */
	bool *has_rest;     /* by node with a line: it has a sum of its own */
	u64 *pushed;        /* by node with a line: period that is summed up further up */
	u64 *n_pushed;
	struct candidate *candidate; /* by node */
	VEC(struct move) moves;
	u64 n_lines;
};

/* ---- bits ---- */

static double x_log_x(double x)
{
	return x > 0 ? x * log2(x) : 0;
}

static double bits_of(struct sum s)
{
	return s.share > 1e-12 ? s.share + x_log_x(s.share) - s.logs : 0;
}

static struct sum sum_without(struct sum a, struct sum b)
{
	return (struct sum){a.share - b.share, a.logs - b.logs};
}

static struct sum own_of(const struct budgeting *g, u32 node)
{
	double own = (double)g->o->nodes.at[node].own / g->whole;

	return (struct sum){own, x_log_x(own)};
}

static void add_to(struct sum *to, struct sum s)
{
	to->share += s.share;
	to->logs += s.logs;
}

/* ---- nodes ---- */

static int by_size(const void *a, const void *b, void *outline)
{
	return outline_compare(outline, *(const u32 *)a, *(const u32 *)b);
}

static void order_nodes(struct budgeting *g)
{
	const struct outline *o = g->o;
	bool *is_below = mem_zalloc(o->nodes.n);

	is_below[g->top] = true;
	for (u32 i = g->top + 1; i < o->nodes.n; i++) {
		const struct outline_node *n = &o->nodes.at[i];

		is_below[i] = is_below[n->parent];
		if (is_below[i] && n->total && !n->shares_line)
			g->order[g->n_order++] = i;
	}
	for (u32 i = (u32)o->nodes.n; i-- > g->top;)
		if (is_below[i]) {
			add_to(&g->below[i], own_of(g, i));
			if (i != g->top)
				add_to(&g->below[o->nodes.at[i].parent], g->below[i]);
		}
	mem_free(is_below);
	if (g->n_order)
		qsort_r(g->order, g->n_order, sizeof(*g->order), by_size, (void *)(uintptr_t)o);
}

/* Adds nodes without a line to their nearest line. */
static void find_hidden(struct budgeting *g)
{
	const struct outline *o = g->o;

	memset(g->hidden, 0, o->nodes.n * sizeof(*g->hidden));
	memset(g->b->rest, 0, o->nodes.n * sizeof(*g->b->rest));
	memset(g->b->n_hidden, 0, o->nodes.n * sizeof(*g->b->n_hidden));
	/* Nodes that are not below the top have no nearest line. */
	for (u32 i = 0; i < o->nodes.n; i++) {
		const struct outline_node *n = &o->nodes.at[i];
		u32 line;

		line = g->b->has_line[i] ? i : i ? g->nearest[n->parent] : UINT32_MAX;
		g->nearest[i] = line;
		if (line == i || !n->own || line == UINT32_MAX)
			continue;
		add_to(&g->hidden[line], own_of(g, i));
		g->b->rest[line] += n->own;
		g->b->n_hidden[line]++;
	}
}

/* Decides which line sums up what, and counts the lines. */
static void place_rests(struct budgeting *g)
{
	struct budget *b = g->b;

	find_hidden(g);
	g->n_lines = 0;
	for (size_t i = g->o->nodes.n; i-- > 0;) {
		u32 up;

		if (!b->has_line[i])
			continue;
		g->pushed[i] = g->n_pushed[i] = 0;
		g->n_lines += i != 0;
		if (b->rest[i] && (g->has_rest[i] || i == g->top))
			g->n_lines++;
		if (g->has_rest[i] || i == g->top)
			continue;
		up = g->nearest[g->o->nodes.at[i].parent];
		g->pushed[i] = b->rest[i];
		g->n_pushed[i] = b->n_hidden[i];
		b->rest[up] += b->rest[i];
		b->n_hidden[up] += b->n_hidden[i];
		b->rest[i] = b->n_hidden[i] = 0;
	}
}

/* Moves a sum down to a function if all of it is below that function. */
static void sink_rests(struct budgeting *g)
{
	struct budget *b = g->b;

	for (u32 i = g->top + 1; i < g->o->nodes.n; i++) {
		u32 up;

		if (!b->has_line[i] || !g->pushed[i])
			continue;
		up = g->nearest[g->o->nodes.at[i].parent];
		if (b->rest[up] != g->pushed[i])
			continue;
		b->rest[i] = b->rest[up];
		b->n_hidden[i] = b->n_hidden[up];
		b->rest[up] = b->n_hidden[up] = 0;
		g->pushed[i] = 0;
	}
}

static double bits_left(const struct budgeting *g)
{
	double bits = 0;

	for (u32 i = g->top; i < g->o->nodes.n; i++)
		if (g->b->has_line[i])
			bits += bits_of(g->hidden[i]) + (double)g->pushed[i] / g->whole / 4;
	return bits;
}

/* ---- moves ---- */

/* The line whose sum contains the nodes nearest to `line`. */
static u32 rest_of(const struct budgeting *g, u32 line)
{
	while (!g->b->rest[line] && line != g->top)
		line = g->nearest[g->o->nodes.at[line].parent];
	return line;
}

static void add_move(struct budgeting *g, u32 node, u32 first, u64 n_lines, double bits)
{
	double a_line = bits / (n_lines ? (double)n_lines : 0.5);

	if (a_line > 0)
		vec_add(&g->moves,
			((struct move){node, first, n_lines, (u64)(a_line * 1e12), g->moves.n}));
}

static void offer_candidate(struct budgeting *g, u32 node)
{
	const struct candidate *c = &g->candidate[node];
	u32 line = g->nearest[c->first], rest = rest_of(g, line);
	struct sum hidden = g->hidden[line], path = g->below[c->first];
	double summed = (double)g->b->rest[rest] / g->whole;
	double bits = bits_of(hidden) - bits_of(sum_without(hidden, path)) - c->left -
		bits_of(sum_without(g->below[node], own_of(g, node)));
	/* The sum's line is freed if these lines name all of it. */
	bool frees = fabs(summed - c->own) < 1e-12;

	/* A sum that is all below these lines moves down to them. */
	if (rest != line)
		bits += c->own / 4;
	else if (fabs(summed - path.share) > 1e-12)
		bits -= (path.share - c->own) / 4;
	/* A caller of everything is worth a line that has no other use. */
	add_move(g, node, c->first, c->n_lines - frees, bits + g->below[node].share / 100);
}

/* Fills in the candidate of a node. Callers come first, so their candidates are there. */
static void find_candidate(struct budgeting *g, u32 node)
{
	struct candidate *c = &g->candidate[node];
	u32 up = g->o->nodes.at[node].line_parent;
	double own = own_of(g, node).share;

	if (g->b->has_line[up]) {
		*c = (struct candidate){node, node, 1, own, 0};
		return;
	}
	*c = g->candidate[up];
	c->node = node;
	c->n_lines++;
	c->own += own;
	c->left += bits_of(sum_without(sum_without(g->below[up], own_of(g, up)), g->below[node]));
}

static int by_bits(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	if (x->bits != y->bits)
		return x->bits > y->bits ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void find_moves(struct budgeting *g, u64 n)
{
	size_t n_judged = MIN((u64)g->n_order, n * CANDIDATES + SPARE);

	g->moves.n = 0;
	for (size_t i = 0; i < n_judged; i++) {
		u32 node = g->order[i];

		if (!g->b->has_line[node]) {
			find_candidate(g, node);
			offer_candidate(g, node);
		} else if (g->pushed[node]) {
			add_move(g, node, 0, 1, (double)g->pushed[node] / g->whole / 4);
		}
	}
	if (g->moves.n)
		qsort(g->moves.at, g->moves.n, sizeof(*g->moves.at), by_bits);
}

static void apply(struct budgeting *g, const struct move *m)
{
	if (!m->first) {
		g->has_rest[m->node] = true;
		return;
	}
	for (u32 node = m->node;; node = g->o->nodes.at[node].line_parent) {
		g->b->has_line[node] = true;
		if (node == m->first)
			return;
	}
}

/* Applies some of the best moves that do not affect each other. Returns whether there was one. */
static bool apply_best(struct budgeting *g, u64 n, bool *is_touched)
{
	u64 n_lines = g->n_lines, n_most = 1 + n / AT_ONCE, n_applied = 0;

	memset(is_touched, 0, g->o->nodes.n);
	vec_each(m, &g->moves) {
		u32 place = m->first ? m->first : m->node;

		if (n_lines + m->n_lines > n || is_touched[place])
			continue;
		apply(g, m);
		is_touched[place] = true;
		n_lines += m->n_lines;
		if (++n_applied == n_most)
			break;
	}
	return n_applied;
}

static void budgeting_fini(struct budgeting *g)
{
	mem_free(g->order);
	mem_free(g->nearest);
	mem_free(g->below);
	mem_free(g->hidden);
	mem_free(g->has_rest);
	mem_free(g->pushed);
	mem_free(g->n_pushed);
	mem_free(g->candidate);
	vec_fini(&g->moves);
}

void budget_init(struct budget *b, const struct outline *o, u32 top, u64 n)
{
	size_t n_nodes = o->nodes.n;
	struct budgeting g = {.o = o,
		.b = b,
		.top = top,
		.whole = MAX((double)o->nodes.at[top].total, 1),
		.order = mem_alloc(n_nodes * sizeof(*g.order)),
		.nearest = mem_alloc(n_nodes * sizeof(*g.nearest)),
		.below = mem_zalloc(n_nodes * sizeof(*g.below)),
		.hidden = mem_alloc(n_nodes * sizeof(*g.hidden)),
		.has_rest = mem_zalloc(n_nodes),
		.pushed = mem_zalloc(n_nodes * sizeof(*g.pushed)),
		.n_pushed = mem_zalloc(n_nodes * sizeof(*g.n_pushed)),
		.candidate = mem_alloc(n_nodes * sizeof(*g.candidate))};
	bool *is_touched = mem_alloc(n_nodes);

	b->has_line = mem_zalloc(n_nodes);
	b->rest = mem_alloc(n_nodes * sizeof(*b->rest));
	b->n_hidden = mem_alloc(n_nodes * sizeof(*b->n_hidden));
	b->has_line[top] = true;
	order_nodes(&g);
	do {
		place_rests(&g);
		sink_rests(&g);
		find_moves(&g, n);
	} while (apply_best(&g, n, is_touched));
	b->bits = bits_left(&g);
	mem_free(is_touched);
	budgeting_fini(&g);
}

void budget_fini(struct budget *b)
{
	mem_free(b->has_line);
	mem_free(b->rest);
	mem_free(b->n_hidden);
}
