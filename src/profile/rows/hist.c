#include "profile/rows/hist.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "event/abi.h"
#include "base/search.h"
#include "base/sort.h"
#include "profile/gather/aggregate.h"
#include "profile/rows/histsort.h"
#include "profile/rows/key.h"

/* ---- which symbols share an entry ---- */

/* The properties of a symbol that the keys group by; others stay 0. */
struct identity {
	u32 symbol;
	const char *dso; /* its name, or path: two libraries with the same name are one row */
	const char *source;
	u64 size;
};

static struct identity identity_of(const struct profile *p, const struct hist_options *o,
	u32 symbol)
{
	const struct profile_symbol *s = &p->symbols.at[symbol];
	struct identity id = {0};

	for (size_t i = 0; i < o->n_keys; i++) {
		enum key_frame frame = o->keys[i]->frame;

		if (frame == KEY_SYMBOL)
			id.symbol = profile_function(p, symbol);
		else if (frame == KEY_DSO)
			id.dso = o->is_verbose ? p->dsos.at[s->dso].path : p->dsos.at[s->dso].name;
		else if (frame == KEY_LINE)
			id.source = s->line;
		else if (frame == KEY_SIZE)
			id.size = s->end - s->start;
		else if (frame == KEY_FILE && !id.source)
			id.source = s->file;
	}
	return id;
}

static bool is_same_identity(const struct identity *a, const struct identity *b)
{
	return a->symbol == b->symbol && a->dso == b->dso && a->source == b->source &&
		a->size == b->size;
}

static u32 *make_idents(const struct profile *p, const struct hist_options *o)
{
	u32 *ident = mem_zalloc(p->symbols.n * sizeof(*ident));
	VEC(struct identity) known = {0};
	struct table index = {0};

	vec_add(&known, ((struct identity){0}));
	for (u32 i = 1; i < p->symbols.n; i++) {
		struct identity id = identity_of(p, o, i);
		u64 hash = hash_mix((u64)(uintptr_t)id.dso ^ id.symbol ^ id.size << 32,
			(u64)(uintptr_t)id.source);
		struct table_probe probe = table_probe(&index, hash);
		u32 k;

		if (is_same_identity(&id, &known.at[0]))
			continue;
		while ((k = table_next(&index, &probe)) != TABLE_NONE)
			if (is_same_identity(&id, &known.at[k]))
				break;
		if (k == TABLE_NONE) {
			k = known.n;
			table_add(&index, hash, k);
			vec_add(&known, id);
		}
		ident[i] = k;
	}
	vec_fini(&known);
	table_fini(&index);
	return ident;
}

/*
 * For each node, finds the nearest caller with the same ident in one walk through the tree: `last` holds,
 * for each ident, the innermost node on the current path.
 */
static u32 *make_outers(const struct hist *h)
{
	const struct calls_node *nodes = h->calls->nodes.at;
	u32 *outer = mem_zalloc(h->calls->nodes.n * sizeof(*outer));
	u32 *last = mem_zalloc(h->profile->symbols.n * sizeof(*last) +
		h->profile->dsos.n * sizeof(*last) + sizeof(*last));
	u32 node = nodes[0].first_child;

	while (node) {
		u32 *mine = &last[h->ident[nodes[node].symbol]];

		outer[node] = *mine;
		*mine = node;
		if (nodes[node].first_child) {
			node = nodes[node].first_child;
			continue;
		}
		/* Go up until there is a sibling to continue with. */
		for (;;) {
			last[h->ident[nodes[node].symbol]] = outer[node];
			if (nodes[node].next_sibling || !nodes[node].parent)
				break;
			node = nodes[node].parent;
		}
		node = nodes[node].next_sibling;
	}
	mem_free(last);
	return outer;
}

