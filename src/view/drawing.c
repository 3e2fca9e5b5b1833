#include "view/drawing.h"

#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "profile/key.h"

enum { GRAPH_MARGIN = 12, GRAPH_INDENT = 10, STACK_MARGIN = 11, STACK_INDENT = 5 };

struct drawing {
	struct str *text;
	const struct profile *profile;
	const struct graph *graph;
	const struct drawing_options *options;
	u64 whole;         /* what 100 % is */
	struct str prefix; /* what stands left of the level being drawn */
	size_t margin;
	VEC(u32) path; /* of the stack being drawn, its end first */
};

/* What is known of a node's branches, or that it is a caller, in the words that perf's users know. */
static void add_branches(struct drawing *d, const struct graph_branches *b)
{
	const char *separator = " (";

	if (b->n_callers && !b->n_to && !b->n_from) {
		str_add(d->text, " (calltrace)");
		return;
	}
	if (b->n_told && b->n_predicted < b->n_told) {
		str_addf(d->text, "%spredicted:%.1f%%", separator,
			100.0 * (double)b->n_predicted / (double)b->n_told);
		separator = " ";
	}
	if (b->n_aborts) {
		str_addf(d->text, "%sabort:%.1f%%", separator,
			100.0 * (double)b->n_aborts / (double)b->n_to);
		separator = " ";
	}
	if (b->n_from && b->cycles / b->n_from) {
		str_addf(d->text, "%scycles:%llu", separator,
			(unsigned long long)(b->cycles / b->n_from));
		separator = " ";
	}
	if (b->n_iterations) {
		str_addf(d->text, "%siter:%.1f", separator,
			(double)b->n_iterations / (double)b->n_from);
		separator = " ";
		if (b->loop_cycles)
			str_addf(d->text, " avg_cycles:%llu",
				(unsigned long long)(b->loop_cycles / b->n_iterations));
	}
	if (*separator == ' ' && separator[1] != '(')
		str_addc(d->text, ')');
}

static void add_name(struct drawing *d, u32 node)
{
	const struct profile_symbol *s = &d->profile->symbols.at[d->graph->nodes.at[node].symbol];

	if (!d->graph->branches) {
		key_add_symbol(s, d->text);
		return;
	}
	/* Without a line it is the place in the function, or the address, that stands for it. */
	if (s->has_line || !s->line) {
		key_add_symbol(s, d->text);
		str_add(d->text, s->line ? " " : "");
	}
	if (s->line)
		str_add_safe(d->text, s->line, strlen(s->line));
	add_branches(d, &d->graph->branches[node]);
}

static void add_name_line(struct drawing *d, u32 node)
{
	add_name(d, node);
	str_addc(d->text, '\n');
}

/* A period and its samples as the options want them shown. */
static void add_value(struct drawing *d, u64 period, u64 n_samples, u64 whole)
{
	if (d->options->value == DRAWING_PERCENT)
		num_add_percent(d->text, period, whole);
	else
		num_add_u64(d->text, d->options->value == DRAWING_PERIOD ? period : n_samples);
}

/* The only child of a node where no sample ended: drawn below it on the same branch. */
static u32 only_child(const struct graph *g, u32 node)
{
	u32 child = g->nodes.at[node].first_child;

	return child && !g->nodes.at[child].next_sibling && !g->nodes.at[node].own ? child : 0;
}

/*
 * What went on from a node: the whole that fractal shares of its children refer to, as perf has it.
 */
static u64 below(const struct graph *g, u32 node)
{
	return g->nodes.at[node].total - g->nodes.at[node].own;
}

static bool is_above(const struct drawing *d, u64 period, u64 whole)
{
	return (double)period >= (double)whole * d->options->limit / 100;
}

static void add_left(struct drawing *d)
{
	str_fill(d->text, ' ', d->margin);
	str_addn(d->text, str_text(&d->prefix), d->prefix.n);
}

static void draw_children(struct drawing *d, u32 parent, u64 whole);

/*
 * One branch: the node with its share, then the run of nodes that nothing branches off from, then
 * the rest.
 */
static void draw_branch(struct drawing *d, u32 node, u64 whole, bool is_last)
{
	size_t depth = d->prefix.n;

	add_left(d);
	str_add(d->text, is_last ? " --" : "|--");
	add_value(d, d->graph->nodes.at[node].total, d->graph->nodes.at[node].total_samples, whole);
	str_add(d->text, "--");
	add_name_line(d, node);
	str_addc(&d->prefix, is_last ? ' ' : '|');
	str_fill(&d->prefix, ' ', GRAPH_INDENT);
	for (u32 next; (next = only_child(d->graph, node)) != 0; node = next) {
		add_left(d);
		add_name_line(d, next);
	}
	draw_children(d, node,
		d->options->style == DRAWING_FRACTAL ? below(d->graph, node) : whole);
	str_cut(&d->prefix, depth);
}

static u32 next_drawn(const struct drawing *d, u32 node, u64 limit_of)
{
	while (node && !is_above(d, d->graph->nodes.at[node].total, limit_of))
		node = d->graph->nodes.at[node].next_sibling;
	return node;
}

/* Of fractal shares, what the branches drawn leave of the whole: those not drawn, and at the end of a trunk what ended there. */
static void draw_rest(struct drawing *d, u32 parent, u64 whole, u64 drawn, u64 drawn_samples)
{
	const struct graph_node *node = &d->graph->nodes.at[parent];
	u64 n_samples = node->total_samples - (whole == node->total ? 0 : node->own_samples);

	add_left(d);
	str_add(d->text, " --");
	add_value(d, whole - drawn, n_samples - drawn_samples, whole);
	str_add(d->text, "--[...]\n");
}

