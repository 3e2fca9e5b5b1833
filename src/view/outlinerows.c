#include "view/outlinerows.h"

#include <stdlib.h>

#include "profile/key_family.h"

enum { INDENT = 2, NEIGHBOURS_MAX = 5, DEEPEST = 40 };

enum id {
	OF_DEPTH,
	OF_NODE,
	OF_PARENT,
	OF_MORE,
	OF_NAMES,
	OF_NAME,
	OF_DSO,
	OF_OWN,
	OF_OWN_SHARE,
	OF_TOTAL,
	OF_TOTAL_SHARE,
	OF_LINE, /* for people: names by depth, and where they are */
	OF_EVENT,
	OF_SAMPLES,
	OF_PERIOD,
	OF_LOST,
};

static const struct rowset_column columns[] = {
	{"depth", "Depth", ROWSET_VALUE, CELL_COUNT, .id = OF_DEPTH},
	{"node", "Node", ROWSET_VALUE, CELL_TEXT, .id = OF_NODE},
	{"parent", "Parent", ROWSET_VALUE, CELL_TEXT, .id = OF_PARENT},
	{"more", "More", ROWSET_VALUE, CELL_COUNT, .id = OF_MORE},
	{"names", "Function", ROWSET_VALUE, CELL_ROWS, .id = OF_NAMES},
	{"dso", "Shared Object", ROWSET_VALUE, CELL_TEXT, .id = OF_DSO},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, .id = OF_OWN},
	{"share", "Self", ROWSET_VALUE, CELL_SHARE, .id = OF_OWN_SHARE},
	{"total_period", "Period", ROWSET_VALUE, CELL_COUNT, .id = OF_TOTAL},
	{"total_share", "Total", ROWSET_VALUE, CELL_SHARE, .id = OF_TOTAL_SHARE},
};

static const struct rowset_column shown[] = {
	{"tree_total", "Total", ROWSET_VALUE, CELL_SHARE, .id = OF_TOTAL_SHARE},
	{"tree_self", "Self", ROWSET_VALUE, CELL_SHARE, .id = OF_OWN_SHARE},
	{"tree_node", "Node", ROWSET_FACT, CELL_TEXT, .width = OUTLINE_ID_DIGITS, .id = OF_NODE},
	{"tree_line", "Function", ROWSET_FACT, CELL_TEXT, .id = OF_LINE},
};

static const struct rowset_column names[] = {{"name", "Function", ROWSET_KEY, .id = OF_NAME}};

static const struct rowset_column facts[] = {
	{"event", "event", ROWSET_PART, CELL_TEXT, .id = OF_EVENT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, .id = OF_SAMPLES},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, .id = OF_PERIOD},
	{"lost", "Lost", ROWSET_VALUE, CELL_COUNT, .id = OF_LOST},
};

/* The node above whose name the line of this one does not tell. */
static u32 above(const struct outline *o, const struct outline_line *l)
{
	return l->node == o->top && !l->is_rest ? o->nodes.at[l->node].parent
						: o->nodes.at[l->node].line_parent;
}

static const char *dso_of(const struct outline *o, u32 node)
{
	return o->profile->dsos.at[o->profile->symbols.at[o->nodes.at[node].symbol].dso].name;
}

/* ---- all names on a line, the outermost first ---- */

struct path {
	const struct outline *outline;
	VEC(u32) nodes; /* the innermost first */
};

static void cell_of_path(const struct rowset *r, const struct rowset_column *c, size_t row,
	u32 part, struct str *room, struct cell *ret)
{
	const struct path *p = r->of;
	const struct outline *o = p->outline;
	const u32 node = p->nodes.at[p->nodes.n - 1 - row];

	(void)c;
	(void)part;
	(void)room;
	key_set_function(&o->profile->symbols.at[o->nodes.at[node].symbol], CELL_FUNCTION, ret);
}

static void close_path(struct rowset *r)
{
	struct path *p = (struct path *)(uintptr_t)r->of;

	vec_fini(&p->nodes);
	mem_free(p);
}

static void open_path(const struct rowset *r, const struct rowset_column *c, size_t row,
	struct rowset *ret)
{
	const struct outline *o = ((const struct outlinerows *)r->of)->outline;
	const struct outline_line *l = &o->lines.at[row];
	const u32 outside = above(o, l);
	struct path *p = mem_zalloc(sizeof(*p));

	(void)c;
	p->outline = o;
	for (u32 node = l->node; node != outside && node; node = o->nodes.at[node].parent)
		vec_add(&p->nodes, node);
	*ret = (struct rowset){.columns = names,
		.n_columns = ARRAY_SIZE(names),
		.n = p->nodes.n,
		.is_list = true,
		.of = p,
		.cell = cell_of_path,
		.close = close_path};
}

