#include "view/rows/graphrows.h"

#include "profile/rows/key.h"
#include "profile/rows/key_family.h"

struct graphrows {
	struct graph graph;
	const struct profile *profile;
};

enum id {
	OF_SYMBOL,
	OF_DSO,
	OF_OWN,
	OF_TOTAL,
	OF_SHARE,
	OF_LINE,
	OF_PLACE,
	OF_TO,
	OF_TOLD,
	OF_PREDICTED,
	OF_ABORTS,
	OF_FROM,
	OF_CYCLES,
	OF_ITERATIONS,
	OF_ITERATION_CYCLES,
	OF_NAME, /* for people: the symbol, or the place in it if there is no line */
	OF_SOURCE,
	OF_BRANCHES,
};

static const struct rowset_column columns[] = {
	{"symbol", "Symbol", ROWSET_KEY, CELL_FUNCTION, .id = OF_SYMBOL},
	{"dso", "Shared Object", ROWSET_FACT, CELL_TEXT, .id = OF_DSO},
	{"own_period", "Period", ROWSET_VALUE, CELL_COUNT, .id = OF_OWN},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, .id = OF_TOTAL},
	{"share", "Total", ROWSET_VALUE, CELL_SHARE, .id = OF_SHARE},
	/* The following columns are about branches. */
	{"line", "Line", ROWSET_FACT, CELL_TEXT, .id = OF_LINE},
	{"place", "Place", ROWSET_FACT, CELL_TEXT, .id = OF_PLACE},
	{"branches_to", "Branches", ROWSET_FACT, CELL_COUNT, .id = OF_TO},
	{"told", "Told", ROWSET_FACT, CELL_COUNT, .id = OF_TOLD},
	{"predicted", "Predicted", ROWSET_FACT, CELL_COUNT, .id = OF_PREDICTED},
	{"aborts", "Aborts", ROWSET_FACT, CELL_COUNT, .id = OF_ABORTS},
	{"branches_from", "Branches", ROWSET_FACT, CELL_COUNT, .id = OF_FROM},
	{"cycles", "Cycles", ROWSET_FACT, CELL_COUNT, .id = OF_CYCLES},
	{"iterations", "Iterations", ROWSET_FACT, CELL_COUNT, .id = OF_ITERATIONS},
	{"iteration_cycles", "Cycles", ROWSET_FACT, CELL_COUNT, .id = OF_ITERATION_CYCLES},
};

static const struct rowset_column shown[] = {
	{"symbol", "Symbol", ROWSET_KEY, CELL_FUNCTION, .id = OF_NAME},
	{"line", "Line", ROWSET_FACT, CELL_TEXT, .id = OF_SOURCE},
	{"branches", "Branches", ROWSET_FACT, CELL_TEXT, .id = OF_BRANCHES},
};

/* Adds what is known about a node's branches, or that it is a caller, in perf's words. */
static void add_branches(const struct graph_branches *b, struct str *text)
{
	const size_t start = text->n;

	if (b->n_callers && !b->n_to && !b->n_from) {
		str_add(text, "(calltrace)");
		return;
	}
	str_addc(text, '(');
	if (b->n_told && b->n_predicted < b->n_told)
		str_addf(text, "predicted:%.1f%% ",
			100.0 * (double)b->n_predicted / (double)b->n_told);
	if (b->n_aborts)
		str_addf(text, "abort:%.1f%% ", 100.0 * (double)b->n_aborts / (double)b->n_to);
	if (b->n_from && b->cycles / b->n_from)
		str_addf(text, "cycles:%llu ", (unsigned long long)(b->cycles / b->n_from));
	if (b->n_iterations)
		str_addf(text, "iter:%.1f ", (double)b->n_iterations / (double)b->n_from);
	if (b->n_iterations && b->loop_cycles)
		str_addf(text, "avg_cycles:%llu ",
			(unsigned long long)(b->loop_cycles / b->n_iterations));
	str_cut(text, text->n - 1);
	if (text->n > start)
		str_addc(text, ')');
}

static void set_branches(const struct graph_branches *b, enum id id, struct cell *ret)
{
	const u64 counts[] = {b->n_to, b->n_told, b->n_predicted, b->n_aborts, b->n_from, b->cycles,
		b->n_iterations, b->loop_cycles};

	if (id < OF_FROM ? b->n_to : b->n_from)
		cell_number(ret, CELL_COUNT, counts[id - OF_TO]);
}

static void set_line(const struct profile_symbol *s, bool is_wanted, struct cell *ret)
{
	if (s->line && is_wanted)
		cell_text(ret, s->line);
}

static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct graphrows *own = r->of;
	const struct rowset_node *node = &own->graph.nodes.at[row];
	const struct profile_symbol *s = &own->profile->symbols.at[node->symbol];
	const struct graph_branches *branches = own->graph.branches;

	(void)part;
	switch ((enum id)c->id) {
	case OF_NAME:
		/* Without a line, the place in the function or the address stands for the name. */
		if (!branches || s->has_line || !s->line)
			key_set_function(s, CELL_FUNCTION, ret);
		return;
	case OF_SYMBOL:
		key_set_function(s, CELL_FUNCTION, ret);
		return;
	case OF_DSO:
		cell_text(ret, own->profile->dsos.at[s->dso].name);
		return;
	case OF_OWN:
		cell_number(ret, CELL_COUNT, node->own);
		return;
	case OF_TOTAL:
		cell_number(ret, CELL_COUNT, node->total);
		return;
	case OF_SHARE:
		cell_share(ret, node->total, r->whole);
		return;
	case OF_SOURCE:
	case OF_LINE:
	case OF_PLACE:
		set_line(s, c->id == OF_SOURCE || s->has_line == (c->id == OF_LINE), ret);
		return;
	case OF_BRANCHES:
		add_branches(&branches[row], room);
		cell_text(ret, str_text(room));
		return;
	default:
		set_branches(&branches[row], c->id, ret);
	}
}

static void close_graph(struct rowset *r)
{
	struct graphrows *own = (struct graphrows *)(uintptr_t)r->of;

	graph_fini(&own->graph);
	mem_free(own);
}

void graphrows_open(struct rowset *r, struct hist_view *view, const struct hist_entry *e,
	enum graph_order order, u64 whole)
{
	const struct hist *h = view->hist;
	struct graphrows *own = mem_zalloc(sizeof(*own));

	own->profile = h->profile;
	graph_init(&own->graph, view, e, order);
	*r = (struct rowset){.columns = columns,
		.shown = shown,
		.n_columns = own->graph.branches ? ARRAY_SIZE(columns) : (size_t)OF_LINE,
		.n_shown = own->graph.branches ? ARRAY_SIZE(shown) : 1,
		.n = own->graph.nodes.n,
		.nodes = own->graph.nodes.at,
		.part = h->options->has_children ? e->of[0].total.period : e->of[0].self.period,
		.whole = whole,
		.of = own,
		.cell = cell_of,
		.close = close_graph};
}
