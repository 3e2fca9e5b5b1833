/*
 * stat_perf.c - counts in the columns of perf stat's -x and the members of its -j (those of perf 6.1, which later
 * ones have kept), for scripts that parse them. A row for each event in each place; further metrics follow on
 * rows of their own. What pace knows beyond them is left out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "view/stat/stat.h"

static const struct stat_perf_place perf_places[] = {
	[COUNTS_ALL] = {NULL, false},
	[COUNTS_SOCKET] = {"socket", true},
	[COUNTS_DIE] = {"die", true},
	[COUNTS_CLUSTER] = {"cluster", true},
	[COUNTS_CACHE] = {"cache", true},
	[COUNTS_CORE] = {"core", true},
	[COUNTS_NODE] = {"node", true},
	[COUNTS_CPU] = {"cpu", false},
	[COUNTS_THREAD] = {"thread", false},
};

const struct stat_perf_place *stat_perf_place(enum counts_scope scope)
{
	return &perf_places[scope];
}

const char *stat_perf_number(const struct stat_view *v)
{
	return v->options->has_perf7_columns ? "counters" : "aggregate-number";
}

static const char *state_of(const struct stat_line *l)
{
	return l->state == COUNT_NEVER_RAN ? "<not counted>"
		: l->state != COUNT_OK     ? "<not supported>"
					   : NULL;
}

/* perf counts one run's time; ours is that of all. */
static u64 running_ns(const struct counts *s, const struct stat_line *l)
{
	return s->n_runs > 1 ? l->count.running_ns / s->n_runs : l->count.running_ns;
}

static double running_percent(const struct stat_line *l)
{
	return l->count.enabled_ns ? 100 * count_share(&l->count) : 100;
}

/* Whether any event belongs to a control group: then all rows have the column. */
static bool has_cgroups(const struct counts *s)
{
	vec_each(e, s->events)
		if (e->cgroup)
			return true;
	return false;
}

static bool has_value(const struct stat_line *l, unsigned i)
{
	return i < l->n_metrics && l->metrics[i].state == METRIC_VALUE;
}

/* As perf 7 writes it, the unit stands before a metric's name. */
static void add_unit(const struct stat_view *v, const struct metric *m, struct str *text)
{
	if (v->options->has_perf7_columns && m->name && m->unit[0]) {
		str_add_safe(text, m->unit, strlen(m->unit));
		str_add(text, "  ");
	}
	if (m->name)
		str_add_safe(text, m->name, strlen(m->name));
	else
		str_add_safe(text, m->unit, strlen(m->unit));
}

/* ---- -x ---- */

static void add_time(const struct stat_view *v, u64 time_ns, struct str *text)
{
	if (time_ns != UINT64_MAX)
		str_addf(text, "%6llu.%09llu%s", time_ns / 1000000000ull, time_ns % 1000000000ull,
			v->options->separator);
	else if (v->options->has_summary_column)
		str_addf(text, "%16s%s", "summary", v->options->separator);
}

static void add_place(const struct stat_view *v, const struct stat_line *l, struct str *text)
{
	const struct stat_perf_place *p = stat_perf_place(v->counts->scope);

	if (!p->name)
		return;
	str_add_safe(text, l->place->name, strlen(l->place->name));
	str_add(text, v->options->separator);
	if (p->has_number)
		str_addf(text, "%u%s", l->place->n_counters, v->options->separator);
}

static void add_count(const struct stat_view *v, const struct stat_line *l, struct str *text)
{
	const char *sep = v->options->separator, *state = state_of(l);

	if (state)
		str_add(text, state);
	else
		str_addf(text, "%.*f", counts_scale(l->event) == 1 ? 0 : 2, l->count.value);
	str_addf(text, "%s%s%s", sep, counts_unit(l->event), sep);
	str_add_safe(text, l->event->name, strlen(l->event->name));
	if (has_cgroups(v->counts)) {
		str_add(text, sep);
		if (l->event->cgroup)
			str_add_safe(text, stat_cgroup(l->event), strlen(stat_cgroup(l->event)));
	}
	if (v->counts->n_runs > 1)
		str_addf(text, "%s%.2f%%", sep, 100 * MAX(l->deviation, 0));
	str_addf(text, "%s%llu%s%.2f%s", sep, (unsigned long long)running_ns(v->counts, l), sep,
		running_percent(l), sep);
}

