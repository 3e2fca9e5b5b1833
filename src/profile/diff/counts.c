#include "profile/diff/counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/sysfile.h"
#include "base/table.h"
#include "collect/open/missing.h"
#include "event/abi.h"

/* ---- events ---- */

bool counts_is_clock(const struct event *e)
{
	return e->attr.type == PERF_TYPE_SOFTWARE &&
		(e->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
			e->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

bool counts_is_latency(const struct event *e)
{
	return e->wishes & EVENT_RETIRE_LATENCY;
}

const char *counts_unit(const struct event *e)
{
	return e->unit                            ? e->unit
		: counts_is_clock(e)              ? "msec"
		: event_is_fact(&e->attr)         ? ""
		: e->attr.type == EVENT_TYPE_TOOL ? "ns"
		: counts_is_latency(e)            ? "cycles"
						  : "";
}

double counts_scale(const struct event *e)
{
	return counts_is_clock(e) ? 1e-6 : counts_is_latency(e) ? 1 : e->scale;
}

/* ---- places ---- */

/* Sets the key and the name of the place that a CPU belongs to; a CPU without a cache of that level counts for its last one. */
static void name_place(enum counts_scope scope, s32 level, const struct topology *t, s32 cpu,
	struct counts_place *p, char *name, size_t size)
{
	s32 *key = p->key, cache;

	name[0] = '\0';
	switch (scope) {
	case COUNTS_ALL:
		break;
	case COUNTS_SOCKET:
		key[0] = t->socket;
		snprintf(name, size, "S%d", t->socket);
		break;
	case COUNTS_DIE:
		key[0] = t->socket, key[1] = t->die;
		snprintf(name, size, "S%d-D%d", t->socket, t->die);
		break;
	case COUNTS_CLUSTER:
		key[0] = t->socket, key[1] = t->die, key[2] = t->cluster;
		snprintf(name, size, "S%d-D%d-CLS%d", t->socket, t->die, t->cluster);
		break;
	case COUNTS_CACHE:
		cache = level && t->caches[level] ? t->caches[level] - 1 : t->cache;
		key[0] = t->socket, key[1] = t->die, key[2] = cache;
		snprintf(name, size, "S%d-D%d-L%d-ID%d", t->socket, t->die,
			level && t->caches[level] ? level : t->cache_level, cache);
		break;
	case COUNTS_CORE:
		key[0] = t->socket, key[1] = t->die, key[2] = t->core;
		snprintf(name, size, "S%d-D%d-C%d", t->socket, t->die, t->core);
		break;
	case COUNTS_NODE:
		key[0] = t->node;
		snprintf(name, size, "N%d", t->node);
		break;
	case COUNTS_CPU:
		key[0] = cpu;
		snprintf(name, size, "CPU%d", cpu);
		break;
	case COUNTS_THREAD:
		break;
	}
}

static void topology_here(const void *ctx, s32 cpu, struct topology *ret)
{
	(void)ctx;
	topology_read(ret, "/sys", (u32)cpu);
}

static bool comm_here(const void *ctx, pid_t tid, char *buf, size_t size)
{
	char path[64];

	(void)ctx;
	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	return sysfile_line(path, buf, size);
}

const struct counts_places counts_here = {topology_here, comm_here, NULL};

static void name_thread(const struct counts_places *places, pid_t tid, char *name, size_t size)
{
	char comm[64];

	if (places->comm(places->ctx, tid, comm, sizeof(comm)))
		snprintf(name, size, "%s-%d", comm, tid);
	else
		snprintf(name, size, ":%d", tid);
}

/* Memory for finding places, so that each CPU's topology is read only once. */
struct place_finder {
	struct counts *counts;
	const struct counts_places *where;
	struct table index; /* of places, by key */
	VEC(struct cpu_place {
		s32 cpu; /* may be any number in damaged recordings */
		struct topology topology;
	})
	cpus;
	struct table cpu_index;
};

/* The topology of a CPU, valid until the next call. */
static const struct topology *topology_of(struct place_finder *f, s32 cpu)
{
	struct table_probe probe = table_probe(&f->cpu_index, hash_u64((u32)cpu));
	struct cpu_place *added;
	u32 i;

	while ((i = table_next(&f->cpu_index, &probe)) != TABLE_NONE)
		if (f->cpus.at[i].cpu == cpu)
			return &f->cpus.at[i].topology;
	table_add(&f->cpu_index, hash_u64((u32)cpu), (u32)f->cpus.n);
	added = vec_push(&f->cpus);
	*added = (struct cpu_place){.cpu = cpu};
	f->where->topology(f->where->ctx, cpu, &added->topology);
	return &added->topology;
}

static bool is_percore(const struct counts *s, u32 event)
{
	return s->scope == COUNTS_CPU && s->events->at[event].wishes & EVENT_PERCORE;
}

/* percore: with separate CPUs, the threads of a core still count as one. */
static enum counts_scope scope_of(const struct counts *s, u32 event)
{
	return is_percore(s, event) && !s->shows_cores ? COUNTS_CORE : s->scope;
}

static u64 hash_of(const s32 key[4])
{
	return hash_mix((u64)(u32)key[0] << 32 | (u32)key[1], (u64)(u32)key[2] << 32 | (u32)key[3]);
}

static u32 place_of(struct place_finder *f, const struct counter *c)
{
	static const struct topology unknown;
	struct counts *s = f->counts;
	enum counts_scope scope = scope_of(s, c->event);
	bool needs_topology =
		scope != COUNTS_ALL && (scope != COUNTS_CPU || s->shows_cores) && c->cpu >= 0;
	struct counts_place place = {.key = {[3] = (s32)scope}};
	struct table_probe probe;
	char name[128];
	u64 hash;
	u32 i;

	if (scope == COUNTS_THREAD)
		place.key[0] = c->tid;
	else
		name_place(scope, f->counts->cache_level,
			needs_topology ? topology_of(f, c->cpu) : &unknown, c->cpu, &place, name,
			sizeof(name));
	if (s->shows_cores && needs_topology) {
		const struct topology *t = topology_of(f, c->cpu);

		memcpy(place.core, ((s32[]){t->socket, t->die, t->core}), sizeof(place.core));
	}
	hash = hash_of(place.key);
	probe = table_probe(&f->index, hash);
	while ((i = table_next(&f->index, &probe)) != TABLE_NONE)
		if (!memcmp(s->places.at[i].key, place.key, sizeof(place.key)))
			return i;
	if (scope == COUNTS_THREAD)
		name_thread(f->where, c->tid, name, sizeof(name));
	place.name = arena_strdup(&s->arena, name, strlen(name));
	table_add(&f->index, hash, s->places.n);
	vec_add(&s->places, place);
	return s->places.n - 1;
}

static int by_key(const void *a, const void *b)
{
	const struct counts_place *x = a, *y = b;

	/* Places of cores come after places of CPUs. */
	if (x->key[3] != y->key[3])
		return x->key[3] > y->key[3] ? -1 : 1;
	for (size_t i = 0; i < 3; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

/* Sorts the places; returns the new position of each, to be freed. */
static u32 *sort_places(struct counts *s)
{
	u32 *now_at = mem_alloc((s->places.n + 1) * sizeof(*now_at));

	vec_each(p, &s->places)
		p->found = p - s->places.at;
	if (s->places.n)
		qsort(s->places.at, s->places.n, sizeof(*s->places.at), by_key);
	vec_each(p, &s->places)
		now_at[p->found] = p - s->places.at;
	return now_at;
}

/* Marks counters that count the same as another one: a per-package event is used once per package. */
static void find_doubles(struct place_finder *f)
{
	struct counts *s = f->counts;
	const struct counters *counters = &s->counting->counters;
	struct table firsts = {0}; /* of each event and package */

	mem_free(s->is_double);
	s->is_double = mem_zalloc(counters->n);
	for (size_t i = 0; i < counters->n; i++) {
		const struct counter *c = &counters->at[i];
		const struct topology *mine;
		struct table_probe probe;
		u64 hash;
		u32 k;

		if (!(s->events->at[c->event].wishes & EVENT_PER_PKG) || c->cpu < 0)
			continue;
		mine = topology_of(f, c->cpu);
		hash = hash_of((s32[]){(s32)c->event, mine->socket, mine->die, 0});
		probe = table_probe(&firsts, hash);
		while (!s->is_double[i] && (k = table_next(&firsts, &probe)) != TABLE_NONE) {
			const struct topology *other = topology_of(f, counters->at[k].cpu);

			s->is_double[i] = counters->at[k].event == c->event &&
				other->socket == mine->socket && other->die == mine->die;
		}
		if (!s->is_double[i])
			table_add(&firsts, hash, (u32)i);
	}
	table_fini(&firsts);
}

/* Finds the place of each counter, and sorts places: CPUs are in order already, but sockets may not be. */
static void find_places(struct counts *s, const struct counts_places *where)
{
	const struct counters *counters = &s->counting->counters;
	struct place_finder f = {.counts = s, .where = where};
	u32 *now_at;

	mem_free(s->place_of);
	s->place_of = mem_alloc((counters->n + 1) * sizeof(*s->place_of));
	/* A later run has all places of earlier runs, and perhaps more. */
	vec_each(p, &s->places)
		table_add(&f.index, hash_of(p->key), p - s->places.at);
	for (size_t i = 0; i < counters->n; i++)
		s->place_of[i] = place_of(&f, &counters->at[i]);
	find_doubles(&f);
	now_at = sort_places(s);
	for (size_t i = 0; i < counters->n; i++)
		s->place_of[i] = now_at[s->place_of[i]];
	mem_free(now_at);
	if (!s->places.n)
		vec_add(&s->places, ((struct counts_place){.name = ""}));
	table_fini(&f.index);
	vec_fini(&f.cpus);
	table_fini(&f.cpu_index);
}

/* Counts the CPUs or threads of each place: the counters that one event has there. */
static void count_members(struct counts *s)
{
	const struct counters *counters = &s->counting->counters;
	u32 *n = mem_zalloc(s->places.n * sizeof(*n));
	u32 event = TABLE_NONE;

	for (size_t i = 0; i < counters->n; i++) {
		u32 p = s->place_of[i];

		if (counters->at[i].event != event)
			memset(n, 0, s->places.n * sizeof(*n));
		event = counters->at[i].event;
		n[p]++;
		s->places.at[p].n_counters = MAX(s->places.at[p].n_counters, n[p]);
	}
	mem_free(n);
}

/* ---- life ---- */

void counts_init(struct counts *s, const struct event_list *events, enum counts_scope scope)
{
	memset(s, 0, sizeof(*s));
	s->events = events;
	s->scope = scope;
}

void counts_fini(struct counts *s)
{
	vec_fini(&s->places);
	mem_free(s->place_of);
	mem_free(s->is_double);
	mem_free(s->before);
	mem_free(s->slice);
	mem_free(s->now);
	mem_free(s->totals);
	arena_fini(&s->arena);
}

static u32 find_place(const struct counts *s, const s32 *key)
{
	u32 p = 0;

	while (memcmp(s->places.at[p].key, key, sizeof(s->places.at[p].key)) != 0)
		p++;
	return p;
}

/* Makes room for all places, and moves the totals of earlier runs to the new positions. */
static void make_cells(struct counts *s, const struct counts_place *before, size_t n_before)
{
	size_t n_cells = s->events->n * s->places.n;
	struct counts_total *totals = mem_zalloc(n_cells * sizeof(*totals));

	for (size_t i = 0; s->totals && i < n_before; i++) {
		u32 place = find_place(s, before[i].key);

		for (size_t e = 0; e < s->events->n; e++)
			totals[e * s->places.n + place] = s->totals[e * n_before + i];
	}
	mem_free(s->now);
	mem_free(s->totals);
	s->now = mem_zalloc(n_cells * sizeof(*s->now));
	s->totals = totals;
}

void counts_begin(struct counts *s, const struct counting *counting,
	const struct counts_places *places)
{
	size_t n = counting->counters.n, n_before = s->places.n;
	struct counts_place *before = mem_alloc(n_before * sizeof(*before));

	if (n_before)
		memcpy(before, s->places.at, n_before * sizeof(*before));
	s->counting = counting;
	find_places(s, places);
	count_members(s);
	mem_free(s->before);
	mem_free(s->slice);
	s->before = mem_zalloc(n * sizeof(*s->before));
	s->slice = mem_zalloc(n * sizeof(*s->slice));
	/* A run may have places that no earlier run had: a CPU that came online. */
	if (!s->now || s->places.n != n_before)
		make_cells(s, before, n_before);
	mem_free(before);
}

/* ---- counts ---- */

/* Adds what one counter counted since `before`. */
static void add_counter(struct counts *s, size_t i, const struct reading *before)
{
	const struct counter *c = &s->counting->counters.at[i];
	const struct event *e = &s->events->at[c->event];
	const struct reading *r = &s->counting->readings[i];
	struct count *to = counts_now(s, c->event, s->place_of[i]);
	bool is_state = e->wishes & EVENT_SNAPSHOT;
	u64 raw = is_state ? r->value : r->value - before->value;
	u64 enabled = r->enabled_ns - before->enabled_ns,
	    running = r->running_ns - before->running_ns;
	double value = (double)raw;

	to->n_counters++;
	to->n_failed += r->has_failed;
	if (r->has_failed)
		return;
	to->enabled_ns += enabled;
	to->running_ns += running;
	/* An offline CPU counts nothing: idle. A task that sleeps has nothing to count: not idle. */
	to->n_idle += enabled ? !running : c->tid == -1;
	to->n_samples += r->n_samples - before->n_samples;
	if (running && running < enabled && !s->is_unscaled && !is_state)
		value *= (double)enabled / (double)running;
	to->raw += raw;
	to->value += value * counts_scale(e);
}

/*
 * Makes a mean of the sum. Where none was measured (samples of processors that do not know it have 0), the event's table
 * has its usual one; then `raw` is 0. An interval without samples is no reason to take that.
 */
static void finish_latency(const struct event *e, bool is_interval, struct count *c)
{
	if (c->raw && c->n_samples)
		c->value = (double)c->raw / (double)c->n_samples;
	else if (e->retire_latency > 0 && !(is_interval && c->n_counters))
		*c = (struct count){.value = e->retire_latency,
			.n_counters = MAX(c->n_counters, 1),
			.n_samples = c->n_samples};
	else
		c->n_idle = c->n_counters;
}

static void add_count(struct count *to, const struct count *c)
{
	to->value += c->value;
	to->raw += c->raw;
	to->enabled_ns += c->enabled_ns;
	to->running_ns += c->running_ns;
	to->n_counters += c->n_counters;
	to->n_idle += c->n_idle;
	to->n_failed += c->n_failed;
}

/* Gives each CPU the sum of its core. */
static void share_cores(struct counts *s, u32 event)
{
	struct count *sums = mem_zalloc(s->places.n * sizeof(*sums));

	for (u32 p = 0; p < s->places.n; p++)
		for (u32 q = 0; q < s->places.n; q++)
			if (!memcmp(s->places.at[p].core, s->places.at[q].core,
				    sizeof(s->places.at[p].core)))
				add_count(&sums[p], counts_now(s, event, q));
	memcpy(counts_now(s, event, 0), sums, s->places.n * sizeof(*sums));
	mem_free(sums);
}

/* Sets s->now to the counts since `before`; NULL: since the beginning. */
static void take_since(struct counts *s, const struct reading *before)
{
	static const struct reading nothing;

	memset(s->now, 0, s->events->n * s->places.n * sizeof(*s->now));
	for (size_t i = 0; i < s->counting->counters.n; i++)
		if (!s->is_double[i])
			add_counter(s, i, before ? &before[i] : &nothing);
	for (u32 e = 0; e < s->events->n; e++)
		for (u32 p = 0; p < s->places.n && counts_is_latency(&s->events->at[e]); p++)
			finish_latency(&s->events->at[e], before, counts_now(s, e, p));
	for (u32 e = 0; e < s->events->n && s->shows_cores; e++)
		if (is_percore(s, e))
			share_cores(s, e);
}

void counts_take_interval(struct counts *s)
{
	take_since(s, s->before);
	memcpy(s->before, s->counting->readings, s->counting->counters.n * sizeof(*s->before));
}

void counts_take_run(struct counts *s)
{
	take_since(s, NULL);
	s->n_runs++;
	for (size_t i = 0; i < s->events->n * s->places.n; i++) {
		const struct count *c = &s->now[i];
		struct counts_total *t = &s->totals[i];

		if (count_state(c) == COUNT_OK)
			variance_add(&t->values, c->value);
		t->raw += c->raw;
		t->enabled_ns += c->enabled_ns;
		t->running_ns += c->running_ns;
		t->n_samples += c->n_samples;
		t->n_counters += c->n_counters;
		t->n_idle += c->n_idle;
		t->n_failed += c->n_failed;
	}
}

bool counts_take_slice(struct counts *s)
{
	size_t n_cells = s->events->n * s->places.n;
	bool is_multiplexed = false;

	memset(s->now, 0, n_cells * sizeof(*s->now));
	for (size_t i = 0; i < s->counting->counters.n; i++) {
		const struct counter *c = &s->counting->counters.at[i];
		const struct reading *r = &s->counting->readings[i];
		struct count *cell = counts_now(s, c->event, s->place_of[i]);

		is_multiplexed |= r->running_ns < r->enabled_ns;
		cell->raw += r->value - s->slice[i].value;
		cell->running_ns += r->running_ns - s->slice[i].running_ns;
		s->slice[i] = *r;
	}
	for (size_t i = 0; i < n_cells; i++)
		if (s->now[i].running_ns)
			variance_add(&s->totals[i].rates,
				(double)s->now[i].raw / (double)s->now[i].running_ns * 1e6);
	return is_multiplexed;
}

struct count counts_mean(const struct counts *s, u32 event, u32 place)
{
	const struct counts_total *t = counts_total(s, event, place);
	u64 n = MAX(t->values.n, 1ull);

	return (struct count){.value = t->values.mean,
		.raw = t->raw / n,
		.enabled_ns = t->enabled_ns,
		.running_ns = t->running_ns,
		.n_samples = t->n_samples,
		.n_counters = t->n_counters,
		.n_idle = t->n_idle,
		.n_failed = t->n_failed};
}

enum count_state count_state(const struct count *c)
{
	if (!c->n_counters)
		return COUNT_NOT_OPENED;
	/* A task that slept all the time did nothing to be counted: then zero is correct. */
	if (c->n_failed + c->n_idle >= c->n_counters)
		return COUNT_NEVER_RAN;
	return COUNT_OK;
}

double count_share(const struct count *c)
{
	return c->enabled_ns ? (double)c->running_ns / (double)c->enabled_ns : 1;
}

double counts_scaling_error(const struct counts_total *t)
{
	double all = (double)t->enabled_ns / 1e6, unseen = all - (double)t->running_ns / 1e6, error;

	if (t->rates.n < 3 || !t->values.n || !t->running_ns || t->values.mean <= 0 || !t->raw)
		return -1;
	/*
	 * The error of a total of which a part is known: only the unseen part is uncertain (finite
	 * population correction).
	 */
	error = sqrt(unseen * all) * variance_error(&t->rates) * variance_t95(t->rates.n);
	return error / ((double)t->raw * (double)t->enabled_ns / (double)t->running_ns);
}

/* ---- why there is no count, or not all of it ---- */

static const char *keep(struct arena *arena, const char *text)
{
	return arena_strdup(arena, text, strlen(text));
}

static const char *partial_reason(const struct count *c, struct arena *arena)
{
	struct str text = {0};
	const char *kept;

	if (c->n_failed)
		str_addf(&text,
			"on %u of %u counters the pinned event lost its place on the PMU: what it counted there is missing",
			c->n_failed, c->n_counters);
	else if (c->n_idle)
		str_addf(&text, "%u of %u counters were never on the PMU: their part is missing",
			c->n_idle, c->n_counters);
	if (!text.n)
		return NULL;
	kept = keep(arena, text.at);
	str_fini(&text);
	return kept;
}

/* Why there is no mean of latencies, or only that of a table. */
static const char *latency_reason(const struct counts *s, const struct err *why,
	const struct count *c, struct arena *arena)
{
	bool has_table = count_state(c) == COUNT_OK;
	struct str text = {0};
	const char *kept;

	if (c->raw)
		return partial_reason(c, arena);
	if (has_table)
		str_add(&text, "its usual latency, by its table: ");
	if (why && why->code)
		str_add(&text, missing_reason(why));
	else if (!s->counting || !s->counting->latencies)
		str_addf(&text, "%s--record-tpebs measures it",
			has_table ? "" : "no table has its usual latency: ");
	else if (!c->n_samples)
		str_add(&text, "no sample of it came");
	else
		str_addf(&text,
			"%llu samples came, none with a latency, which processors measure since Meteor Lake and Granite Rapids",
			(unsigned long long)c->n_samples);
	kept = keep(arena, text.at);
	str_fini(&text);
	return kept;
}

const char *counts_reason(const struct counts *s, u32 event, const struct count *c,
	struct arena *arena)
{
	enum count_state state = count_state(c);
	const struct err *why = s->counting ? &s->counting->why[event] : NULL;

	if (s->events->at[event].attr.type == EVENT_TYPE_TOOL && state != COUNT_OK)
		return "it is known only when a command ends";
	if (counts_is_latency(&s->events->at[event]))
		return latency_reason(s, why, c, arena);
	if (state == COUNT_NOT_OPENED)
		return why && why->code ? keep(arena, missing_reason(why))
					: "no task or CPU of the target has it";
	if (state == COUNT_OK)
		return partial_reason(c, arena);
	if (c->n_failed && s->counting && s->counting->why_lost)
		return keep(arena, s->counting->why_lost);
	if (c->n_failed)
		return "the pinned event lost its place on the PMU to others";
	if (!c->enabled_ns)
		return "it was never enabled: its CPU was offline, or counting was switched off";
	return s->events->at[s->events->at[event].leader].n_members > 1
		? "its group never fitted on the PMU: use fewer events in it, or 'sudo sysctl kernel.nmi_watchdog=0'"
		: "it was never on the PMU, which other events occupied";
}
