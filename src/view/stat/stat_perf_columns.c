/*
 * stat_perf_columns.c - metrics only (--metric-only, --topdown) as perf stat prints them with -x and -j: a column or member for
 * each metric, a row for each place. A value that is not known is empty, or left out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "view/stat/stat_metrics.h"
#include "view/stat/stat_topdown.h"

/* One row, or the names of all columns. */
struct row {
	const struct stat_view *v;
	struct str *text;
	bool is_json, has_members;
};

static void add_member(struct row *r, const char *key, const char *value, bool is_number)
{
	str_add(r->text, r->has_members ? ", " : "{");
	json_string(r->text, key);
	str_add(r->text, " : ");
	if (is_number)
		str_add(r->text, value);
	else
		json_string(r->text, value);
	r->has_members = true;
}

/* perf's metrics are texts in JSON. */
static void add_field(struct row *r, const char *key, const char *value)
{
	if (r->is_json && *value) {
		add_member(r, key, value, false);
	} else if (!r->is_json) {
		str_add_safe(r->text, value, strlen(value));
		str_add(r->text, r->v->options->separator);
	}
}

static void add_number(struct row *r, const char *key, const char *value)
{
	if (r->is_json)
		add_member(r, key, value, true);
	else
		add_field(r, key, value);
}

static void end_row(struct row *r)
{
	if (r->is_json)
		str_add(r->text, r->has_members ? "}" : "{}");
	str_addc(r->text, '\n');
	r->has_members = false;
}

static void add_names(struct row *r, bool has_time)
{
	const struct stat_view *v = r->v;
	const struct stat_perf_place *p = stat_perf_place(v->counts->scope);

	if (has_time)
		add_field(r, "", " time");
	if (p->name)
		add_field(r, "", p->name);
	if (p->has_number)
		add_field(r, "", "cpus");
	if (v->topdown && v->topdown->cores.n > 1)
		add_field(r, "", "pmu");
	vec_each(c, &v->shares)
		add_field(r, "", c->name);
	vec_each(c, &v->columns)
		add_field(r, "", c->name);
	end_row(r);
}

static void add_place(struct row *r, const struct counts_place *place, u64 time_ns)
{
	const struct stat_perf_place *p = stat_perf_place(r->v->counts->scope);
	char number[32];

	if (time_ns != UINT64_MAX) {
		snprintf(number, sizeof(number), r->is_json ? "%llu.%09llu" : "%6llu.%09llu",
			time_ns / 1000000000ull, time_ns % 1000000000ull);
		add_number(r, "interval", number);
	}
	if (p->name)
		add_field(r, p->name,
			place->name + (r->is_json && !strncmp(place->name, "CPU", 3) ? 3 : 0));
	snprintf(number, sizeof(number), "%u", place->n_counters);
	if (p->has_number)
		add_number(r, stat_perf_number(r->v), number);
}

static void add_shares(struct row *r, const struct tma *t, const struct slots *s)
{
	char value[32];

	if (r->v->topdown->cores.n > 1)
		add_field(r, "pmu", t->pmu);
	vec_each(c, &r->v->shares) {
		double share = stat_topdown_share(t, s, c);

		snprintf(value, sizeof(value), "%.1f", 100 * share);
		add_field(r, c->name, isnan(share) ? "" : value);
	}
}

static void add_metrics(struct row *r, const struct stat_lines *lines,
	const struct counts_place *place)
{
	vec_each(c, &r->v->columns) {
		const struct metric *m = stat_metrics_find(lines, c, place);
		char value[64] = "";

		if (m && m->state == METRIC_VALUE)
			snprintf(value, sizeof(value), "%.*f", (int)m->digits,
				m->value * m->factor / c->factor);
		add_field(r, c->name, value);
	}
}

/* A row; with TopDown one for each kind of core that has counted there. */
static void add_rows(struct row *r, const struct stat_lines *lines,
	const struct counts_place *place, bool is_interval, u64 time_ns)
{
	const struct stat_view *v = r->v;
	struct count *counts = mem_alloc((v->counts->events->n + 1) * sizeof(*counts));
	u32 n_cores = v->topdown ? (u32)v->topdown->cores.n : 1;

	slots_take(v->counts, (u32)(place - v->counts->places.at), is_interval, counts);
	for (u32 core = 0; core < n_cores; core++) {
		struct slots s;

		if (v->topdown)
			slots_of(&s, v->topdown, core, counts);
		if (v->topdown && !s.is_counted && n_cores > 1)
			continue;
		add_place(r, place, time_ns);
		if (v->topdown)
			add_shares(r, &v->topdown->cores.at[core], &s);
		add_metrics(r, lines, place);
		end_row(r);
	}
	mem_free(counts);
}

void stat_perf_columns(struct stat_view *v, const struct stat_lines *lines, bool is_interval,
	u64 time_ns, struct str *text)
{
	struct row r = {.v = v, .text = text, .is_json = v->options->form->wants & FORM_NESTS};

	if (v->topdown)
		stat_topdown_find_columns(v);
	if (v->options->is_metric_only)
		stat_metrics_find_columns(v, lines);
	if (!v->has_header && !r.is_json)
		add_names(&r, time_ns != UINT64_MAX);
	v->has_header = true;
	vec_each(place, &v->counts->places)
		add_rows(&r, lines, place, is_interval, time_ns);
}
