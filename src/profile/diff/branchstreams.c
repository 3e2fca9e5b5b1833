#include "profile/diff/branchstreams.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "profile/diff/loosename.h"

/* ---- places ---- */

static bool is_same_function(const struct branchstream_step *a, const struct branchstream_step *b)
{
	return a->function == b->function && a->dso == b->dso && a->build == b->build;
}

static bool is_same_line(const struct branchstream_step *a, const struct branchstream_step *b)
{
	if (!is_same_function(a, b))
		return false;
	return a->line || b->line ? a->line == b->line : a->offset == b->offset;
}

static bool is_same_offset(const struct branchstream_step *a, const struct branchstream_step *b)
{
	return is_same_function(a, b) && a->offset == b->offset;
}

static bool is_same_place(const struct branchstream_step *a, const struct branchstream_step *b)
{
	return is_same_offset(a, b) && a->line == b->line;
}

/* The first place in an index that is the same; the new one, which is added, if there is none. */
static u32 first_of(struct branchstreams *s, struct table *index, u64 hash,
	const struct branchstream_step *step,
	bool (*is_same)(const struct branchstream_step *a, const struct branchstream_step *b))
{
	struct table_probe probe;
	u32 i;

	hash = hash_mix(hash, (u64)(uintptr_t)step->function);
	probe = table_probe(index, hash);
	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (is_same(&s->places.at[i], step))
			return i;
	table_add(index, hash, (u32)s->places.n);
	return (u32)s->places.n;
}

static u32 place_of(struct branchstreams *s, struct branchstream_step *step)
{
	const u64 line = (u64)(uintptr_t)step->line;
	const u32 place =
		first_of(s, &s->by_place, hash_mix(line, step->offset), step, is_same_place);

	if (place < s->places.n)
		return place;
	step->same = first_of(s, &s->by_line, line ? line : step->offset, step, is_same_line);
	step->moved = first_of(s, &s->by_offset, step->offset, step, is_same_offset);
	vec_add(&s->places, *step);
	return place;
}

static u32 place_of_frame(struct branchstreams *s, const struct profile *p,
	const struct profile_frame *f, u32 recording)
{
	const struct profile_dso *dso = &p->dsos.at[f->dso];
	const struct profile_symbol *at = &p->symbols.at[f->symbol],
				    *function = &p->symbols.at[profile_function(p, f->symbol)];
	struct branchstream_step step = {.dso = intern_str(&s->strings, dso->name),
		.offset = f->at - function->start};
	struct str text = {0};

	if (profile_is_named(function)) {
		loosename_add_function(function->name, &text);
	} else {
		str_addf(&text, "of recording %u", recording);
		step.build = intern_str(&s->strings, dso->build ? dso->build : str_text(&text));
		str_clear(&text);
		str_addf(&text, "0x%llx", (unsigned long long)f->at);
		step.offset = 0;
	}
	step.function = intern_str(&s->strings, str_text(&text));
	if (at->has_line)
		step.line = intern_str(&s->strings, at->line);
	str_fini(&text);
	return place_of(s, &step);
}

/* ---- sequences of places ---- */

/* The first node of an index with these two numbers, or the next node, which is added. */
static u32 first_node(const struct branchstreams *s, struct table *index, u32 parent, u32 place,
	bool is_moved)
{
	const u64 hash = hash_mix(parent, place);
	struct table_probe probe = table_probe(index, hash);
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE) {
		const struct branchstream_node *n = &s->nodes.at[i];
		const struct branchstream_step *step = &s->places.at[n->place];

		if (is_moved ? s->nodes.at[n->parent].moved == parent && step->moved == place
			     : n->parent == parent && step->same == place)
			return i;
	}
	table_add(index, hash, (u32)s->nodes.n);
	return (u32)s->nodes.n;
}

static u32 node_of(struct branchstreams *s, u32 parent, u32 place)
{
	const struct branchstream_step *step = &s->places.at[place];
	const u32 node = first_node(s, &s->by_step, parent, step->same, false);
	struct branchstream_node fresh = {.parent = parent, .place = place};

	if (node < s->nodes.n)
		return node;
	fresh.n = s->nodes.at[parent].n + 1;
	fresh.moved = first_node(s, &s->by_moved, s->nodes.at[parent].moved, step->moved, true);
	vec_add(&s->nodes, fresh);
	vec_add(&s->of_node, 0);
	return node;
}