/*
 * Branches that the limit of entries cuts off leave the last one drawn as one of several; of
 * fractal shares what is not drawn is told.
 */
static void draw_children(struct drawing *d, u32 parent, u64 whole)
{
	const struct graph_node *nodes = d->graph->nodes.at;
	bool is_fractal = d->options->style == DRAWING_FRACTAL;
	u64 limit_of = is_fractal ? whole : d->whole, drawn = 0, drawn_samples = 0, n = 0;
	u32 child = next_drawn(d, nodes[parent].first_child, limit_of);

	while (child) {
		u32 next = next_drawn(d, nodes[child].next_sibling, limit_of);
		bool is_end = !next || ++n == d->options->entries, has_rest;

		drawn += nodes[child].total;
		drawn_samples += nodes[child].total_samples;
		has_rest = is_fractal && is_end && whole > drawn;
		add_left(d);
		str_addc(d->text, '|');
		str_fill(d->text, ' ', GRAPH_INDENT);
		str_addc(d->text, '\n');
		draw_branch(d, child, whole, !next && !has_rest);
		if (has_rest)
			draw_rest(d, parent, whole, drawn, drawn_samples);
		child = is_end ? 0 : next;
	}
}

/*
 * When everything comes through one function, its share is the row's own: it is drawn without, and
 * so is the run that nothing branches off from. Returns the last node of it, 0 if there is none.
 */
static u32 draw_trunk(struct drawing *d, u64 mine)
{
	const struct graph_node *nodes = d->graph->nodes.at;
	u32 top = next_drawn(d, nodes[0].first_child, d->whole), node = 0;
	bool is_first = true;

	if (!top || nodes[top].total != mine || nodes[top].next_sibling)
		return 0;
	for (u32 next = top; next; next = only_child(d->graph, node)) {
		node = next;
		if (node == top && d->options->skips_first_node)
			continue;
		str_fill(d->text, ' ', d->margin);
		if (is_first) {
			str_add(d->text, "|\n");
			str_fill(d->text, ' ', d->margin);
			str_add(d->text, "---");
			d->margin += 3;
		}
		is_first = false;
		add_name_line(d, node);
	}
	return node;
}

static void draw_tree(struct drawing *d, u64 mine)
{
	size_t before = d->text->n;
	u32 node = draw_trunk(d, mine);

	draw_children(d, node, d->whole);
	if (d->text->n > before)
		str_addc(d->text, '\n');
}

/* ---- stacks ---- */

/* From the root of the graph to the node: links lead up only. */
static void draw_stack(struct drawing *d, u32 end)
{
	const struct graph_node *nodes = d->graph->nodes.at;
	bool is_flat = d->options->style == DRAWING_FLAT;

	if (is_flat)
		str_fill(d->text, ' ', STACK_MARGIN);
	add_value(d, nodes[end].own, nodes[end].own_samples, d->whole);
	str_addc(d->text, is_flat ? '\n' : ' ');
	d->path.n = 0;
	for (u32 node = end; node; node = nodes[node].parent)
		vec_add(&d->path, node);
	for (size_t i = d->path.n; i-- > 0;) {
		if (is_flat)
			str_fill(d->text, ' ', STACK_MARGIN + STACK_INDENT);
		add_name(d, d->path.at[i]);
		str_addc(d->text, is_flat || !i ? '\n' : ';');
	}
	if (is_flat)
		str_addc(d->text, '\n');
}

/* Of equal stacks the one that the tree has first, as its branches are ordered. */
static void draw_stacks(struct drawing *d)
{
	const struct graph_node *nodes = d->graph->nodes.at;
	VEC(struct sort_item) ends = {0};
	size_t n;

	for (u32 node = nodes[0].first_child; node;) {
		u64 own = nodes[node].own;

		if (own && is_above(d, own, d->whole))
			vec_add(&ends, ((struct sort_item){~own, node}));
		if (nodes[node].first_child) {
			node = nodes[node].first_child;
			continue;
		}
		while (node && !nodes[node].next_sibling)
			node = nodes[node].parent;
		node = nodes[node].next_sibling;
	}
	sort_by_key(ends.at, ends.n);
	n = d->options->entries ? MIN(ends.n, d->options->entries) : ends.n;
	for (size_t i = 0; i < n; i++)
		draw_stack(d, ends.at[i].value);
	vec_fini(&ends);
}

void drawing_add(struct str *text, struct hist_view *view, const struct hist_entry *e,
	const struct drawing_options *o)
{
	const struct hist *h = view->hist;
	u64 mine = h->options->has_children ? e->of[0].total.period : e->of[0].self.period;
	struct graph graph;
	struct drawing d = {.text = text,
		.profile = h->profile,
		.graph = &graph,
		.options = o,
		.whole = o->style == DRAWING_FRACTAL ? mine : h->events[0].all.period,
		.margin = GRAPH_MARGIN};

	graph_init(&graph, view, e, o->order);
	if (o->style == DRAWING_FLAT || o->style == DRAWING_FOLDED)
		draw_stacks(&d);
	else
		draw_tree(&d, mine);
	str_fini(&d.prefix);
	vec_fini(&d.path);
	graph_fini(&graph);
}
