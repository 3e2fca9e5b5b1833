#include "view/rows/outlinerows.h"

#include <stdlib.h>

#include "profile/rows/key_family.h"

enum { INDENT = 2, NEIGHBOURS_MAX = 5, DEEPEST = 40 };

static const struct rowset_column columns[] = {
	{"depth", "Depth", ROWSET_VALUE, CELL_COUNT},
	{"node", "Node", ROWSET_VALUE, CELL_TEXT},
	{"parent", "Parent", ROWSET_VALUE, CELL_TEXT},
	{"more", "More", ROWSET_VALUE, CELL_COUNT},
	{"names", "Function", ROWSET_VALUE, CELL_ROWS},
	{"dso", "Shared Object", ROWSET_VALUE, CELL_TEXT},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT},
	{"share", "Self", ROWSET_VALUE, CELL_SHARE},
	{"total_period", "Period", ROWSET_VALUE, CELL_COUNT},
	{"total_share", "Total", ROWSET_VALUE, CELL_SHARE},
};

static const struct rowset_column shown[] = {
	{"tree_total", "Total", ROWSET_VALUE, CELL_SHARE},
	{"tree_self", "Self", ROWSET_VALUE, CELL_SHARE},
	{"tree_node", "Node", ROWSET_FACT, CELL_TEXT, .width = OUTLINE_ID_DIGITS},
	{"tree_line", "Function", ROWSET_FACT, CELL_TEXT},
};

static const struct rowset_column facts[] = {
	{"event", "event", ROWSET_PART, CELL_TEXT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT},
	{"lost", "Lost", ROWSET_VALUE, CELL_COUNT},
};

/* The innermost node above that this line does not name. */
static u32 above(const struct outline *o, const struct outline_line *l)
{
	return l->node == o->top && !l->is_rest ? o->nodes.at[l->node].parent
						: o->nodes.at[l->node].line_parent;
}

static const struct profile_symbol *symbol_of(const struct outline *o, u32 node)
{
	return &o->profile->symbols.at[o->nodes.at[node].symbol];
}

static void add_id(struct rowmaker *m, const char *name, const struct outline *o, u32 node)
{
	struct str id = {0};

	if (node)
		outline_add_id(o, node, &id);
	rowmaker_text(m, name, node ? rowmaker_copy(m, str_text(&id)) : NULL);
	str_fini(&id);
}

/* Adds all names of a line, the outermost first. */
static void add_names(struct rowmaker *m, const struct outline *o, u32 node, u32 outside)
{
	struct rowmaker *names = rowmaker_below(m, "names", ROWMAKER_LIST);
	VEC(u32) path = {0};

	for (; node != outside && node; node = o->nodes.at[node].parent)
		vec_add(&path, node);
	for (size_t i = path.n; i-- > 0;) {
		rowmaker_row(names);
		key_set_function(symbol_of(o, path.at[i]), CELL_FUNCTION,
			rowmaker_add(names, "name"));
	}
	vec_fini(&path);
}

/* For people: names indented by depth, with their file. */
static void add_line(struct rowmaker *m, const struct outline *o, const struct outline_line *l,
	const char *dso)
{
	struct str text = {0};

	str_fill(&text, ' ', INDENT * MIN(l->depth, (u32)DEEPEST));
	if (l->is_rest) {
		str_addf(&text, "... %llu more", (unsigned long long)l->n_hidden);
	} else {
		outline_add_names(o, l->node, above(o, l), &text);
		str_add(&text, *dso == '[' ? "  " : "  [");
		str_add_safe(&text, dso, strlen(dso));
		str_add(&text, *dso == '[' ? "" : "]");
	}
	rowmaker_text(m, "tree_line", rowmaker_copy(m, str_text(&text)));
	str_fini(&text);
}

static void make_line(struct rowmaker *m, const void *outline, size_t row)
{
	const struct outline *o = outline;
	const struct outline_line *l = &o->lines.at[row];
	const char *dso = o->profile->dsos.at[symbol_of(o, l->node)->dso].name;

	rowmaker_u64(m, "depth", l->depth);
	add_id(m, "node", o, l->is_rest ? 0 : l->node);
	add_id(m, "parent", o, l->is_rest ? l->node : above(o, l));
	if (l->is_rest) {
		rowmaker_u64(m, "more", l->n_hidden);
		rowmaker_text(m, "tree_node", "-");
	} else {
		add_names(m, o, l->node, above(o, l));
		rowmaker_text(m, "dso", dso);
		add_id(m, "tree_node", o, l->node);
	}
	rowmaker_u64(m, "period", l->own);
	rowmaker_share(m, "share", l->own, o->whole);
	rowmaker_share(m, "tree_self", l->own, o->whole);
	rowmaker_u64(m, "total_period", l->total);
	rowmaker_share(m, "total_share", l->total, o->whole);
	rowmaker_share(m, "tree_total", l->total, o->whole);
	add_line(m, o, l, dso);
}

/* ---- a node ---- */

static double percent(const struct outline *o, u64 period)
{
	return o->whole ? 100 * (double)period / (double)o->whole : 0;
}

/* A caller or callee of the function in question, summed over all its places. */
struct neighbour {
	u32 symbol;
	u64 period;
};