static u64 *find_addresses(const struct profile *p)
{
	u64 *times = mem_zalloc((p->frames.n + 1) * sizeof(*times));
	u64 *most = mem_zalloc(p->symbols.n * sizeof(*most));
	u64 *addresses = mem_alloc(p->symbols.n * sizeof(*addresses));

	for (size_t i = 0; i < p->symbols.n; i++)
		addresses[i] = UINT64_MAX;
	vec_each(row, &p->rows)
		times[row->frame] += row->n_samples;
	for (u32 i = 0; i < p->frames.n; i++) {
		const u32 function = profile_frame_function(p, i);
		const u64 address = p->frames.at[i].address;

		if (times[i] < most[function] ||
			(times[i] == most[function] && address >= addresses[function]))
			continue;
		most[function] = times[i];
		addresses[function] = address;
	}
	mem_free(times);
	mem_free(most);
	return addresses;
}

/* ---- rows into groups ---- */

u64 hist_label(const struct hist *h, u32 group, const struct key *key)
{
	const struct hist_options *o = h->options;
	size_t at = (size_t)group * h->n_values;

	for (size_t i = 0; i < o->n_keys && o->keys[i] != key; i++)
		at += o->keys[i]->label != LABEL_NONE;
	return h->values.at[at];
}

/* The keys' values of a row's labels. Labels that no key uses must not split entries. */
static void see_row(const struct hist *h, size_t row, u64 values[HIST_KEYS_MAX])
{
	const struct profile *p = h->profile;

	for (size_t i = 0; i < h->options->n_keys; i++) {
		const struct key *key = h->options->keys[i];
		u64 label;

		if (!key->label)
			continue;
		label = profile_label(p, row, key->label);
		*values++ = key->value ? key->value(p, label) : label;
	}
}

static bool is_of_group(const struct hist *h, u32 group, const u64 *values)
{
	const u64 *have = h->values.at + (size_t)group * h->n_values;
	unsigned k = 0;

	while (k < h->n_values && have[k] == values[k])
		k++;
	return k == h->n_values;
}

u32 hist_group(struct hist *h, const u64 *values)
{
	u64 hash = hash_words(values, h->n_values, 0);
	struct table_probe probe = table_probe(&h->group_index, hash);
	u32 i;

	while ((i = table_next(&h->group_index, &probe)) != TABLE_NONE)
		if (is_of_group(h, i, values))
			return i;
	table_add(&h->group_index, hash, h->n_groups);
	for (unsigned k = 0; k < h->n_values; k++)
		vec_add(&h->values, values[k]);
	return h->n_groups++;
}

/* ---- sums ---- */

/* The position of a sum; n_sums: nobody asked for it. */
static size_t find_sum(const struct hist_options *o, const struct hist_sum *sum)
{
	size_t i = 0;

	while (i < o->n_sums &&
		(o->sums[i].label != sum->label || o->sums[i].of != sum->of ||
			o->sums[i].what != sum->what))
		i++;
	return i;
}

bool hist_ask_sum(struct hist_options *o, const struct hist_sum *sum)
{
	if (find_sum(o, sum) < o->n_sums)
		return true;
	if (o->n_sums == HIST_SUMS_MAX)
		return false;
	o->sums[o->n_sums++] = *sum;
	return true;
}

u64 hist_sum(const struct hist *h, const struct hist_entry *e, u32 k, const struct hist_sum *sum)
{
	const size_t i = find_sum(h->options, sum);

	return i < h->options->n_sums ? e->of[k].sums[i] : 0;
}

u64 hist_total_sum(const struct hist *h, const struct hist_entry *e, u32 k,
	const struct hist_sum *sum)
{
	const size_t i = find_sum(h->options, sum);

	if (i == h->options->n_sums)
		return 0;
	return h->options->has_children ? e->of[k].total_sums[i] : e->of[k].sums[i];
}

struct hist_values *hist_new_values(const struct hist *h, struct arena *arena)
{
	const size_t n = h->options->n_sums;
	struct hist_values *v = arena_zalloc(arena, h->n_events * sizeof(*v));
	u64 *sums = n ? arena_zalloc(arena, 2 * n * h->n_events * sizeof(*sums)) : NULL;

	for (u32 k = 0; n && k < h->n_events; k++) {
		v[k].sums = sums + 2 * n * k;
		v[k].total_sums = v[k].sums + n;
	}
	return v;
}

