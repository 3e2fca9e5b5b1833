#include "profile/memory/sharing.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "event/abi.h"
#include "symbol/name/demangle.h"
#include "symbol/dwarf/line.h"

#define PHYSICAL UINT32_MAX

enum { WANTED = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC };

static bool has_fields(const struct event_attr *attr)
{
	return (attr->sample_type & WANTED) == WANTED;
}

/* ---- sets ---- */

/* Adds a member. Sets are mostly small: a line is used by a few threads. */
static void set_add(struct sharing_set *set, u32 x)
{
	const size_t low = search_first(i, set->at.n, set->at.at[i] >= x);

	if (low < set->at.n && set->at.at[low] == x)
		return;
	vec_add(&set->at, x);
	memmove(set->at.at + low + 1, set->at.at + low,
		(set->at.n - 1 - low) * sizeof(*set->at.at));
	set->at.at[low] = x;
}

/* ---- what is counted ---- */

static void count_kinds(struct sharing_count *c, u32 kinds)
{
	c->n++;
	for (unsigned k = 0; k < DATASRC_KINDS; k++)
		c->kinds[k] += kinds >> k & 1;
}

static u32 find_key(const struct sharing *s, u64 address, u32 pid)
{
	struct table_probe probe = table_probe(&s->key_index, hash_mix(address, pid));
	u32 i;

	while ((i = table_next(&s->key_index, &probe)) != TABLE_NONE)
		if (s->keys.at[i].address == address && s->keys.at[i].pid == pid)
			return s->keys.at[i].line;
	return UINT32_MAX;
}

static void add_key(struct sharing *s, u64 address, u32 pid, u32 line)
{
	table_add(&s->key_index, hash_mix(address, pid), (u32)s->keys.n);
	vec_add(&s->keys, ((struct sharing_key){address, pid, line}));
}

/* The line of a sample, created if new. Lines of the kernel belong to all processes. */
static u32 get_line(struct sharing *s, const struct sample *sample, bool has_phys)
{
	u64 mask = ~((u64)s->line_bytes - 1), address = sample->addr & mask,
	    phys = has_phys ? sample->phys_addr & mask : 0;
	u32 pid = sample->addr >> 63 ? 0 : sample->pid, line = find_key(s, address, pid);

	if (line != UINT32_MAX)
		return line;
	if (phys)
		line = find_key(s, phys, PHYSICAL);
	if (line == UINT32_MAX) {
		line = (u32)s->lines.n;
		vec_add(&s->lines, ((struct sharing_line){.address = address, .pid = pid}));
		if (phys)
			add_key(s, phys, PHYSICAL, line);
	}
	add_key(s, address, pid, line);
	return line;
}

static struct sharing_use *get_use(struct sharing *s, const struct sharing_use *key)
{
	u64 hash = hash_mix(hash_mix(key->address, key->line),
		hash_mix((u64)key->dso << 32 | key->offset, (u64)key->pid << 32 | key->tid));
	struct table_probe probe = table_probe(&s->use_index, hash);
	u32 i;

	while ((i = table_next(&s->use_index, &probe)) != TABLE_NONE) {
		const struct sharing_use *use = &s->uses.at[i];

		if (use->line == key->line && use->offset == key->offset && use->dso == key->dso &&
			use->pid == key->pid && use->tid == key->tid &&
			use->address == key->address)
			return &s->uses.at[i];
	}
	table_add(&s->use_index, hash, (u32)s->uses.n);
	vec_add(&s->uses, *key);
	s->uses.at[s->uses.n - 1].number = (u32)s->uses.n - 1;
	return &s->uses.at[s->uses.n - 1];
}

/* ---- samples ---- */

