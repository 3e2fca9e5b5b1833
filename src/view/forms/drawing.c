#include "view/forms/drawing.h"

#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "view/text/colour.h"

enum { GRAPH_MARGIN = 12, GRAPH_INDENT = 10, STACK_MARGIN = 11, STACK_INDENT = 5 };

struct drawing {
	struct str *text;
	const struct rowset *tree;
	const struct rowset_node *nodes; /* those of `tree` */
	const struct drawing_options *options;
	u64 whole;         /* the value of 100 % */
	struct str prefix; /* drawn to the left of the current level */
	struct str room;
	size_t margin;
	VEC(u32) path; /* the stack being drawn, its end first */
};

/* Adds the cells of the node that people are shown. */
static void add_name(struct drawing *d, u32 node)
{
	bool has_any = false;
	struct cell cell;

	for (size_t i = 0; i < d->tree->n_shown; i++) {
		rowset_cell(d->tree, &d->tree->shown[i], node, 0, &d->room, &cell);
		if (cell.kind == CELL_NONE || (cell.kind == CELL_TEXT && !*cell.text))
			continue;
		str_add(d->text, has_any ? " " : "");
		cell_add_data(&cell, d->text);
		has_any = true;
	}
}

static void add_name_line(struct drawing *d, u32 node)
{
	add_name(d, node);
	str_addc(d->text, '\n');
}

/* Adds a period or its samples, as the options say. */
static void add_value(struct drawing *d, u64 period, u64 n_samples, u64 whole)
{
	const size_t start = d->text->n;

	if (d->options->value == DRAWING_PERCENT)
		num_add_percent(d->text, period, whole);
	else
		num_add_u64(d->text, d->options->value == DRAWING_PERIOD ? period : n_samples);
	if (d->options->has_colour && d->options->value == DRAWING_PERCENT && whole)
		colour_paint(d->text, start, colour_of_share((double)period / (double)whole));
}

/* The only child of a node where no sample ended: it is drawn below the node on the same branch. */
static u32 only_child(const struct rowset_node *nodes, u32 node)
{
	u32 child = nodes[node].first_child;

	return child && !nodes[child].next_sibling && !nodes[node].own ? child : 0;
}

/* The samples that went on from a node: what fractal shares of its children refer to, as in perf. */
static u64 below(const struct rowset_node *nodes, u32 node)
{
	return nodes[node].total - nodes[node].own;
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
	add_value(d, d->nodes[node].total, d->nodes[node].total_samples, whole);
	str_add(d->text, "--");
	add_name_line(d, node);
	str_addc(&d->prefix, is_last ? ' ' : '|');
	str_fill(&d->prefix, ' ', GRAPH_INDENT);
	for (u32 next; (next = only_child(d->nodes, node)) != 0; node = next) {
		add_left(d);
		add_name_line(d, next);
	}
	draw_children(d, node,
		d->options->style == DRAWING_FRACTAL ? below(d->nodes, node) : whole);
	str_cut(&d->prefix, depth);
}

static u32 next_drawn(const struct drawing *d, u32 node, u64 limit_of)
{
	while (node && !is_above(d, d->nodes[node].total, limit_of))
		node = d->nodes[node].next_sibling;
	return node;
}

/*
 * With fractal shares, draws what is left of the whole: branches that are not drawn and, at the end of a trunk, the
 * samples that ended there.
 */
static void draw_rest(struct drawing *d, u32 parent, u64 whole, u64 drawn, u64 drawn_samples)
{
	const struct rowset_node *node = &d->nodes[parent];
	u64 n_samples = node->total_samples - (whole == node->total ? 0 : node->own_samples);

	add_left(d);
	str_add(d->text, " --");
	add_value(d, whole - drawn, n_samples - drawn_samples, whole);
	str_add(d->text, "--[...]\n");
}

/*
 * If the limit of entries cuts off branches, the last one is still drawn as one of several; with fractal shares the
 * rest is drawn as well.
 */
static void draw_children(struct drawing *d, u32 parent, u64 whole)
{
	const struct rowset_node *nodes = d->nodes;
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
 * If everything comes through one function, its share is that of the row: it is drawn without a share, and so is the
 * run of nodes that nothing branches off from. Returns the last node of this trunk, 0 if there is none.
 */
static u32 draw_trunk(struct drawing *d, u64 mine)
{
	const struct rowset_node *nodes = d->nodes;
	u32 top = next_drawn(d, nodes[0].first_child, d->whole), node = 0;
	bool is_first = true;
	u64 n = 0;

	if (!top || nodes[top].total != mine || nodes[top].next_sibling)
		return 0;
	for (u32 next = top; next; next = only_child(d->nodes, node)) {
		node = next;
		if (node == top && d->options->skips_first_node)
			continue;
		/* The limit of entries is one of lines here. */
		if (d->options->entries && n++ >= d->options->entries)
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

/* The stack from the root of the graph to the node; links only lead up. */
static void draw_stack(struct drawing *d, u32 end)
{
	const struct rowset_node *nodes = d->nodes;
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

/* Equal stacks are in the order of the tree's branches. */
static void draw_stacks(struct drawing *d)
{
	const struct rowset_node *nodes = d->nodes;
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

void drawing_add(struct str *text, const struct rowset *tree, const struct drawing_options *o)
{
	struct drawing d = {.text = text,
		.tree = tree,
		.nodes = tree->nodes,
		.options = o,
		.whole = o->style == DRAWING_FRACTAL ? tree->part : tree->whole,
		.margin = GRAPH_MARGIN};

	if (o->style == DRAWING_FLAT || o->style == DRAWING_FOLDED)
		draw_stacks(&d);
	else
		draw_tree(&d, tree->part);
	str_fini(&d.prefix);
	str_fini(&d.room);
	vec_fini(&d.path);
}
