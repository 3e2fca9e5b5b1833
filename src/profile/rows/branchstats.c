#include "profile/rows/branchstats.h"

/* One step of a row's path through the call tree, innermost first, with what is known of a branch there. */
struct step {
	u32 symbol;
	bool is_ours, is_caller;
	u8 branch;                         /* enum profile_end */
	const struct profile_branch *told; /* of a branch */
};

struct passing {
	struct graph *graph;
	const struct hist *hist;
	const struct hist_entry *entry;
	VEC(struct step) way;
};

static void add_step(struct passing *p, u32 node, u8 branch, const struct profile_branch *told)
{
	u32 symbol = p->hist->calls->nodes.at[node].symbol;
	const struct step step = {.symbol = symbol,
		.is_ours = p->hist->ident[symbol] == p->entry->ident,
		.is_caller = p->way.n && !branch,
		.branch = branch,
		.told = told};

	vec_add(&p->way, step);
}

/* Sets p->way to a row's path. With lines there are no inlined functions, so frames and nodes correspond. */
static void find_way(struct passing *p, size_t row)
{
	const struct profile *profile = p->hist->profile;
	const struct calls_node *nodes = p->hist->calls->nodes.at;
	u32 stack = profile->rows.at[row].callers, node = p->hist->calls->of_row[row];
	u32 told = profile->rows.at[row].branches;

	p->way.n = 0;
	add_step(p, node, PROFILE_NO_BRANCH, NULL);
	for (node = nodes[node].parent; node && stack; node = nodes[node].parent) {
		const u8 branch = profile->frames.at[profile->stacks.at[stack].frame].branch;

		add_step(p, node, branch, branch ? &profile->branches.at[told] : NULL);
		/* A branch ends with its source, the end that is farther from the sample. */
		told += branch == PROFILE_BRANCH_FROM;
		stack = profile->stacks.at[stack].parent;
	}
}

static void count_node(struct graph_branches *b, const struct step *step, u64 n)
{
	b->n_callers += step->is_caller ? n : 0;
	if (step->branch == PROFILE_BRANCH_TO) {
		b->n_to += n;
		b->n_told += step->told->n_told;
		b->n_predicted += step->told->n_predicted;
		b->n_aborts += step->told->n_aborts;
	}
	if (step->branch == PROFILE_BRANCH_FROM) {
		b->n_from += n;
		b->cycles += step->told->cycles;
		b->n_iterations += step->told->n_iterations;
		b->loop_cycles += step->told->loop_cycles;
	}
}

/* Counts n samples along the path from step `first` to `last`, as far as the graph has it. */
static void follow(struct passing *p, size_t first, size_t last, u64 n)
{
	u32 node = 0;

	for (size_t i = first;; i += first <= last ? 1 : -(size_t)1) {
		node = graph_child(p->graph, node, p->way.at[i].symbol);
		if (!node)
			return;
		count_node(&p->graph->branches[node], &p->way.at[i], n);
		if (i == last)
			return;
	}
}

/* Counts upwards from the entry's innermost step, as build_callee() adds rows. */
static void pass_up(struct passing *p, u64 n)
{
	size_t at = 0, end = p->hist->options->has_children ? p->way.n : 1;

	while (at < end && !p->way.at[at].is_ours)
		at++;
	if (at < end)
		follow(p, at, p->way.n - 1, n);
}

/* Counts downwards: own samples from the root, others from the entry's outermost step, as build_caller() does. */
static void pass_down(struct passing *p, u64 n)
{
	size_t at = p->way.n - 1;

	if (!p->way.at[0].is_ours) {
		if (!p->hist->options->has_children)
			return;
		while (at && !p->way.at[at].is_ours)
			at--;
		if (!at)
			return;
	}
	follow(p, at, 0, n);
}

/* By node of the call tree: whether a part of the entry is on its path from the root. */
static bool *find_below(const struct hist *h, const struct hist_entry *e)
{
	const struct calls *c = h->calls;
	bool *is_below = mem_zalloc(c->nodes.n * sizeof(*is_below));

	for (size_t i = 1; i < c->nodes.n; i++)
		is_below[i] = is_below[c->nodes.at[i].parent] ||
			h->ident[c->nodes.at[i].symbol] == e->ident;
	return is_below;
}

void branchstats_count(struct graph *g, const struct hist *h, const struct hist_entry *e,
	enum graph_order order)
{
	struct passing p = {.graph = g, .hist = h, .entry = e};
	bool *is_below = find_below(h, e);

	g->branches = mem_zalloc(g->nodes.n * sizeof(*g->branches));
	for (size_t i = 0; i < h->profile->rows.n; i++) {
		const struct profile_row *row = &h->profile->rows.at[i];

		if (row->event != h->events[0].event || h->group_of_row[i] != e->group ||
			!is_below[h->calls->of_row[i]])
			continue;
		find_way(&p, i);
		if (order == GRAPH_CALLEE)
			pass_up(&p, row->n_samples);
		else
			pass_down(&p, row->n_samples);
	}
	mem_free(is_below);
	vec_fini(&p.way);
}