static void count_cycles(struct sharing_use *use, u32 kinds, u64 cycles)
{
	if (kinds >> DATASRC_REMOTE_HITM & 1)
		use->remote_cycles += cycles;
	else if (kinds >> DATASRC_LOCAL_HITM & 1)
		use->local_cycles += cycles;
	else if (kinds >> DATASRC_REMOTE_PEER & 1)
		use->remote_peer_cycles += cycles;
	else if (kinds >> DATASRC_LOCAL_PEER & 1)
		use->local_peer_cycles += cycles;
	else if (kinds >> DATASRC_LOAD & 1) {
		use->load_cycles += cycles;
		use->n_other_loads++;
	}
}

static void count_node(const struct sharing *s, struct sharing_use *use, u32 cpu, u32 kinds)
{
	vec_each(node, &s->nodes) {
		struct sharing_at_node *mine = NULL;

		if (!cpus_has(&node->cpus, cpu))
			continue;
		vec_each(at, &use->at_nodes)
			mine = at->node == node->number ? at : mine;
		if (!mine) {
			vec_add(&use->at_nodes, ((struct sharing_at_node){.node = node->number}));
			mine = &use->at_nodes.at[use->at_nodes.n - 1];
		}
		count_kinds(&mine->count, kinds);
	}
}

/* The latency: with WEIGHT_STRUCT the low half of the weight, with WEIGHT all of it. */
static u64 cycles_of(const struct event_attr *attr, const struct sample *s)
{
	return attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT ? (u32)s->weight : s->weight;
}

/* per sample */
static void take_access(void *sharing, struct visit *v)
{
	struct sharing *s = sharing;
	const struct event_attr *attr =
		&v->visits->trace->session.reader.events.at[v->taken_by].attr;
	const struct sample *sample = v->sample;
	u32 kinds = datasrc_kinds(sample->data_src, sample->addr != 0);
	struct sharing_use key = {0}, *use;
	const struct map *map;
	u32 n_line;

	if (v->is_next || !has_fields(attr))
		return;
	count_kinds(&s->total, kinds);
	if (!sample->addr || kinds >> DATASRC_UNKNOWN & 1)
		return;
	map = machine_find(machine_space(visit_state(v), v->mode), sample->ip);
	if (!map) {
		s->n_no_code++;
		return;
	}
	n_line = get_line(s, sample, (attr->sample_type & PERF_SAMPLE_PHYS_ADDR) != 0);
	key.line = n_line;
	key.offset = (u32)(sample->addr % s->line_bytes);
	key.pid = s->by & SHARING_BY_PID ? sample->pid : 0;
	key.tid = s->by & SHARING_BY_TID ? sample->tid : 0;
	key.dso = s->by & (SHARING_BY_CODE | SHARING_BY_DSO) ? map->dso->id : 0;
	key.address = s->by & SHARING_BY_CODE ? map_offset(map, sample->ip) : 0;
	use = get_use(s, &key);
	count_kinds(&use->count, kinds);
	count_kinds(&s->lines.at[n_line].count, kinds);
	if (s->callers)
		sharers_add(s->callers, v, use->number, kinds);
	count_cycles(use, kinds, cycles_of(attr, sample));
	set_add(&use->threads, sample->tid);
	set_add(&s->lines.at[n_line].threads, sample->tid);
	if (!(attr->sample_type & PERF_SAMPLE_CPU))
		return;
	set_add(&use->cpus, sample->cpu);
	count_node(s, use, sample->cpu, kinds);
	set_add(&s->lines.at[n_line].cpus, sample->cpu);
}

/* ---- order ---- */

/* The number by which lines and uses are sorted, the largest first. */
static u64 hot_of(const struct sharing *s, const struct sharing_count *c)
{
	return s->hot == SHARING_HOT_PEER ? sharing_peers(c) : sharing_hitm(c);
}

static int compare_counts(const struct sharing *s, const struct sharing_count *a,
	const struct sharing_count *b)
{
	const u64 x[] = {hot_of(s, a), a->kinds[DATASRC_STORE], a->n},
		  y[] = {hot_of(s, b), b->kinds[DATASRC_STORE], b->n};

	for (size_t i = 0; i < ARRAY_SIZE(x); i++)
		if (x[i] != y[i])
			return x[i] > y[i] ? -1 : 1;
	return 0;
}

