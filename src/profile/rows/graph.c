#include "profile/rows/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/rows/branchstats.h"

struct builder {
	struct graph *graph;
	struct hist_view *view;
	const struct hist *hist;
	const struct calls_node *calls;
	u32 ident;
};

/* Up to so many children are searched one by one; if there are more, all are in the index. */
enum { CHILDREN_FEW = 8 };

static u64 hash_of(u32 parent, u32 symbol)
{
	return hash_u64((u64)parent << 32 | symbol);
}

u32 graph_child(const struct graph *g, u32 parent, u32 symbol)
{
	const struct rowset_node *nodes = g->nodes.at;
	struct table_probe probe;
	u32 i;

	if (nodes[parent].n_children <= CHILDREN_FEW) {
		for (i = nodes[parent].first_child; i && nodes[i].symbol != symbol;)
			i = nodes[i].next_sibling;
		return i;
	}
	probe = table_probe(&g->index, hash_of(parent, symbol));
	while ((i = table_next(&g->index, &probe)) != TABLE_NONE)
		if (nodes[i].parent == parent && nodes[i].symbol == symbol)
			return i;
	return 0;
}

static void index_children(struct graph *g, u32 parent)
{
	const struct rowset_node *nodes = g->nodes.at;

	for (u32 i = nodes[parent].first_child; i; i = nodes[i].next_sibling)
		table_add(&g->index, hash_of(parent, nodes[i].symbol), i);
}

/* The child of a node with that symbol, created if new. */
static u32 child_of(struct graph *g, u32 parent, u32 symbol)
{
	u32 i = graph_child(g, parent, symbol), n;

	if (i)
		return i;
	i = g->nodes.n;
	vec_add(&g->nodes,
		((struct rowset_node){.symbol = symbol,
			.parent = parent,
			.next_sibling = g->nodes.at[parent].first_child}));
	g->nodes.at[parent].first_child = i;
	n = ++g->nodes.at[parent].n_children;
	if (n == CHILDREN_FEW + 1)
		index_children(g, parent);
	else if (n > CHILDREN_FEW)
		table_add(&g->index, hash_of(parent, symbol), i);
	return i;
}

/* The node's symbol in the graph: its function, even if rows are of lines, except for graphs with branches. */
static u32 function_at(const struct builder *b, u32 node)
{
	u32 symbol = b->calls[node].symbol;

	return b->hist->options->has_history ? symbol : profile_function(b->hist->profile, symbol);
}

static bool is_ours(const struct builder *b, u32 node)
{
	return b->hist->ident[b->calls[node].symbol] == b->ident;
}

/* Adds the path from the root to the node. */
static u32 add_path_down(struct builder *b, u32 node)
{
	return node
		? child_of(b->graph, add_path_down(b, b->calls[node].parent), function_at(b, node))
		: 0;
}

static void add_value(struct graph *g, u32 node, struct hist_value value)
{
	g->nodes.at[node].own += value.period;
	g->nodes.at[node].own_samples += value.n_samples;
}

/* Adds a node's own samples to its path from the root. */
static void add_own(struct builder *b, u32 node)
{
	u32 leaf;

	if (hist_value_is_zero(&b->view->own[node]))
		return;
	leaf = add_path_down(b, node);
	add_value(b->graph, leaf, b->view->own[node]);
}

/* Adds the path from the node up to the root. */
static u32 add_path_up(struct builder *b, u32 node)
{
	u32 at = 0;

	for (; node; node = b->calls[node].parent)
		at = child_of(b->graph, at, function_at(b, node));
	return at;
}

struct pair {
	u32 node; /* of the call tree */
	u32 to;   /* of the graph */
};

/*
 * Copies the tree below a node of the call tree, except samples in the entry itself.
 */
static void add_below(struct builder *b, u32 top)
{
	VEC(struct pair) todo = {0};

	vec_add(&todo, ((struct pair){top, child_of(b->graph, 0, function_at(b, top))}));
	while (todo.n) {
		struct pair next = todo.at[--todo.n];

		/* The entry's own samples, also in inlined code, are on its path from the root. */
		if (!is_ours(b, b->calls[next.node].function))
			add_value(b->graph, next.to, b->view->own[next.node]);
		else if (b->calls[next.node].function != next.node)
			add_own(b, next.node);
		for (u32 child = b->calls[next.node].first_child; child;
			child = b->calls[child].next_sibling)
			if (!hist_value_is_zero(&b->view->total[child]))
				vec_add(&todo,
					((struct pair){child,
						child_of(b->graph, next.to,
							function_at(b, child))}));
	}
	vec_fini(&todo);
}