/* Adds a row's numbers to the sums of one of the owns. */
static void add_sums(struct hist *h, size_t own, size_t row, u64 n_samples)
{
	const struct hist_options *o = h->options;

	while (h->own_sums.n < h->owns.n * o->n_sums)
		vec_add(&h->own_sums, 0);
	for (size_t i = 0; i < o->n_sums; i++)
		h->own_sums.at[own * o->n_sums + i] += o->sums[i].of
			? o->sums[i].of(h->profile, row, o->sums[i].what)
			: profile_label(h->profile, row, o->sums[i].label) * n_samples;
}

/* The group of each of `n` rows. */
static u32 *find_groups(struct hist *h, const u32 *rows, size_t n)
{
	u32 *groups = mem_alloc((n + 1) * sizeof(*groups));
	u32 group = 0;

	for (size_t k = 0; k < n; k++) {
		u64 values[HIST_KEYS_MAX];

		see_row(h, rows[k], values);
		/* Neighbouring rows are mostly in the same group. */
		if (!h->n_groups || !is_of_group(h, group, values))
			group = hist_group(h, values);
		groups[k] = group;
		if (h->group_of_row)
			h->group_of_row[rows[k]] = group;
	}
	return groups;
}

/* Puts rows in the order of their groups; those of group i end before ret_ends[i]. */
static u32 *order_rows(const u32 *rows, const u32 *groups, size_t n, size_t *ret_ends, u32 n_groups)
{
	u32 *ordered = mem_alloc((n + 1) * sizeof(*ordered));
	size_t start = 0;

	for (size_t k = 0; k < n; k++)
		ret_ends[groups[k]]++;
	for (u32 i = 0; i < n_groups; i++) {
		const size_t here = ret_ends[i];

		ret_ends[i] = start;
		start += here;
	}
	for (size_t k = 0; k < n; k++)
		ordered[ret_ends[groups[k]]++] = rows[k];
	return ordered;
}

/* Sums a group's rows by node. `places`: for each node 0, before and after; meanwhile its position in the owns, + 1. */
static void sum_rows(struct hist *h, struct hist_group *g, const u32 *rows, size_t n, u32 *places)
{
	g->first = h->owns.n;
	for (size_t k = 0; k < n; k++) {
		const struct profile_row *row = &h->profile->rows.at[rows[k]];
		const u32 node = h->calls->of_row[rows[k]];
		struct hist_own *own;

		if (!places[node]) {
			vec_add(&h->owns, ((struct hist_own){.node = node}));
			places[node] = (u32)h->owns.n;
		}
		own = &h->owns.at[places[node] - 1];
		own->value.n_samples += row->n_samples;
		own->value.period += row->period;
		if (h->options->n_sums)
			add_sums(h, places[node] - 1, rows[k], row->n_samples);
	}
	g->n = h->owns.n - g->first;
	for (size_t i = g->first; i < h->owns.n; i++)
		places[h->owns.at[i].node] = 0;
}

/* Sums an event's rows with the same group and node. */
static void group_rows(struct hist *h, struct hist_event *event)
{
	const struct calls *c = h->calls;
	const u32 *rows = c->rows + c->first_row[event->event];
	const size_t n = c->first_row[event->event + 1] - c->first_row[event->event];
	u32 *groups = find_groups(h, rows, n), *places = mem_zalloc(c->nodes.n * sizeof(*places));
	size_t *ends = mem_zalloc((h->n_groups + 1) * sizeof(*ends));
	u32 *ordered = order_rows(rows, groups, n, ends, h->n_groups);

	for (u32 i = 0; i < h->n_groups; i++) {
		const size_t start = i ? ends[i - 1] : 0;

		sum_rows(h, vec_push(&event->groups), ordered + start, ends[i] - start, places);
	}
	mem_free(ordered);
	mem_free(ends);
	mem_free(places);
	mem_free(groups);
}

/* ---- entries ---- */

void hist_view_init(struct hist_view *v, const struct hist *h)
{
	memset(v, 0, sizeof(*v));
	v->hist = h;
	v->group = v->event = UINT32_MAX;
	v->own = mem_zalloc(h->calls->nodes.n * sizeof(*v->own));
	v->total = mem_zalloc(h->calls->nodes.n * sizeof(*v->total));
	v->scratch = mem_zalloc(h->calls->nodes.n * sizeof(*v->scratch));
}

