/*
 * form_callgrind.c - functions, their costs and calls as Callgrind writes them, for KCachegrind and callgrind_annotate.
 *
 * A sample costs its function, and a call of each function above it: in recursion the innermost one. So a function's own
 * cost and that of its calls are its total, whatever it calls. Costs stand at lines of source: 0 where they are not known.
 * Source   valgrind.org/docs/manual/cl-format.html
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/distinct.h"
#include "base/hash.h"
#include "base/num.h"
#include "view/forms/forms.h"
#include "view/forms/stackpath.h"

/* A line of a function, or the function where lines are not known. */
struct call_site {
	const char *source; /* NULL: not known */
	u32 function, line;
	u32 first_edge; /* + 1; 0: it calls nothing */
};

struct call_edge {
	u32 caller; /* a site */
	u32 callee; /* a function */
	u32 next;   /* of the same caller, + 1; 0: the last */
	u64 n_samples;
};

struct callgrind {
	struct page *page;
	const struct rowset *r;
	u32 *place_of; /* by function: one of its places, if possible one with a source file, + 1; 0: a thread */
	u32 *seen_at;   /* by function: the row, + 1, whose stack had it last */
	bool *is_named; /* by function: its name was written */
	u32 *site_of;   /* by place */
	VEC(struct call_site) sites;
	struct table site_index;
	u64 *own; /* by site, n_parts each */
	VEC(struct call_edge) edges;
	VEC(u64) costs; /* of the edges, n_parts each */
	struct table edge_index;
	struct distinct sources; /* files that were named */
};

/* ---- counting ---- */

static u32 site_of(struct callgrind *c, const struct rowset_place *place)
{
	const u64 hash =
		hash_mix((u64)(uintptr_t)place->source, (u64)place->function << 32 | place->line);
	struct table_probe probe = table_probe(&c->site_index, hash);
	u32 i;

	while ((i = table_next(&c->site_index, &probe)) != TABLE_NONE) {
		const struct call_site *site = &c->sites.at[i];

		if (site->function == place->function && site->source == place->source &&
			site->line == place->line)
			return i;
	}
	i = (u32)c->sites.n;
	table_add(&c->site_index, hash, i);
	vec_add(&c->sites, ((struct call_site){place->source, place->function, place->line, 0}));
	return i;
}

static u32 edge_of(struct callgrind *c, u32 caller, u32 callee)
{
	const u64 hash = hash_u64((u64)caller << 32 | callee);
	struct table_probe probe = table_probe(&c->edge_index, hash);
	u32 i;

	while ((i = table_next(&c->edge_index, &probe)) != TABLE_NONE)
		if (c->edges.at[i].caller == caller && c->edges.at[i].callee == callee)
			return i;
	i = (u32)c->edges.n;
	table_add(&c->edge_index, hash, i);
	vec_add(&c->edges, ((struct call_edge){caller, callee, c->sites.at[caller].first_edge, 0}));
	c->sites.at[caller].first_edge = i + 1;
	for (u32 part = 0; part < c->r->n_parts; part++)
		vec_add(&c->costs, 0);
	return i;
}

static void add_costs(const struct callgrind *c, size_t row, u64 *costs)
{
	for (u32 part = 0; part < c->r->n_parts; part++)
		costs[part] += stackpath_value(c->r, row, part, STACKPATH_PERIOD);
}

/* Counts the samples that ended in a row. */
static void count_stack(struct callgrind *c, u32 row)
{
	const struct rowset *r = c->r;
	const struct rowset_place *place = stackpath_place(r, row);
	u32 below = place->function;

	if (place->is_thread)
		return;
	c->seen_at[below] = row + 1;
	add_costs(c, row, &c->own[(size_t)c->site_of[r->nodes[row].symbol] * r->n_parts]);
	for (size_t node = r->nodes[row].parent; node; node = r->nodes[node].parent) {
		place = stackpath_place(r, node);
		if (place->is_thread)
			break;
		if (c->seen_at[place->function] != row + 1) {
			const u32 edge = edge_of(c, c->site_of[r->nodes[node].symbol], below);

			c->edges.at[edge].n_samples += r->nodes[row].own_samples;
			add_costs(c, row, &c->costs.at[(size_t)edge * r->n_parts]);
			c->seen_at[place->function] = row + 1;
		}
		below = place->function;
	}
}

