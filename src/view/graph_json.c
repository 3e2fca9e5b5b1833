#include "view/graph_json.h"

#include "base/json.h"
#include "profile/key.h"

static void add_branches(const struct graph_branches *b, const struct profile_symbol *s,
	struct str *text)
{
	if (s->line)
		json_text(text, s->has_line ? "line" : "place", s->line);
	if (b->n_to) {
		json_u64(text, "branches_to", b->n_to);
		json_u64(text, "told", b->n_told);
		json_u64(text, "predicted", b->n_predicted);
		json_u64(text, "aborts", b->n_aborts);
	}
	if (b->n_from) {
		json_u64(text, "branches_from", b->n_from);
		json_u64(text, "cycles", b->cycles);
		json_u64(text, "iterations", b->n_iterations);
		json_u64(text, "iteration_cycles", b->loop_cycles);
	}
}

static void open_node(const struct hist *h, const struct graph *g, u32 node, u64 whole,
	struct str *text)
{
	const struct graph_node *n = &g->nodes.at[node];
	const struct profile_symbol *s = &h->profile->symbols.at[n->symbol];
	struct str name = {0};

	key_add_symbol(s, &name);
	str_addc(text, '{');
	json_text(text, "symbol", str_text(&name));
	json_text(text, "dso", h->profile->dsos.at[s->dso].name);
	json_u64(text, "own_period", n->own);
	json_u64(text, "period", n->total);
	json_key(text, "share");
	str_addf(text, "%.4f,", whole ? 100.0 * (double)n->total / (double)whole : 0);
	if (g->branches)
		add_branches(&g->branches[node], s, text);
	str_fini(&name);
	if (!n->first_child)
		return;
	json_key(text, "nodes");
	str_addc(text, '[');
}

static void close_node(const struct graph_node *n, struct str *text)
{
	if (n->first_child) {
		json_end(text, ']');
		str_addc(text, ',');
	}
	json_end(text, '}');
	str_addc(text, ',');
}

/* Down and up by the links, because stacks may be deeper than ours. */
void graph_json_add(struct hist_view *view, const struct hist_entry *e, enum graph_order order,
	u64 whole, struct str *text)
{
	struct graph graph;
	const struct graph_node *nodes;
	u32 node;

	graph_init(&graph, view, e, order);
	nodes = graph.nodes.at;
	json_key(text, order == GRAPH_CALLER ? "calls" : "callers");
	str_addc(text, '[');
	for (node = nodes[0].first_child; node;) {
		open_node(view->hist, &graph, node, whole, text);
		if (nodes[node].first_child) {
			node = nodes[node].first_child;
			continue;
		}
		for (; node; node = nodes[node].parent) {
			close_node(&nodes[node], text);
			if (nodes[node].next_sibling)
				break;
		}
		node = node ? nodes[node].next_sibling : 0;
	}
	json_end(text, ']');
	str_addc(text, ',');
	graph_fini(&graph);
}
