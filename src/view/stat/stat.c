#include "view/stat/stat.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "view/stat/stat_topdown.h"

const char *stat_state_name(enum count_state state)
{
	static const char *const names[] = {
		[COUNT_OK] = "counted",
		[COUNT_NEVER_RAN] = "not counted",
		[COUNT_NOT_OPENED] = "not supported",
	};

	return names[state];
}

const char *stat_metric_reason(const struct metric *m)
{
	return m->state == METRIC_APART      ? STAT_APART
		: m->state == METRIC_UNKNOWN ? STAT_UNKNOWN
					     : NULL;
}

const char *stat_verdict_name(enum metric_verdict verdict)
{
	static const char *const names[] = {
		[METRIC_UNJUDGED] = NULL,
		[METRIC_UNREMARKABLE] = "unremarkable",
		[METRIC_NOTABLE] = "notable",
	};

	return names[verdict];
}

unsigned stat_digits(const struct stat_view *v, const struct stat_line *l)
{
	return counts_scale(l->event) == 1 && v->counts->n_runs <= 1 && !counts_is_latency(l->event)
		? 0
		: 6;
}

const char *stat_cgroup(const struct event *e)
{
	return e->cgroup && !strcmp(e->cgroup, ".") ? "/" : e->cgroup;
}

/* ---- lines ---- */

/* What the lines of one result are made from. */
struct making {
	struct stat_lines *lines;
	const struct counts *counts;
	const struct stat_options *options;
	bool is_interval;
	double elapsed_ns;
	u32 *first_of; /* by event: the one whose line has its counts too; its own if it has a line */
	u32 *beside; /* by metric that was asked for: the event of its line; TABLE_NONE: not asked for */
};

static bool is_on(const struct making *m, u32 first, u32 end, const char *pmu)
{
	const struct event_list *events = m->counts->events;

	for (u32 i = first; i < end; i++)
		if (m->first_of[i] == first && !strcmp(events->at[i].pmu, pmu))
			return true;
	return false;
}

/* Events with the same name on PMUs of one kind, like memory controllers, are one event to users. */
static u32 first_of(const struct making *m, u32 i)
{
	const struct event *events = m->counts->events->at, *e = &events[i];

	if (m->options->has_no_merge || !e->pmu || counts_is_latency(e))
		return i;
	for (u32 k = i; k-- > 0;)
		if (m->first_of[k] == k && events[k].pmu && !strcmp(events[k].name, e->name))
			return is_on(m, k, i, e->pmu) ? i : k;
	return i;
}

static void choose_lines(struct making *m)
{
	const struct metricset *set = m->options->metrics;
	const size_t n_uses = set ? set->uses.n : 0;

	m->first_of = mem_alloc((m->counts->events->n + 1) * sizeof(*m->first_of));
	m->beside = mem_alloc((n_uses + 1) * sizeof(*m->beside));
	for (u32 i = 0; i < m->counts->events->n; i++)
		m->first_of[i] = first_of(m, i);
	for (size_t i = 0; i < n_uses; i++) {
		const struct metric_use *use = &set->uses.at[i];

		m->beside[i] = use->is_asked
			? m->first_of[metricvalue_beside(m->counts->events, use)]
			: TABLE_NONE;
	}
}

static void add_count(struct count *to, const struct count *c)
{
	to->value += c->value;
	to->raw += c->raw;
	to->enabled_ns += c->enabled_ns;
	to->running_ns += c->running_ns;
	to->n_samples += c->n_samples;
	to->n_counters += c->n_counters;
	to->n_idle += c->n_idle;
	to->n_failed += c->n_failed;
}

/* Not every place has every event: some CPUs are of another kind, and one CPU counts for its package. */
static bool is_elsewhere(const struct counts *s, u32 event, u32 place)
{
	if (s->events->at[event].attr.type == EVENT_TYPE_TOOL)
		return place > 0;
	for (u32 p = 0; p < s->places.n; p++)
		if (counts_total(s, event, p)->n_counters || counts_now(s, event, p)->n_counters)
			return true;
	return false;
}