/* ---- cells ---- */

static void add_line(const struct outline *o, const struct outline_line *l, struct str *text)
{
	const char *dso = dso_of(o, l->node);

	str_fill(text, ' ', INDENT * MIN(l->depth, (u32)DEEPEST));
	if (l->is_rest) {
		str_addf(text, "... %llu more", (unsigned long long)l->n_hidden);
		return;
	}
	outline_add_names(o, l->node, above(o, l), text);
	str_add(text, *dso == '[' ? "  " : "  [");
	str_add_safe(text, dso, strlen(dso));
	str_add(text, *dso == '[' ? "" : "]");
}

static void set_node(const struct outline *o, u32 node, struct str *room, struct cell *ret)
{
	if (node)
		outline_add_id(o, node, room);
	cell_text(ret, node ? str_text(room) : NULL);
}

static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct outline *o = ((const struct outlinerows *)r->of)->outline;
	const struct outline_line *l = &o->lines.at[row];

	(void)part;
	switch ((enum id)c->id) {
	case OF_DEPTH:
		cell_number(ret, CELL_COUNT, l->depth);
		return;
	case OF_NODE:
		if (l->is_rest && c->group == ROWSET_FACT)
			cell_text(ret, "-");
		else
			set_node(o, l->is_rest ? 0 : l->node, room, ret);
		return;
	case OF_PARENT:
		set_node(o, l->is_rest ? l->node : above(o, l), room, ret);
		return;
	case OF_MORE:
		if (l->is_rest)
			cell_number(ret, CELL_COUNT, l->n_hidden);
		return;
	case OF_NAMES:
		ret->kind = l->is_rest ? CELL_NONE : CELL_ROWS;
		return;
	case OF_DSO:
		if (!l->is_rest)
			cell_text(ret, dso_of(o, l->node));
		return;
	case OF_OWN:
	case OF_TOTAL:
		cell_number(ret, CELL_COUNT, c->id == OF_OWN ? l->own : l->total);
		return;
	case OF_OWN_SHARE:
	case OF_TOTAL_SHARE:
		cell_share(ret, c->id == OF_OWN_SHARE ? l->own : l->total, o->whole);
		return;
	default:
		add_line(o, l, room);
		cell_text(ret, str_text(room));
	}
}

static void fact_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct profile_event *e = ((const struct outlinerows *)r->of)->event;

	(void)row;
	(void)part;
	(void)room;
	if (c->id == OF_EVENT)
		cell_text(ret, e->name);
	else
		cell_number(ret, CELL_COUNT,
			c->id == OF_SAMPLES          ? e->n_samples
				: c->id == OF_PERIOD ? e->period
						     : e->n_lost);
}

/* ---- a node ---- */

static double percent(const struct outline *o, u64 period)
{
	return o->whole ? 100 * (double)period / (double)o->whole : 0;
}

/* A function beside the one that is asked about, wherever that is called. */
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
	str_add(text, "# Way: ");
	outline_add_names(o, node, 0, text);
	str_add(text, "\n# ");
	key_add_symbol(&o->profile->symbols.at[symbol], text);
	str_addf(text, " is at %llu place%s of the tree, %.2f%% in itself\n",
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
	*r = (struct outlinerows){.outline = o, .event = &o->profile->events.at[event]};
	str_add(&r->title, has_others ? "Call tree of " : "Call tree");
	if (has_others)
		str_add_safe(&r->title, r->event->name, strlen(r->event->name));
	if (node)
		add_node(o, node, &r->notes);
	r->head = (struct rowset){.columns = facts,
		.shown = facts,
		.n_columns = ARRAY_SIZE(facts),
		.n_shown = OF_LOST - OF_EVENT,
		.n = 1,
		.n_parts = 1,
		.of = r,
		.cell = fact_of};
	r->rows = (struct rowset){.columns = columns,
		.shown = shown,
		.n_columns = ARRAY_SIZE(columns),
		.n_shown = ARRAY_SIZE(shown),
		.n = o->lines.n,
		.n_parts = 1,
		.name = "lines",
		.title = str_text(&r->title),
		.notes = str_text(&r->notes),
		.head = &r->head,
		.is_of_samples = true,
		.is_outline = true,
		.of = r,
		.cell = cell_of,
		.below = open_path};
}

void outlinerows_fini(struct outlinerows *r)
{
	str_fini(&r->title);
	str_fini(&r->notes);
}
