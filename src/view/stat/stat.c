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

unsigned stat_digits(const struct stat_view *v, const struct stat_line *l)
{
	return counts_scale(l->event) == 1 && v->counts->n_runs <= 1 ? 0 : 6;
}

const char *stat_cgroup(const struct event *e)
{
	return e->cgroup && !strcmp(e->cgroup, ".") ? "/" : e->cgroup;
}

/* ---- lines ---- */

/* Events with the same name on PMUs of one kind, like memory controllers, are one event to users. */
static bool continues(const struct event_list *events, u32 i, const struct stat_options *o)
{
	const struct event *e = &events->at[i], *before = i ? e - 1 : NULL;

	return before && !o->has_no_merge && e->pmu && before->pmu &&
		strcmp(e->pmu, before->pmu) != 0 && !strcmp(e->name, before->name);
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

/* Makes the lines of all events in one place. */
static void make_place(struct stat_lines *lines, const struct counts *s, u32 place,
	bool is_interval, double elapsed_ns, const struct stat_options *o)
{
	u32 n = s->events->n;
	struct count *counts = mem_zalloc((n + 1) * sizeof(*counts));
	bool *is_sum = mem_zalloc(n + 1); /* over several PMUs */
	struct metric_input in = {s->events, counts, elapsed_ns, s->pass_of};

	for (u32 i = 0, first = 0; i < n; i++) {
		struct count c = is_interval ? *counts_now(s, i, place) : counts_mean(s, i, place);

		if (s->events->at[i].attr.type == EVENT_TYPE_TOOL && !place)
			take_time(s, &s->events->at[i], is_interval, elapsed_ns, &c);
		first = continues(s->events, i, o) ? first : i;
		add_count(&counts[first], &c);
		is_sum[first] = first != i;
	}
	for (u32 i = 0; i < n; i++) {
		struct stat_line *l;

		if (continues(s->events, i, o) ||
			(!counts[i].n_counters && is_elsewhere(s, i, place)))
			continue;
		l = vec_push(lines);
		*l = (struct stat_line){.place = &s->places.at[place],
			.event = &s->events->at[i],
			.count = counts[i],
			.state = count_state(&counts[i]),
			.deviation = -1,
			.scaling_error = -1};
		l->reason = counts_reason(s, i, &counts[i], &lines->arena);
		l->n_metrics = metric_of(&in, i, l->metrics);
		/* The joint variance of counts of several PMUs is not measured. */
		if (is_interval || is_sum[i])
			continue;
		if (counts_total(s, i, place)->values.n > 1 && counts[i].value)
			l->deviation = variance_error(&counts_total(s, i, place)->values) /
				counts[i].value;
		l->scaling_error = counts_scaling_error(counts_total(s, i, place));
	}
	mem_free(counts);
	mem_free(is_sum);
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
	for (u32 p = 0; p < s->places.n; p++)
		make_place(lines, s, p, is_interval, elapsed_ns, o);
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