/* Counts of time, which no kernel counter has. */
static void take_time(const struct counts *s, const struct event *e, bool is_interval,
	double elapsed_ns, struct count *c)
{
	const struct variance *times[] = {
		[EVENT_TOOL_DURATION] = &s->elapsed_ns,
		[EVENT_TOOL_USER] = &s->user_ns,
		[EVENT_TOOL_SYSTEM] = &s->system_ns,
	};
	double ns = e->attr.config == EVENT_TOOL_DURATION ? elapsed_ns : 0;

	if (event_is_fact(&e->attr)) {
		*c = (struct count){.value = (double)e->attr.config1,
			.raw = e->attr.config1,
			.enabled_ns = (u64)elapsed_ns + 1,
			.running_ns = (u64)elapsed_ns + 1,
			.n_counters = 1};
		return;
	}
	if (e->attr.config >= ARRAY_SIZE(times) || !e->attr.config)
		return;
	/* The kernel reports a command's CPU time only at its end. */
	if (e->attr.config != EVENT_TOOL_DURATION && (is_interval || !times[e->attr.config]->n))
		return;
	if (!is_interval)
		ns = times[e->attr.config]->mean;
	*c = (struct count){.value = ns,
		.raw = (u64)ns,
		.enabled_ns = (u64)elapsed_ns,
		.running_ns = (u64)elapsed_ns,
		.n_counters = 1};
}

/* The counts of one place, by event. */
struct place_counts {
	struct count *each;
	struct count *merged; /* those of several PMUs are with the first of them */
	double *errors;       /* of each: counts_scaling_error() */
	bool *is_sum;         /* merged over several PMUs */
};

static void take_counts(const struct making *m, u32 place, struct place_counts *c)
{
	const struct counts *s = m->counts;

	for (u32 i = 0; i < s->events->n; i++) {
		const u32 first = m->first_of[i];

		c->each[i] = m->is_interval ? *counts_now(s, i, place) : counts_mean(s, i, place);
		if (s->events->at[i].attr.type == EVENT_TYPE_TOOL && !place)
			take_time(s, &s->events->at[i], m->is_interval, m->elapsed_ns, &c->each[i]);
		c->errors[i] =
			m->is_interval ? -1 : counts_scaling_error(counts_total(s, i, place));
		add_count(&c->merged[first], &c->each[i]);
		c->is_sum[first] = first != i;
	}
}

static bool is_asked_for(const struct metricset *set, const struct metric_row *row)
{
	for (size_t i = 0; set && i < set->uses.n; i++)
		if (set->uses.at[i].is_asked && set->uses.at[i].row == row)
			return true;
	return false;
}

/* Adds what is known of an event's counts without asking, and then the metrics that were asked for. */
static void add_metrics(const struct making *m, u32 event, const struct place_counts *c,
	struct stat_line *l)
{
	const struct counts *s = m->counts;
	const struct metricset *set = m->options->metrics;
	const bool by_name = m->options->has_perf7_columns;
	const struct metric_input own = {s->events, c->merged, m->elapsed_ns, s->pass_of, by_name};
	const struct metricvalue_input asked = {set, s->events, c->each, c->errors, m->elapsed_ns};
	struct metric beside[METRIC_MAX];
	/* perf 7 has metrics only beside its own events. */
	unsigned n_beside =
		by_name && !m->options->has_no_defaults ? 0 : metric_of(&own, event, beside);
	VEC(struct metric) found = {0};

	for (unsigned i = 0; i < n_beside; i++)
		if (!is_asked_for(set, beside[i].row))
			vec_add(&found, beside[i]);
	for (size_t i = 0; set && i < set->uses.n; i++)
		if (m->beside[i] == event)
			vec_add(&found, metricvalue_of(&asked, &set->uses.at[i]));
	if (found.n)
		l->metrics = arena_copy(&m->lines->arena, found.at, found.n * sizeof(*found.at));
	l->n_metrics = (unsigned)found.n;
	vec_fini(&found);
}

static void add_line(const struct making *m, u32 i, u32 place, const struct place_counts *c)
{
	const struct counts *s = m->counts;
	const struct counts_total *total = counts_total(s, i, place);
	struct stat_line *l = vec_push(m->lines);

	*l = (struct stat_line){.place = &s->places.at[place],
		.event = &s->events->at[i],
		.count = c->merged[i],
		.state = count_state(&c->merged[i]),
		.deviation = -1,
		.scaling_error = -1};
	l->reason = counts_reason(s, i, &c->merged[i], &m->lines->arena);
	add_metrics(m, i, c, l);
	/* The joint variance of counts of several PMUs is not measured. */
	if (m->is_interval || c->is_sum[i])
		return;
	if (total->values.n > 1 && c->merged[i].value)
		l->deviation = variance_error(&total->values) / c->merged[i].value;
	l->scaling_error = c->errors[i];
}

