#include "view/cuttree.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/num.h"
#include "profile/certainty.h"

enum { INDENT = 2, NEIGHBOURS_MAX = 5, DEEPEST = 40 };

static double percent(const struct outline *o, u64 period)
{
	return o->whole ? 100 * (double)period / (double)o->whole : 0;
}

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

/* ---- text ---- */

static void add_line(const struct outline *o, const struct outline_line *l, struct str *text)
{
	const char *dso;

	str_addf(text, "  %6.2f%%  %6.2f%%  ", percent(o, l->total), percent(o, l->own));
	if (l->is_rest)
		str_addf(text, "%-*s", OUTLINE_ID_DIGITS, "-");
	else
		outline_add_id(o, l->node, text);
	dso = dso_of(o, l->node);
	str_fill(text, ' ', 2 + INDENT * MIN(l->depth, (u32)DEEPEST));
	if (l->is_rest) {
		str_addf(text, "... %llu more\n", (unsigned long long)l->n_hidden);
		return;
	}
	outline_add_names(o, l->node, above(o, l), text);
	str_add(text, *dso == '[' ? "  " : "  [");
	str_add_safe(text, dso, strlen(dso));
	str_add(text, *dso == '[' ? "\n" : "]\n");
}

void cuttree_add_text(const struct outline *o, struct str *text)
{
	str_add(text, "#   Total     Self  Node        Function\n");
	str_add(text, "# .......  .......  ..........  ........\n#\n");
	vec_each(l, &o->lines)
		add_line(o, l, text);
}

/* ---- a node ---- */

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

void cuttree_add_node(const struct outline *o, u32 node, struct str *text)
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

/* ---- JSON ---- */

static void add_json_id(const struct outline *o, const char *key, u32 node, struct str *text)
{
	struct str id = {0};

	if (node) {
		outline_add_id(o, node, &id);
		json_text(text, key, str_text(&id));
	} else {
		json_null(text, key);
	}
	str_fini(&id);
}

static void add_json_share(struct str *text, const char *key, double v)
{
	json_key(text, key);
	str_addf(text, "%.4f,", v);
}

/* All on the line, the outermost first. */
static void add_json_names(const struct outline *o, u32 node, u32 outside, struct str *text)
{
	VEC(u32) path = {0};
	struct str name = {0};

	for (; node != outside && node; node = o->nodes.at[node].parent)
		vec_add(&path, node);
	json_key(text, "names");
	str_addc(text, '[');
	for (size_t i = path.n; i-- > 0;) {
		str_cut(&name, 0);
		key_add_symbol(&o->profile->symbols.at[o->nodes.at[path.at[i]].symbol], &name);
		json_string(text, str_text(&name));
		str_addc(text, ',');
	}
	json_end(text, ']');
	str_addc(text, ',');
	str_fini(&name);
	vec_fini(&path);
}

void cuttree_add_json(const struct outline *o, struct str *text)
{
	json_key(text, "lines");
	str_addc(text, '[');
	vec_each(l, &o->lines) {
		str_addc(text, '{');
		json_u64(text, "depth", l->depth);
		if (l->is_rest) {
			json_null(text, "node");
			add_json_id(o, "parent", l->node, text);
			json_u64(text, "more", l->n_hidden);
		} else {
			add_json_id(o, "node", l->node, text);
			add_json_id(o, "parent", above(o, l), text);
			add_json_names(o, l->node, above(o, l), text);
			json_text(text, "dso", dso_of(o, l->node));
		}
		json_u64(text, "period", l->own);
		add_json_share(text, "share", percent(o, l->own));
		json_u64(text, "total_period", l->total);
		add_json_share(text, "total_share", percent(o, l->total));
		json_end(text, '}');
		str_addc(text, ',');
	}
	json_end(text, ']');
	str_addc(text, ',');
}