void hist_view_fini(struct hist_view *v)
{
	mem_free(v->own);
	mem_free(v->total);
	mem_free(v->scratch);
	vec_fini(&v->touched);
	vec_fini(&v->by_ident);
}

/* Puts the touched nodes in ascending order. */
static void order_touched(struct hist_view *v)
{
	VEC(struct sort_item) items = {0};

	/* If many nodes are touched, scanning all of them is cheaper than sorting. */
	if (v->touched.n > v->hist->calls->nodes.n / 16) {
		v->touched.n = 0;
		for (u32 node = 1; node < v->hist->calls->nodes.n; node++)
			if (v->total[node].n_samples)
				vec_add(&v->touched, node);
		return;
	}
	vec_each(node, &v->touched)
		vec_add(&items, ((struct sort_item){*node, 0}));
	sort_by_key(items.at, items.n);
	for (size_t i = 0; i < items.n; i++)
		v->touched.at[i] = (u32)items.at[i].key;
	vec_fini(&items);
}

/* A group's owns of an event. */
static struct hist_group group_of(const struct hist_event *event, u32 group)
{
	return group < event->groups.n ? event->groups.at[group] : (struct hist_group){0};
}

static void show(struct hist_view *v, u32 group, u32 event)
{
	const struct hist *h = v->hist;
	const struct calls_node *nodes = h->calls->nodes.at;
	const struct hist_group g = group_of(&h->events[event], group);

	if (v->group == group && v->event == event)
		return;
	vec_each(node, &v->touched)
		v->own[*node] = v->total[*node] = (struct hist_value){0};
	v->touched.n = v->by_ident.n = 0;
	v->group = group;
	v->event = event;
	for (size_t i = g.first; i < g.first + g.n; i++) {
		const struct hist_own *own = &h->owns.at[i];

		v->own[own->node] = own->value;
		/* A node with a total is touched already, and so are its parents. */
		for (u32 node = own->node; node && !v->total[node].n_samples;
			node = nodes[node].parent) {
			v->total[node].n_samples = 1;
			vec_add(&v->touched, node);
		}
	}
	order_touched(v);
	vec_each(node, &v->touched)
		v->total[*node] = v->own[*node];
	for (size_t i = v->touched.n; i-- > 0;) {
		u32 node = v->touched.at[i], parent = nodes[node].parent;

		if (!parent)
			continue;
		v->total[parent].n_samples += v->total[node].n_samples;
		v->total[parent].period += v->total[node].period;
	}
}

void hist_view_show(struct hist_view *v, u32 group)
{
	show(v, group, 0);
}

/*
 * The ident of the entry that shows a node's samples: of its function, or, with entries for callers, of the
 * node itself.
 */
static u32 ident_of(const struct hist *h, u32 node)
{
	const struct calls_node *nodes = h->calls->nodes.at;

	return h->ident[nodes[h->options->has_children ? node : nodes[node].function].symbol];
}

const struct sort_item *hist_view_nodes(struct hist_view *v, u32 ident, size_t *ret_n)
{
	size_t low, end;

	if (!v->by_ident.n) {
		vec_each(node, &v->touched)
			vec_add(&v->by_ident,
				((struct sort_item){ident_of(v->hist, *node), *node}));
		sort_by_key(v->by_ident.at, v->by_ident.n);
	}
	low = search_first(i, v->by_ident.n, v->by_ident.at[i].key >= ident);
	for (end = low; end < v->by_ident.n && v->by_ident.at[end].key == ident;)
		end++;
	*ret_n = end - low;
	return v->by_ident.at + low;
}

/*
 * The entry of a node in a group, created if new; NULL if there is none and this event adds no entries. `known`:
 * position of the entry by ident, + 1.
 */
static struct hist_entry *entry_of(struct hist *h, u32 *known, u32 group, u32 event, u32 node)
{
	u32 symbol = h->calls->nodes.at[node].symbol, ident = h->ident[symbol];
	struct hist_entry *e;