/* ---- writing ---- */

/* An event's name of letters, digits and _, as KCachegrind wants it; a number makes it unique, also where only other letters told it apart. */
static void add_event(const struct callgrind *c, u32 part, struct distinct *names, struct str *text)
{
	struct str name = {0};
	size_t n;

	str_add(&name, c->r->parts[part].name);
	for (size_t i = 0; i < name.n; i++) {
		const char ch = name.at[i];
		const bool is_letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');

		if (!is_letter && (i == 0 || ch < '0' || ch > '9'))
			name.at[i] = '_';
	}
	n = name.n;
	for (u32 number = part + 1;; number++) {
		const size_t n_names = names->items.n;

		if (distinct_add(names, str_text(&name), name.n) == n_names)
			break;
		str_cut(&name, n);
		str_addf(&name, "_%u", number);
	}
	str_addf(text, " %s", str_text(&name));
	str_fini(&name);
}

static void add_line(struct callgrind *c, const char *what, const u64 *costs)
{
	struct str *text = &c->page->out->text;

	str_add(text, what);
	for (u32 part = 0; part < c->r->n_parts; part++) {
		str_addc(text, ' ');
		num_add_u64(text, costs[part]);
	}
	str_addc(text, '\n');
}

/* Names a source file, by its number if it was named before: no name is mistaken for a number. */
static void add_source(struct callgrind *c, const char *what, const char *source)
{
	const size_t n = c->sources.items.n;
	const u32 i = distinct_add_text(&c->sources, source ? source : "???");

	str_addf(&c->page->out->text, "%s=(%u)", what, i + 1);
	if (i == n)
		str_addf(&c->page->out->text, " %s", c->sources.items.at[i].at);
	str_addc(&c->page->out->text, '\n');
}

static const struct rowset_place *place_of(const struct callgrind *c, u32 function)
{
	return &c->r->places[c->place_of[function] - 1];
}

/* Likewise a function. */
static void add_function(struct callgrind *c, u32 function, const char *object, const char *file,
	const char *name)
{
	const struct rowset_place *place = place_of(c, function);
	struct str *text = &c->page->out->text;

	str_addf(text, "%s=%s\n", object, place->dso);
	add_source(c, file, place->source);
	str_addf(text, "%s=(%u)%s%s\n", name, function + 1, c->is_named[function] ? "" : " ",
		c->is_named[function] ? "" : place->name);
	c->is_named[function] = true;
}

static void add_calls(struct callgrind *c, const struct call_site *site, const char *line)
{
	struct str *text = &c->page->out->text;

	for (u32 i = site->first_edge; i; i = c->edges.at[i - 1].next) {
		const struct call_edge *edge = &c->edges.at[i - 1];

		add_function(c, edge->callee, "cob", "cfi", "cfn");
		str_addf(text, "calls=%llu 0\n", (unsigned long long)edge->n_samples);
		add_line(c, line, &c->costs.at[(size_t)(i - 1) * c->r->n_parts]);
		out_flush_some(c->page->out);
	}
}

/* By function; within one, lines in its own file come first. */
static int by_place(const void *a, const void *b, void *ctx)
{
	const struct callgrind *c = ctx;
	const struct call_site *x = &c->sites.at[*(const u32 *)a],
			       *y = &c->sites.at[*(const u32 *)b];
	const char *own;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	own = place_of(c, x->function)->source;
	if ((x->source == own) != (y->source == own))
		return x->source == own ? -1 : 1;
	if (x->source != y->source)
		return strcmp(x->source ? x->source : "", y->source ? y->source : "");
	return (x->line > y->line) - (x->line < y->line);
}