/* The nodes of a profile's stacks, by stack; 0 of those that begin with a caller. The caller frees it. */
static u32 *find_nodes(struct branchstreams *s, const struct profile *p, u32 recording)
{
	u32 *nodes = mem_zalloc((p->stacks.n + 1) * sizeof(*nodes));
	u32 *places = mem_zalloc((p->frames.n + 1) * sizeof(*places)); /* + 1; 0: not known yet */

	/* Parents come before their children; those of branches are older branches, or callers. */
	for (size_t i = 1; i < p->stacks.n; i++) {
		const u32 frame = p->stacks.at[i].frame;

		if (!p->frames.at[frame].branch)
			continue;
		if (!places[frame])
			places[frame] = place_of_frame(s, p, &p->frames.at[frame], recording) + 1;
		nodes[i] = node_of(s, nodes[p->stacks.at[i].parent], places[frame] - 1);
	}
	mem_free(places);
	return nodes;
}

/* ---- streams ---- */

/* What is known of a row's samples, and of the branches before them. */
static struct branchstream_value value_of(const struct profile *p, const struct profile_row *row,
	u32 n_branches)
{
	struct branchstream_value value = {.n_samples = row->n_samples};

	for (u32 i = 0; i < n_branches; i++) {
		const struct profile_branch *b = &p->branches.at[row->branches + i];

		value.cycles += b->cycles + b->loop_cycles;
		value.n_iterations += b->n_iterations;
	}
	return value;
}

static void add_value(struct branchstream_value *to, const struct branchstream_value *from)
{
	to->n_samples += from->n_samples;
	to->cycles += from->cycles;
	to->n_iterations += from->n_iterations;
}

static struct branchstream *stream_at(struct branchstreams *s, u32 node)
{
	if (!s->of_node.at[node]) {
		vec_add(&s->at, ((struct branchstream){.node = {node, node}}));
		s->of_node.at[node] = (u32)s->at.n;
	}
	return &s->at.at[s->of_node.at[node] - 1];
}

void branchstreams_add(struct branchstreams *s, int side, const struct profile *p, u32 event,
	u32 recording)
{
	u32 *nodes;

	if (!s->nodes.n) {
		vec_add(&s->nodes, ((struct branchstream_node){0}));
		vec_add(&s->of_node, 0);
	}
	nodes = find_nodes(s, p, recording);
	s->n_samples[side] += p->events.at[event].n_samples;
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *row = &p->rows.at[i];
		const u32 node = nodes[row->callers];
		struct branchstream_value value;

		if (row->event != event)
			continue;
		value = value_of(p, row, s->nodes.at[node].n / 2);
		if (node)
			add_value(&stream_at(s, node)->of[side], &value);
		else
			s->n_without[side] += row->n_samples;
	}
	mem_free(nodes);
}

/* ---- pairs ---- */

#define AMBIGUOUS UINT32_MAX

static bool is_alone(const struct branchstream *stream, int side)
{
	return !stream->is_gone && stream->of[side].n_samples && !stream->of[!side].n_samples;
}

/*
 * By node: the position, + 1, of the only stream of A whose offsets are those of this node, which is the first one with them; AMBIGUOUS if
 * there are several.
 */
static u32 *find_moved(const struct branchstreams *s)
{
	u32 *found = mem_zalloc((s->nodes.n + 1) * sizeof(*found));

	vec_each(a, &s->at) {
		u32 *at = &found[s->nodes.at[a->node[DELTA_A]].moved];

		if (is_alone(a, DELTA_A))
			*at = *at ? AMBIGUOUS : (u32)(a - s->at.at) + 1;
	}
	return found;
}

static void pair_moved(struct branchstreams *s)
{
	u32 *found = find_moved(s);

	vec_each(b, &s->at) {
		const u32 at = found[s->nodes.at[b->node[DELTA_B]].moved];
		struct branchstream *a;

		if (!is_alone(b, DELTA_B) || !at || at == AMBIGUOUS)
			continue;
		a = &s->at.at[at - 1];
		/* Several lines of B may have had one of A's. */
		if (!is_alone(a, DELTA_A))
			continue;
		add_value(&a->of[DELTA_B], &b->of[DELTA_B]);
		a->node[DELTA_B] = b->node[DELTA_B];
		b->is_gone = true;
	}
	mem_free(found);
}