typedef VEC(struct neighbour) neighbour_list;

static bool is_same_function(const struct outline *o, u32 a, u32 b)
{
	const struct profile_symbol *s = &o->profile->symbols.at[a],
				    *t = &o->profile->symbols.at[b];

	return a == b ||
		(s->name && t->name && !strcmp(s->name, t->name) &&
			s->is_inlined == t->is_inlined &&
			o->profile->dsos.at[s->dso].name == o->profile->dsos.at[t->dso].name);
}

static void count_neighbour(const struct outline *o, neighbour_list *list, u32 symbol, u64 period)
{
	vec_each(n, list)
		if (is_same_function(o, n->symbol, symbol)) {
			n->period += period;
			return;
		}
	vec_add(list, ((struct neighbour){symbol, period}));
}

static int by_period(const void *a, const void *b, void *profile)
{
	const struct neighbour *x = a, *y = b;
	const struct profile *p = profile;
	const char *s = p->symbols.at[x->symbol].name, *t = p->symbols.at[y->symbol].name;

	if (x->period != y->period)
		return x->period > y->period ? -1 : 1;
	return s && t ? strcmp(s, t) : !s - !t;
}

static void add_neighbours(const struct outline *o, const char *title, neighbour_list *list,
	struct str *text)
{
	u64 rest = 0;

	if (!list->n)
		return;
	qsort_r(list->at, list->n, sizeof(*list->at), by_period, (void *)(uintptr_t)o->profile);
	str_addf(text, "# %s:", title);
	for (size_t i = 0; i < list->n; i++) {
		if (i >= NEIGHBOURS_MAX) {
			rest += list->at[i].period;
			continue;
		}
		str_addf(text, "%s %.2f%% ", i ? "," : "", percent(o, list->at[i].period));
		key_add_symbol(&o->profile->symbols.at[list->at[i].symbol], text);
	}
	if (rest)
		str_addf(text, ", %.2f%% of %zu more", percent(o, rest), list->n - NEIGHBOURS_MAX);
	str_addc(text, '\n');
}

static void add_node(const struct outline *o, u32 node, struct str *text)
{
	u32 symbol = o->nodes.at[node].symbol;
	neighbour_list callers = {0}, callees = {0};
	u64 own = 0, n_places = 0;

	for (u32 i = 1; i < o->nodes.n; i++) {
		const struct outline_node *n = &o->nodes.at[i];
		u32 parent = n->parent;

		if (!n->total)
			continue;
		if (is_same_function(o, n->symbol, symbol)) {
			own += n->own;
			n_places++;
			if (parent && !is_same_function(o, o->nodes.at[parent].symbol, symbol))
				count_neighbour(o, &callers, o->nodes.at[parent].symbol, n->total);
		} else if (parent && is_same_function(o, o->nodes.at[parent].symbol, symbol)) {
			count_neighbour(o, &callees, n->symbol, n->total);
		}
	}
	str_add(text, "# Path: ");
	outline_add_names(o, node, 0, text);
	str_add(text, "\n# ");
	key_add_symbol(&o->profile->symbols.at[symbol], text);
	str_addf(text, " is at %llu place%s in the tree, %.2f%% self\n",
		(unsigned long long)n_places, n_places == 1 ? "" : "s", percent(o, own));
	add_neighbours(o, "Called by", &callers, text);
	add_neighbours(o, "Calls", &callees, text);
	str_add(text, "#\n");
	vec_fini(&callers);
	vec_fini(&callees);
}

void outlinerows_init(struct outlinerows *r, const struct outline *o, u32 event, u32 node,
	bool has_others)
{
	const struct profile_event *e = &o->profile->events.at[event];

	*r = (struct outlinerows){.lines = {.make = make_line, .of = o, .n_made = o->lines.n}};
	str_add(&r->title, has_others ? "Call tree of " : "Call tree");
	if (has_others)
		str_add_safe(&r->title, e->name, strlen(e->name));
	if (node)
		add_node(o, node, &r->notes);
	rowmaker_row(&r->facts);
	rowmaker_text(&r->facts, "event", e->name);
	rowmaker_u64(&r->facts, "samples", e->n_samples);
	rowmaker_u64(&r->facts, "period", e->period);
	rowmaker_u64(&r->facts, "lost", e->n_lost);
	r->head = rowmaker_table(&r->facts);
	r->head.columns = r->head.shown = facts;
	r->head.n_shown = ARRAY_SIZE(facts) - 1;
	r->rows = rowmaker_table(&r->lines);
	r->rows.columns = columns;
	r->rows.shown = shown;
	r->rows.n_columns = ARRAY_SIZE(columns);
	r->rows.n_shown = ARRAY_SIZE(shown);
	r->rows.name = "lines";
	r->rows.title = str_text(&r->title);
	r->rows.notes = str_text(&r->notes);
	r->rows.head = &r->head;
	r->rows.is_of_samples = r->rows.is_outline = true;
}

void outlinerows_fini(struct outlinerows *r)
{
	rowmaker_fini(&r->lines);
	rowmaker_fini(&r->facts);
	str_fini(&r->title);
	str_fini(&r->notes);
}