static void build_caller(struct builder *b, bool has_children)
{
	size_t n;
	const struct sort_item *nodes = hist_view_nodes(b->view, b->ident, &n);

	for (size_t i = 0; i < n; i++) {
		u32 node = nodes[i].value;

		if (!has_children || b->calls[node].function == node)
			add_own(b, node);
		if (has_children && !b->hist->outer[node])
			add_below(b, node);
	}
}

static void build_callee(struct builder *b, bool has_children)
{
	size_t n;
	const struct sort_item *nodes = hist_view_nodes(b->view, b->ident, &n);
	/*
	 * Samples whose innermost occurrence of the entry is this node: its total, less the totals
	 * of occurrences below it.
	 */
	struct hist_value *inner = b->view->scratch;

	for (size_t i = n; i-- > 0;) {
		u32 node = nodes[i].value, outer = has_children ? b->hist->outer[node] : 0;
		struct hist_value total = has_children ? b->view->total[node] : b->view->own[node];

		inner[node].period += total.period;
		inner[node].n_samples += total.n_samples;
		if (outer) {
			inner[outer].period -= total.period;
			inner[outer].n_samples -= total.n_samples;
		}
		if (!hist_value_is_zero(&inner[node]))
			add_value(b->graph, add_path_up(b, node), inner[node]);
	}
	for (size_t i = 0; i < n; i++)
		inner[nodes[i].value] = (struct hist_value){0};
}

struct ordering {
	const struct graph *graph;
	const struct profile *profile;
	VEC(u32) children; /* of one node */
};

static int compare_children(const void *x, const void *y, void *ctx)
{
	const struct ordering *o = ctx;
	const struct rowset_node *a = &o->graph->nodes.at[*(const u32 *)x],
				 *b = &o->graph->nodes.at[*(const u32 *)y];
	const struct profile_symbol *s = &o->profile->symbols.at[a->symbol],
				    *t = &o->profile->symbols.at[b->symbol];
	int r = 0;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	/* Like rows: addresses without a name come after the names. */
	if (!s->name != !t->name)
		return s->name ? -1 : 1;
	if (s->name)
		r = strcmp(s->name, t->name);
	if (!r)
		r = s->start < t->start ? -1 : s->start > t->start;
	return r ? r : strcmp(o->profile->dsos.at[s->dso].path, o->profile->dsos.at[t->dso].path);
}

/* Sorts a node's children. Most nodes have at most one, and there are many nodes. */
static void sort_children(struct graph *g, struct ordering *o, u32 parent)
{
	struct rowset_node *nodes = g->nodes.at;
	const u32 first = nodes[parent].first_child;

	if (!first)
		return;
	/* Nodes that only samples of the entry itself went through are empty. */
	if (!nodes[first].next_sibling) {
		nodes[parent].first_child = nodes[first].total ? first : 0;
		return;
	}
	o->children.n = 0;
	for (u32 c = first; c; c = nodes[c].next_sibling)
		if (nodes[c].total)
			vec_add(&o->children, c);
	if (o->children.n > 1)
		qsort_r(o->children.at, o->children.n, sizeof(*o->children.at), compare_children,
			o);
	nodes[parent].first_child = o->children.n ? o->children.at[0] : 0;
	for (size_t i = 0; i < o->children.n; i++)
		nodes[o->children.at[i]].next_sibling =
			i + 1 < o->children.n ? o->children.at[i + 1] : 0;
}

void graph_init(struct graph *g, struct hist_view *view, const struct hist_entry *e,
	enum graph_order order)
{
	const struct hist *h = view->hist;
	struct builder b = {g, view, h, h->calls->nodes.at, e->ident};
	struct ordering ordering = {.graph = g, .profile = h->profile};

	memset(g, 0, sizeof(*g));
	vec_add(&g->nodes, ((struct rowset_node){0}));
	hist_view_show(view, e->group);
	if (order == GRAPH_CALLER)
		build_caller(&b, h->options->has_children);
	else
		build_callee(&b, h->options->has_children);
	for (size_t i = g->nodes.n; i-- > 0;) {
		struct rowset_node *node = &g->nodes.at[i], *parent = &g->nodes.at[node->parent];

		node->total += node->own;
		node->total_samples += node->own_samples;
		if (!i)
			break;
		parent->total += node->total;
		parent->total_samples += node->total_samples;
	}
	for (u32 i = 0; i < g->nodes.n; i++)
		sort_children(g, &ordering, i);
	vec_fini(&ordering.children);
	if (h->options->has_history)
		branchstats_count(g, h, e, order);
}

void graph_fini(struct graph *g)
{
	vec_fini(&g->nodes);
	table_fini(&g->index);
	mem_free(g->branches);
}