/* ---- the order ---- */

static int compare_steps(const struct branchstreams *s, const struct branchstream *x,
	const struct branchstream *y)
{
	u32 i = x->node[DELTA_A], k = y->node[DELTA_A];

	for (; i && k && i != k; i = branchstream_older(s, i), k = branchstream_older(s, k)) {
		const struct branchstream_step *a = branchstream_step(s, i),
					       *b = branchstream_step(s, k);
		const int c = strcmp(a->function, b->function);

		if (c || a->offset != b->offset)
			return c ? c : a->offset < b->offset ? -1 : 1;
	}
	if (!i != !k)
		return k ? -1 : 1;
	return x->node[DELTA_A] < y->node[DELTA_A] ? -1 : x->node[DELTA_A] > y->node[DELTA_A];
}

static int compare(const struct branchstreams *s, const struct branchstream *x,
	const struct branchstream *y, int side)
{
	if (x->of[side].n_samples != y->of[side].n_samples)
		return x->of[side].n_samples < y->of[side].n_samples ? 1 : -1;
	return compare_steps(s, x, y);
}

static int by_samples(const void *x, const void *y, void *streams)
{
	const struct branchstream *a = x, *b = y;
	const int c = compare(streams, a, b, DELTA_A);

	return a->of[DELTA_A].n_samples || b->of[DELTA_A].n_samples
		? c
		: compare(streams, a, b, DELTA_B);
}

void branchstreams_pair(struct branchstreams *s)
{
	size_t kept = 0;

	pair_moved(s);
	vec_each(stream, &s->at)
		if (!stream->is_gone)
			s->at.at[kept++] = *stream;
	s->at.n = kept;
	if (kept)
		qsort_r(s->at.at, kept, sizeof(*s->at.at), by_samples, s);
}

struct ranking {
	const struct branchstreams *streams;
	int side;
};

static int by_rank(const void *x, const void *y, void *ranking)
{
	const struct ranking *r = ranking;
	const struct branchstream *at = r->streams->at.at;

	return compare(r->streams, &at[*(const u32 *)x], &at[*(const u32 *)y], r->side);
}

bool *branchstreams_hottest(const struct branchstreams *s, size_t most)
{
	bool *is_hot = mem_zalloc(s->at.n + 1);
	u32 *order = mem_alloc((s->at.n + 1) * sizeof(*order));

	for (u32 i = 0; i < s->at.n; i++)
		order[i] = i;
	for (int side = 0; s->at.n && side < DELTA_SIDES; side++) {
		qsort_r(order, s->at.n, sizeof(*order), by_rank, &(struct ranking){s, side});
		for (size_t i = 0; i < MIN(s->at.n, most); i++)
			is_hot[order[i]] |= s->at.at[order[i]].of[side].n_samples > 0;
	}
	mem_free(order);
	return is_hot;
}

/* ---- figures ---- */

bool branchstreams_have_cycles(const struct branchstreams *s, int side)
{
	vec_each(stream, &s->at)
		if (stream->of[side].cycles)
			return true;
	return false;
}

double branchstream_share(const struct branchstreams *s, const struct branchstream *stream,
	int side)
{
	return s->n_samples[side] ? (double)stream->of[side].n_samples / (double)s->n_samples[side]
				  : 0;
}

double branchstream_cycles(const struct branchstream *stream, int side)
{
	const struct branchstream_value *v = &stream->of[side];

	return v->n_samples ? (double)v->cycles / (double)v->n_samples : NAN;
}

void branchstreams_fini(struct branchstreams *s)
{
	vec_fini(&s->at);
	vec_fini(&s->nodes);
	vec_fini(&s->places);
	vec_fini(&s->of_node);
	table_fini(&s->by_place);
	table_fini(&s->by_line);
	table_fini(&s->by_offset);
	table_fini(&s->by_step);
	table_fini(&s->by_moved);
	intern_fini(&s->strings);
}