static int by_heat(const void *a, const void *b, void *ctx)
{
	const struct sharing *s = ctx;
	const struct sharing_line *x = &s->lines.at[*(const u32 *)a],
				  *y = &s->lines.at[*(const u32 *)b];
	int order = compare_counts(s, &x->count, &y->count);

	if (order)
		return order;
	return x->address < y->address              ? -1
		: x->address > y->address           ? 1
		: *(const u32 *)a < *(const u32 *)b ? -1
						    : 1;
}

static int by_line_and_heat(const void *a, const void *b, void *ctx)
{
	const struct sharing_use *x = a, *y = b;
	int order;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	order = compare_counts(ctx, &x->count, &y->count);
	if (order)
		return order;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void sort_all(struct sharing *s)
{
	size_t n = s->lines.n;
	u32 *order = mem_alloc((n + 1) * sizeof(*order)),
	    *place = mem_alloc((n + 1) * sizeof(*place));
	struct sharing_line *sorted = mem_alloc((n + 1) * sizeof(*sorted));

	for (u32 i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), by_heat, s);
	for (u32 i = 0; i < n; i++) {
		place[order[i]] = i;
		sorted[i] = s->lines.at[order[i]];
	}
	if (n)
		memcpy(s->lines.at, sorted, n * sizeof(*sorted));
	vec_each(use, &s->uses)
		use->line = place[use->line];
	if (s->uses.n)
		qsort_r(s->uses.at, s->uses.n, sizeof(*s->uses.at), by_line_and_heat, s);
	vec_each(use, &s->uses) {
		struct sharing_line *line = &s->lines.at[use->line];

		if (!line->n_uses++)
			line->first_use = (size_t)(use - s->uses.at);
	}
	mem_free(order);
	mem_free(place);
	mem_free(sorted);
}

/* Takes the machine's nodes from the recording; lists of CPUs that cannot be parsed are skipped. */
static void take_nodes(struct sharing *s, const struct file_info *info)
{
	struct err err;

	vec_each(node, &info->host.nodes) {
		struct sharing_node mine = {.number = node->number};

		if (!cpus_parse(&mine.cpus, node->cpus, &err))
			vec_add(&s->nodes, mine);
		else
			cpus_fini(&mine.cpus);
	}
}

struct sharing_set sharing_nodes(const struct sharing *s, const struct sharing_set *cpus)
{
	struct sharing_set nodes = {0};

	vec_each(cpu, &cpus->at)
		vec_each(node, &s->nodes)
			if (cpus_has(&node->cpus, *cpu))
				set_add(&nodes, node->number);
	return nodes;
}

int sharing_init(struct sharing *s, const struct trace *t, unsigned by, enum sharing_hot hot,
	struct err *err)
{
	const struct reader *reader = &t->session.reader;
	bool is_there = false;

	*s = (struct sharing){.by = by, .hot = hot, .line_bytes = SHARING_LINE_BYTES};
	take_nodes(s, &reader->info);
	vec_each(e, &reader->events)
		is_there |= has_fields(&e->attr);
	if (!is_there)
		err_set(err, ERR_INVAL,
			"no event of the recording tells where its data was found: record with 'pace c2c record' (record -d -W with an event of memory accesses)");
	return is_there ? 0 : err->code;
}

static void *join(void *sharing)
{
	return sharing;
}

static void leave(void *sharing, void *worker)
{
	struct sharing *s = sharing;

	(void)worker;
	if (!s->hot)
		s->hot = !sharing_hitm(&s->total) && sharing_peers(&s->total) ? SHARING_HOT_PEER
									      : SHARING_HOT_HITM;
	sort_all(s);
}

