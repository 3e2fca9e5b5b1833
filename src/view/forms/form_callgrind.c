/*
 * form_callgrind.c - functions, their costs and calls as Callgrind writes them, for KCachegrind and callgrind_annotate.
 *
 * A sample costs its function, and a call of each function above it: in recursion the innermost one. So a function's own
 * cost and that of its calls are its total, whatever it calls. Lines are 0: costs are of functions.
 * Source   valgrind.org/docs/manual/cl-format.html
 */
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "view/forms/forms.h"
#include "view/forms/stackpath.h"

struct call_edge {
	u32 caller, callee; /* functions */
	u32 next;           /* of the same caller, + 1; 0: the last */
	u64 n_samples;
};

struct callgrind {
	struct page *page;
	const struct rowset *r;
	u32 *place_of;   /* by function: one of its places, + 1; 0: a thread */
	u32 *first_edge; /* by function, + 1 */
	u32 *seen_at;    /* by function: the row, + 1, whose stack had it last */
	bool *is_named;  /* by function: its name was written */
	u64 *own;        /* by function, n_parts each */
	VEC(struct call_edge) edges;
	VEC(u64) costs; /* of the edges, n_parts each */
	struct table edge_index;
};

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
	vec_add(&c->edges, ((struct call_edge){caller, callee, c->first_edge[caller], 0}));
	c->first_edge[caller] = i + 1;
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
	add_costs(c, row, &c->own[(size_t)below * r->n_parts]);
	for (size_t node = r->nodes[row].parent; node; node = r->nodes[node].parent) {
		place = stackpath_place(r, node);
		if (place->is_thread)
			break;
		if (c->seen_at[place->function] != row + 1) {
			const u32 edge = edge_of(c, place->function, below);

			c->edges.at[edge].n_samples += r->nodes[row].own_samples;
			add_costs(c, row, &c->costs.at[(size_t)edge * r->n_parts]);
			c->seen_at[place->function] = row + 1;
		}
		below = place->function;
	}
}

/* An event's name of letters, digits and _, as KCachegrind wants it; its number makes it unique. */
static void add_event(const struct callgrind *c, u32 part, struct str *text)
{
	const size_t start = text->n + 1;

	str_addf(text, " %s", c->r->parts[part].name);
	for (size_t i = start; i < text->n; i++) {
		const char ch = text->at[i];
		const bool is_letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');

		if (!is_letter && (i == start || ch < '0' || ch > '9'))
			text->at[i] = '_';
	}
	for (u32 i = 0; i < part; i++)
		if (!strcmp(c->r->parts[i].name, c->r->parts[part].name)) {
			str_addf(text, "_%u", part + 1);
			break;
		}
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

/* Numbers stand for names that were given once: no name is mistaken for a number. */
static void add_function(struct callgrind *c, u32 function, const char *object, const char *file,
	const char *name)
{
	const struct rowset_place *place = &c->r->places[c->place_of[function] - 1];
	struct str *text = &c->page->out->text;

	str_addf(text, "%s=%s\n%s=???\n%s=(%u)", object, place->dso, file, name, function + 1);
	str_addf(text, "%s%s\n", c->is_named[function] ? "" : " ",
		c->is_named[function] ? "" : place->name);
	c->is_named[function] = true;
}

static void add_calls(struct callgrind *c, u32 function)
{
	struct str *text = &c->page->out->text;

	for (u32 i = c->first_edge[function]; i; i = c->edges.at[i - 1].next) {
		const struct call_edge *edge = &c->edges.at[i - 1];

		add_function(c, edge->callee, "cob", "cfi", "cfn");
		str_addf(text, "calls=%llu 0\n", (unsigned long long)edge->n_samples);
		add_line(c, "0", &c->costs.at[(size_t)(i - 1) * c->r->n_parts]);
		out_flush_some(c->page->out);
	}
}

static void add_head(struct callgrind *c, const u64 *sums)
{
	struct str *text = &c->page->out->text;

	str_add(text,
		"# callgrind format\nversion: 1\ncreator: pace " PACE_VERSION
		"\npositions: line\nevents:");
	for (u32 part = 0; part < c->r->n_parts; part++)
		add_event(c, part, text);
	str_addc(text, '\n');
	add_line(c, "summary:", sums);
}

static void count_all(struct callgrind *c, u64 *sums)
{
	const struct rowset *r = c->r;

	for (size_t i = 0; i < r->n_places; i++)
		if (!r->places[i].is_thread && !c->place_of[r->places[i].function])
			c->place_of[r->places[i].function] = (u32)i + 1;
	for (size_t row = 1; row < r->n; row++)
		if (stackpath_is_end(r, row)) {
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
		.first_edge = mem_zalloc(n * sizeof(u32)),
		.seen_at = mem_zalloc(n * sizeof(u32)),
		.is_named = mem_zalloc(n),
		.own = mem_zalloc(n * (r->n_parts + 1) * sizeof(u64))};

	count_all(&c, sums);
	add_head(&c, sums);
	for (u32 function = 0; function < r->n_functions; function++) {
		if (!c.place_of[function])
			continue;
		str_addc(&p->out->text, '\n');
		add_function(&c, function, "ob", "fl", "fn");
		add_line(&c, "0", &c.own[(size_t)function * r->n_parts]);
		add_calls(&c, function);
	}
	add_line(&c, "\ntotals:", sums);
	mem_free(sums);
	mem_free(c.place_of);
	mem_free(c.first_edge);
	mem_free(c.seen_at);
	mem_free(c.is_named);
	mem_free(c.own);
	vec_fini(&c.edges);
	vec_fini(&c.costs);
	table_fini(&c.edge_index);
}

const struct form form_callgrind = {.name = "callgrind",
	.extension = "callgrind",
	.help = "functions, their periods and calls, for KCachegrind",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_FUNCTIONS | FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE,
	.table = callgrind_form_table};