static void add_metric(const struct stat_view *v, const struct metric *m, struct str *text)
{
	str_addf(text, "%.*f%s", (int)m->digits, m->value, v->options->separator);
	add_unit(v, m, text);
}

static void add_separated(const struct stat_view *v, const struct stat_line *l, u64 time_ns,
	struct str *text)
{
	const struct stat_perf_place *p = stat_perf_place(v->counts->scope);
	/* What stands between the place and a metric, as perf counts it. */
	const unsigned n_empty = 4 + (p->name != NULL) + p->has_number + has_cgroups(v->counts);

	add_time(v, time_ns, text);
	add_place(v, l, text);
	add_count(v, l, text);
	if (has_value(l, 0))
		add_metric(v, &l->metrics[0], text);
	else
		str_add(text, v->options->separator);
	str_addc(text, '\n');
	for (unsigned i = 1; i < l->n_metrics; i++) {
		if (!has_value(l, i))
			continue;
		add_time(v, time_ns, text);
		add_place(v, l, text);
		for (unsigned k = 0; k < n_empty; k++)
			str_add(text, v->options->separator);
		add_metric(v, &l->metrics[i], text);
		str_addc(text, '\n');
	}
}

/* ---- -j ---- */

static void add_member(struct str *text, const char *key, const char *value)
{
	str_addf(text, "\"%s\" : ", key);
	json_string(text, value);
	str_add(text, ", ");
}

static void add_json_place(const struct stat_view *v, const struct stat_line *l, u64 time_ns,
	struct str *text)
{
	const struct stat_perf_place *p = stat_perf_place(v->counts->scope);
	const char *name = l->place->name;

	str_addc(text, '{');
	if (time_ns != UINT64_MAX)
		str_addf(text, "\"interval\" : %llu.%09llu, ", time_ns / 1000000000ull,
			time_ns % 1000000000ull);
	if (!p->name)
		return;
	if (v->counts->scope == COUNTS_CPU && !strncmp(name, "CPU", 3))
		name += 3;
	add_member(text, p->name, name);
	if (p->has_number)
		str_addf(text, "\"%s\" : %u, ", stat_perf_number(v), l->place->n_counters);
}

/* perf 6 has a number even where there is no metric, perf 7 a text, or no member. */
static void add_json_metric(const struct stat_view *v, const struct metric *m, struct str *text)
{
	const bool is_text = v->options->has_perf7_columns;
	struct str unit = {0};

	if (is_text && !m) {
		str_cut(text, text->n - 2);
		str_add(text, "}\n");
		return;
	}
	if (m)
		add_unit(v, m, &unit);
	str_addf(text, is_text ? "\"metric-value\" : \"%f\", " : "\"metric-value\" : %f, ",
		m ? m->value : 0);
	str_add(text, "\"metric-unit\" : ");
	json_string(text, str_text(&unit));
	str_add(text, "}\n");
	str_fini(&unit);
}

static void add_json(const struct stat_view *v, const struct stat_line *l, u64 time_ns,
	struct str *text)
{
	const char *state = state_of(l);
	char value[64];

	snprintf(value, sizeof(value), "%f", l->count.value);
	add_json_place(v, l, time_ns, text);
	add_member(text, "counter-value", state ? state : value);
	add_member(text, "unit", counts_unit(l->event));
	add_member(text, "event", l->event->name);
	if (has_cgroups(v->counts))
		add_member(text, "cgroup", l->event->cgroup ? stat_cgroup(l->event) : "");
	if (v->counts->n_runs > 1)
		str_addf(text, "\"variance\" : %.2f, ", 100 * MAX(l->deviation, 0));
	str_addf(text, "\"event-runtime\" : %llu, \"pcnt-running\" : %.2f, ",
		(unsigned long long)running_ns(v->counts, l), running_percent(l));
	add_json_metric(v, has_value(l, 0) ? &l->metrics[0] : NULL, text);
	for (unsigned i = 1; i < l->n_metrics; i++) {
		if (!has_value(l, i))
			continue;
		add_json_place(v, l, time_ns, text);
		add_json_metric(v, &l->metrics[i], text);
	}
}

void stat_perf_rows(const struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text)
{
	vec_each(l, lines)
		if (v->options->form->wants & FORM_NESTS)
			add_json(v, l, time_ns, text);
		else
			add_separated(v, l, time_ns, text);
}