struct visitor sharing_visitor(struct sharing *s, struct sharers *callers)
{
	s->callers = callers;
	return (struct visitor){.wanted = WANTED | PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT |
			PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_PHYS_ADDR,
		.has_callers = callers != NULL,
		/* Lines and uses are numbered in the order of the samples. */
		.is_serial = true,
		.ctx = s,
		.join = join,
		.sample = take_access,
		.leave = leave};
}

void sharing_fini(struct sharing *s)
{
	vec_each(line, &s->lines) {
		vec_fini(&line->cpus.at);
		vec_fini(&line->threads.at);
	}
	vec_each(use, &s->uses) {
		vec_fini(&use->at_nodes);
		vec_fini(&use->cpus.at);
		vec_fini(&use->threads.at);
	}
	vec_each(node, &s->nodes)
		cpus_fini(&node->cpus);
	vec_fini(&s->nodes);
	vec_fini(&s->lines);
	vec_fini(&s->uses);
	vec_fini(&s->keys);
	table_fini(&s->key_index);
	table_fini(&s->use_index);
	intern_fini(&s->strings);
	memset(s, 0, sizeof(*s));
}

/* ---- names ---- */

static void name_line(struct sharing *s, struct sharing_use *use, struct resolver *resolver,
	const struct dso *dso, u64 at)
{
	struct line_frame frames[LINE_DEPTH_MAX];

	resolver_load_lines(resolver, dso);
	if (!resolver_find_chain(resolver, dso, at, frames) || !frames[0].file)
		return;
	use->file = intern_str(&s->strings, frames[0].file);
	use->source_line = frames[0].line;
}

void sharing_name(struct sharing *s, struct resolver *resolver, unsigned style, bool has_source)
{
	vec_each(use, &s->uses) {
		const struct dso *dso = resolver->machine->dsos.at.at[use->dso];
		struct resolver_answer answer;

		if (!(s->by & (SHARING_BY_CODE | SHARING_BY_DSO)))
			continue;
		use->dso_name = dso->name;
		if (!(s->by & SHARING_BY_CODE))
			continue;
		if (!sharing_hitm(&s->lines.at[use->line].count) &&
			!sharing_peers(&s->lines.at[use->line].count) &&
			!s->lines.at[use->line].count.kinds[DATASRC_STORE])
			continue;
		resolver_load(resolver, dso);
		answer = resolver_find(resolver, dso, use->address);
		use->function = resolver_title(&answer, style, &s->strings);
		use->function_offset = answer.at - answer.start;
		if (has_source)
			name_line(s, use, resolver, dso, answer.at);
	}
}

/* ---- the kind of sharing ---- */

/* Adds the threads that use an offset, in any code; *ret_is_written: one of them stores. */
static void users_of(const struct sharing *s, const struct sharing_line *line, u32 offset,
	struct sharing_set *threads, bool *ret_is_written)
{
	*ret_is_written = false;
	for (size_t i = line->first_use; i < line->first_use + line->n_uses; i++) {
		const struct sharing_use *use = &s->uses.at[i];

		if (use->offset != offset)
			continue;
		vec_each(t, &use->threads.at)
			set_add(threads, *t);
		*ret_is_written |= use->count.kinds[DATASRC_STORE] != 0;
	}
}

enum sharing_verdict sharing_judge(const struct sharing *s, const struct sharing_line *line,
	u32 *ret_offset)
{
	bool is_written_anywhere = false;

	if (line->threads.at.n < 2)
		return SHARING_UNKNOWN;
	for (u32 offset = 0; offset < s->line_bytes; offset++) {
		struct sharing_set threads = {0};
		bool is_written, is_shared;

		users_of(s, line, offset, &threads, &is_written);
		is_shared = threads.at.n > 1;
		vec_fini(&threads.at);
		is_written_anywhere |= is_written;
		if (is_shared && is_written) {
			*ret_offset = offset;
			return SHARING_TRUE;
		}
		/* If several threads only read this offset, it can still be false sharing with another one. */
	}
	return is_written_anywhere ? SHARING_FALSE : SHARING_UNKNOWN;
}