/* Makes the lines of all events in one place. */
static void make_place(const struct making *m, u32 place)
{
	const u32 n = m->counts->events->n;
	struct place_counts c = {.each = mem_zalloc((n + 1) * sizeof(*c.each)),
		.merged = mem_zalloc((n + 1) * sizeof(*c.merged)),
		.errors = mem_zalloc((n + 1) * sizeof(*c.errors)),
		.is_sum = mem_zalloc(n + 1)};

	take_counts(m, place, &c);
	for (u32 i = 0; i < n; i++)
		if (m->first_of[i] == i &&
			(c.merged[i].n_counters || !is_elsewhere(m->counts, i, place)))
			add_line(m, i, place, &c);
	mem_free(c.each);
	mem_free(c.merged);
	mem_free(c.errors);
	mem_free(c.is_sum);
}

/* CPUs are compared event by event, other places follow one another. */
SORT_BY(by_event, struct stat_line, event, place)

/* Threads that did most come first. */
static int by_event_and_value(const void *a, const void *b)
{
	const struct stat_line *x = a, *y = b;

	if (x->event != y->event || x->count.value == y->count.value)
		return by_event(a, b);
	return x->count.value < y->count.value ? 1 : -1;
}

void stat_lines_make(struct stat_lines *lines, const struct counts *s, bool is_interval,
	double elapsed_ns, const struct stat_options *o)
{
	struct making m = {.lines = lines,
		.counts = s,
		.options = o,
		.is_interval = is_interval,
		.elapsed_ns = elapsed_ns};

	choose_lines(&m);
	for (u32 p = 0; p < s->places.n; p++)
		make_place(&m, p);
	mem_free(m.first_of);
	mem_free(m.beside);
	if (lines->n && s->scope == COUNTS_CPU)
		qsort(lines->at, lines->n, sizeof(*lines->at), by_event);
	if (lines->n && s->scope == COUNTS_THREAD)
		qsort(lines->at, lines->n, sizeof(*lines->at), by_event_and_value);
}

void stat_lines_fini(struct stat_lines *lines)
{
	vec_fini(lines);
	arena_fini(&lines->arena);
}

/* ---- formats ---- */

void stat_add_table(const struct stat_options *o, const struct rowmaker *rows, bool *has_head,
	struct str *text)
{
	const struct rowset table = rowmaker_table(rows);
	struct out out = {.fd = -1, .text = *text};
	struct page p = {.form = o->form,
		.out = &out,
		.separator = o->separator,
		.has_head = *has_head,
		.is_lines = true};

	p.form->table(&p, &table);
	*has_head = p.has_head;
	*text = out.text;
}

/* For programs: rows of a measurement (facts), or of an interval. */
static void add_rows(struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, u64 time_ns, struct str *text)
{
	struct rowmaker rows = {0};

	if (v->options->has_perfs_columns) {
		if (v->topdown || v->options->is_metric_only)
			stat_perf_columns(v, lines, !facts, time_ns, text);
		if (!v->options->is_metric_only)
			stat_perf_rows(v, lines, time_ns, text);
		return;
	}
	if (v->topdown)
		stat_topdown_rows(v, !facts, time_ns, &rows);
	if (v->options->form->wants & FORM_NESTS)
		stat_make_rows(v, lines, facts, time_ns, &rows);
	else if (!v->topdown)
		stat_make_flat_rows(v, lines, facts, time_ns, &rows);
	stat_add_table(v->options, &rows, &v->has_header, text);
	rowmaker_fini(&rows);
}

void stat_add_interval(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text)
{
	if (!form_is_data(v->options->form))
		stat_text_rows(v, lines, time_ns, text);
	else
		add_rows(v, lines, NULL, time_ns, text);
}

void stat_add_result(struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, struct str *text)
{
	if (!form_is_data(v->options->form)) {
		stat_text_result(v, lines, facts, text);
		return;
	}
	add_rows(v, lines, facts, UINT64_MAX, text);
}