	if (known[ident])
		return &h->entries.at[known[ident] - 1];
	if (event && h->table.are_columns)
		return NULL;
	e = vec_push(&h->entries);
	*e = (struct hist_entry){group, ident, symbol, h->calls->nodes.at[node].depth,
		hist_new_values(h, &h->arena)};
	known[ident] = h->entries.n;
	return e;
}

static void add_value(struct hist_value *sum, const struct hist_value *v)
{
	sum->n_samples += v->n_samples;
	sum->period += v->period;
}

static void count_mode(const struct hist *h, struct hist_values *v, u32 symbol, u64 period)
{
	static const u8 modes[] = {
		[PERF_RECORD_MISC_KERNEL] = HIST_SYSTEM,
		[PERF_RECORD_MISC_USER] = HIST_USER,
		[PERF_RECORD_MISC_GUEST_KERNEL] = HIST_GUEST_SYSTEM,
		[PERF_RECORD_MISC_GUEST_USER] = HIST_GUEST_USER,
	};
	u8 mode = h->profile->symbols.at[symbol].mode;

	if (mode != PERF_RECORD_MISC_CPUMODE_UNKNOWN && mode != PERF_RECORD_MISC_HYPERVISOR &&
		mode < ARRAY_SIZE(modes))
		v->self_in[modes[mode]] += period;
}

static void add_numbers(u64 *sums, const u64 *more, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sums[i] += more[i];
}

/* An event's values of the entry that a node belongs to, which exists. */
static struct hist_values *values_of(struct hist *h, const u32 *known, u32 node, u32 event)
{
	const u32 symbol = h->calls->nodes.at[node].symbol;

	return &h->entries.at[known[h->ident[symbol]] - 1].of[event];
}

/* Adds the sums to a group's entries. */
static void add_group_sums(struct hist *h, const u32 *known, u32 group, u32 event)
{
	const struct hist_group g = group_of(&h->events[event], group);
	const struct calls_node *nodes = h->calls->nodes.at;
	const size_t n = h->options->n_sums;

	for (size_t i = g.first; n && i < g.first + g.n; i++) {
		const u64 *own = &h->own_sums.at[i * n];
		u32 node = h->owns.at[i].node;

		add_numbers(values_of(h, known, nodes[node].function, event)->sums, own, n);
		for (; node && h->options->has_children; node = nodes[node].parent)
			if (!h->outer[node])
				add_numbers(values_of(h, known, node, event)->total_sums, own, n);
	}
}

/* Adds an event's samples to a group's entries. */
static void add_to_entries(struct hist *h, struct hist_view *view, u32 *known, u32 group, u32 event)
{
	const size_t n_before = h->entries.n;

	show(view, group, event);
	vec_each(node, &view->touched) {
		const struct hist_value *own = &view->own[*node], *total = &view->total[*node];
		const u32 function = h->calls->nodes.at[*node].function;
		struct hist_entry *e;

		if (hist_value_is_zero(own) && !h->options->has_children)
			continue;
		/* A sample in inlined code is a sample of the function that contains it. */
		e = entry_of(h, known, group, event, function);
		if (e) {
			add_value(&e->of[event].self, own);
			count_mode(h, &e->of[event], h->calls->nodes.at[*node].symbol, own->period);
		}
		if (h->options->has_children)
			e = entry_of(h, known, group, event, *node);
		if (!e)
			continue;
		/* The first event that has the entry decides its depth. */
		if (e >= h->entries.at + n_before)
			e->depth = MIN(e->depth, h->calls->nodes.at[*node].depth);
		if (h->options->has_children && !h->outer[*node])
			add_value(&e->of[event].total, total);
	}
	add_group_sums(h, known, group, event);
}

static void make_entries(struct hist *h)
{
	u32 *known = mem_zalloc((h->profile->symbols.n + h->profile->dsos.n + 1) * sizeof(*known));
	struct hist_view view;

	hist_view_init(&view, h);
	for (u32 group = 0; group < h->n_groups; group++) {
		const size_t first = h->entries.n;

		for (u32 event = 0; event < h->n_events; event++)
			add_to_entries(h, &view, known, group, event);
		for (size_t i = first; i < h->entries.n; i++)
			known[h->entries.at[i].ident] = 0;
	}
	hist_view_fini(&view);
	mem_free(known);
}