static void add_site(struct callgrind *c, u32 i)
{
	const struct call_site *site = &c->sites.at[i];
	char line[16];

	snprintf(line, sizeof(line), "%u", site->line);
	add_line(c, line, &c->own[(size_t)i * c->r->n_parts]);
	add_calls(c, site, line);
}

static void add_functions(struct callgrind *c)
{
	u32 *order = mem_alloc((c->sites.n + 1) * sizeof(*order));
	const struct call_site *before = NULL;

	for (u32 i = 0; i < c->sites.n; i++)
		order[i] = i;
	qsort_r(order, c->sites.n, sizeof(*order), by_place, c);
	for (u32 i = 0; i < c->sites.n; i++) {
		const struct call_site *site = &c->sites.at[order[i]];

		if (!before || before->function != site->function) {
			str_addc(&c->page->out->text, '\n');
			add_function(c, site->function, "ob", "fl", "fn");
			if (site->source != place_of(c, site->function)->source)
				add_source(c, "fi", site->source);
		} else if (before->source != site->source) {
			add_source(c, "fi", site->source);
		}
		before = site;
		add_site(c, order[i]);
	}
	mem_free(order);
}

static void add_head(struct callgrind *c, const u64 *sums)
{
	struct str *text = &c->page->out->text;
	struct distinct names = {0};

	str_add(text,
		"# callgrind format\nversion: 1\ncreator: pace " PACE_VERSION
		"\npositions: line\nevents:");
	for (u32 part = 0; part < c->r->n_parts; part++)
		add_event(c, part, &names, text);
	distinct_fini(&names);
	str_addc(text, '\n');
	add_line(c, "summary:", sums);
}

/* Finds the functions and their lines. */
static void find_sites(struct callgrind *c)
{
	const struct rowset *r = c->r;

	for (u32 i = 0; i < r->n_places; i++) {
		const struct rowset_place *place = &r->places[i];
		u32 *known = &c->place_of[place->function];

		if (place->is_thread)
			continue;
		if (!*known || (place->source && !r->places[*known - 1].source))
			*known = i + 1;
		c->site_of[i] = site_of(c, place);
	}
	c->own = mem_zalloc((c->sites.n * r->n_parts + 1) * sizeof(*c->own));
}

static void count_all(struct callgrind *c, u64 *sums)
{
	for (size_t row = 1; row < c->r->n; row++)
		if (stackpath_is_end(c->r, row)) {
			count_stack(c, (u32)row);
			add_costs(c, row, sums);
		}
}

static void callgrind_form_table(struct page *p, const struct rowset *r)
{
	const size_t n = r->n_functions + 1;
	u64 *sums = mem_zalloc((r->n_parts + 1) * sizeof(*sums));
	struct callgrind c = {.page = p,
		.r = r,
		.place_of = mem_zalloc(n * sizeof(u32)),
		.seen_at = mem_zalloc(n * sizeof(u32)),
		.is_named = mem_zalloc(n),
		.site_of = mem_zalloc((r->n_places + 1) * sizeof(u32))};

	find_sites(&c);
	count_all(&c, sums);
	add_head(&c, sums);
	add_functions(&c);
	add_line(&c, "\ntotals:", sums);
	mem_free(sums);
	mem_free(c.place_of);
	mem_free(c.seen_at);
	mem_free(c.is_named);
	mem_free(c.site_of);
	mem_free(c.own);
	vec_fini(&c.sites);
	table_fini(&c.site_index);
	vec_fini(&c.edges);
	vec_fini(&c.costs);
	table_fini(&c.edge_index);
	distinct_fini(&c.sources);
}

const struct form form_callgrind = {.name = "callgrind",
	.extension = "callgrind",
	.help = "functions, lines, their periods and calls, for KCachegrind",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_ADDRESSES | FORM_WANTS_LINES | FORM_SKIPS_EMPTY |
		FORM_HAS_NO_TREE,
	.table = callgrind_form_table};