static const struct hist_sum latency = {LABEL_LATENCY, NULL, 0};

/* Keeps only the entries whose function has options->part in its name. */
static void pick_entries(struct hist *h)
{
	size_t kept = 0;

	if (!h->options->part)
		return;
	for (u32 k = 0; h->options->is_relative && k < h->n_events; k++) {
		h->events[k].all = (struct hist_value){0};
		h->events[k].latency = 0;
	}
	vec_each(e, &h->entries) {
		const char *name = h->profile->symbols.at[e->symbol].name;

		if (!name || !strstr(name, h->options->part))
			continue;
		for (u32 k = 0; h->options->is_relative && k < h->n_events; k++) {
			add_value(&h->events[k].all, &e->of[k].self);
			h->events[k].latency += hist_sum(h, e, k, &latency);
		}
		h->entries.at[kept++] = *e;
	}
	h->entries.n = kept;
}

static void add_averages(struct hist *h)
{
	vec_each(e, &h->entries)
		for (u32 k = 0; k < h->n_events; k++) {
			const struct hist_value *self = &e->of[k].self;

			h->events[k].averages += self->n_samples
				? (double)self->period / (double)self->n_samples
				: 0;
			h->events[k].latency += hist_sum(h, e, k, &latency);
		}
}

void hist_init_table(struct hist *h, const struct profile *p, const struct calls *c,
	const struct hist_events *table, const struct hist_options *options)
{
	*h = (struct hist){.profile = p,
		.calls = c,
		.options = options,
		.table = *table,
		.n_events = table->n,
		.events = mem_zalloc(table->n * sizeof(*h->events))};
	h->ident = make_idents(p, options);
	h->outer = make_outers(h);
	h->addresses = options->is_verbose ? find_addresses(p) : NULL;
	if (options->has_row_groups)
		h->group_of_row = mem_zalloc((p->rows.n + 1) * sizeof(*h->group_of_row));
	for (size_t i = 0; i < options->n_keys; i++)
		h->n_values += options->keys[i]->label != LABEL_NONE;
	for (u32 k = 0; k < h->n_events; k++) {
		const struct profile_event *e = &p->events.at[table->first + k];

		h->events[k].event = table->first + k;
		h->events[k].all = (struct hist_value){e->n_samples, e->period};
		h->events[k].latency = e->dropped_latency;
		group_rows(h, &h->events[k]);
	}
	make_entries(h);
	add_averages(h);
	pick_entries(h);
	hist_sort(h);
}

void hist_init(struct hist *h, const struct profile *p, const struct calls *c, u32 event,
	const struct hist_options *options)
{
	hist_init_table(h, p, c, &(struct hist_events){.first = event, .n = 1}, options);
}

struct hist_events hist_events_of_wall(u32 order)
{
	return (struct hist_events){.first = AGGREGATE_WALL,
		.n = AGGREGATE_WALL_EVENTS - AGGREGATE_WALL,
		.order = order - AGGREGATE_WALL,
		.are_columns = true};
}

double hist_percent(const struct hist *h, const struct hist_entry *e)
{
	const u32 k = h->table.are_columns ? h->table.order : 0;
	const u64 all = h->events[k].all.period,
		  part = h->options->has_children ? e->of[k].total.period : e->of[k].self.period;

	return all ? 100.0 * (double)part / (double)all : 0;
}

void hist_fini(struct hist *h)
{
	for (u32 k = 0; k < h->n_events; k++)
		vec_fini(&h->events[k].groups);
	mem_free(h->events);
	table_fini(&h->group_index);
	vec_fini(&h->entries);
	vec_fini(&h->values);
	vec_fini(&h->owns);
	vec_fini(&h->own_sums);
	arena_fini(&h->arena);
	mem_free(h->ident);
	mem_free(h->outer);
	mem_free(h->addresses);
	mem_free(h->group_of_row);
}
