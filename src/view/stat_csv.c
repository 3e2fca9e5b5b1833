/*
 * stat_csv.c - counts as comma separated values. The columns are in pace-stat(1).
 */
#include <string.h>

#include "base/num.h"
#include "view/stat.h"

void stat_csv_cell(const char *word, const char *separator, struct str *text)
{
	struct str safe = {0};

	str_add_safe(&safe, word, strlen(word));
	/* RFC 4180's quotes, for any separator. */
	if (!strstr(str_text(&safe), separator) && !strchr(str_text(&safe), '"')) {
		str_add(text, str_text(&safe));
	} else {
		str_addc(text, '"');
		for (const char *p = safe.at; *p; p++) {
			if (*p == '"')
				str_addc(text, '"');
			str_addc(text, *p);
		}
		str_addc(text, '"');
	}
	str_fini(&safe);
	str_add(text, separator);
}

static void add_cell(const struct stat_view *v, const char *word, struct str *text)
{
	stat_csv_cell(word, v->options->separator, text);
}

static void add_number(const struct stat_view *v, double value, unsigned digits, struct str *text)
{
	str_addf(text, "%.*f%s", (int)digits, value, v->options->separator);
}

static void add_u64(const struct stat_view *v, u64 value, struct str *text)
{
	num_add_u64(text, value);
	str_add(text, v->options->separator);
}

static void skip(const struct stat_view *v, struct str *text)
{
	str_add(text, v->options->separator);
}

static void end_row(const struct stat_view *v, struct str *text)
{
	str_cut(text, text->n - strlen(v->options->separator));
	str_addc(text, '\n');
}

static void add_header(const struct stat_view *v, struct str *text)
{
	static const char *const names[] = {"time_s", "place", "counters", "event", "cgroup",
		"state", "value", "unit", "raw", "enabled_ns", "running_ns", "running_pct",
		"scaling_error_pct", "deviation_pct", "metric", "metric_unit", "reason"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		str_addf(text, "%s%s", names[i], v->options->separator);
	end_row(v, text);
}

static void add_row(const struct stat_view *v, const struct stat_line *l, const struct metric *m,
	u64 time_ns, struct str *text)
{
	bool is_counted = l->state == COUNT_OK;
	struct str unit = {0};

	if (time_ns == UINT64_MAX)
		skip(v, text);
	else
		add_number(v, (double)time_ns / 1e9, 9, text);
	add_cell(v, l->place->name, text);
	add_u64(v, l->place->n_counters, text);
	add_cell(v, l->event->name, text);
	add_cell(v, l->event->cgroup ? stat_cgroup(l->event) : "", text);
	add_cell(v, stat_state_name(l->state), text);
	if (is_counted)
		add_number(v, l->count.value, stat_digits(v, l), text);
	else
		skip(v, text);
	add_cell(v, counts_unit(l->event), text);
	if (is_counted)
		add_u64(v, l->count.raw, text);
	else
		skip(v, text);
	add_u64(v, l->count.enabled_ns, text);
	add_u64(v, l->count.running_ns, text);
	if (l->state == COUNT_NOT_OPENED)
		skip(v, text);
	else
		add_number(v, 100 * count_share(&l->count), 2, text);
	if (l->scaling_error >= 0)
		add_number(v, 100 * l->scaling_error, 2, text);
	else
		skip(v, text);
	if (l->deviation >= 0)
		add_number(v, 100 * l->deviation, 2, text);
	else
		skip(v, text);
	if (m && m->state == METRIC_VALUE)
		add_number(v, m->value, 6, text);
	else
		skip(v, text);
	str_addf(&unit, "%s%s", m && m->is_percent ? "% " : "", m ? m->unit : "");
	add_cell(v, str_text(&unit), text);
	str_fini(&unit);
	if (l->reason)
		add_cell(v, l->reason, text);
	else
		add_cell(v, m && m->state == METRIC_APART ? STAT_APART : "", text);
	end_row(v, text);
}

void stat_csv_rows(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text)
{
	if (!v->has_header)
		add_header(v, text);
	v->has_header = true;
	vec_each(l, lines) {
		add_row(v, l, l->n_metrics ? &l->metrics[0] : NULL, time_ns, text);
		for (unsigned i = 1; i < l->n_metrics; i++)
			add_row(v, l, &l->metrics[i], time_ns, text);
	}
}

/* A time of the run, as if it were an event. */
static void add_time(const struct stat_view *v, const char *name, const struct spread *ns,
	const struct stat_facts *facts, struct str *text)
{
	skip(v, text);
	skip(v, text);
	skip(v, text);
	add_cell(v, name, text);
	skip(v, text);
	add_cell(v, facts->ended ? "incomplete" : "counted", text);
	add_number(v, ns->mean / 1e9, 9, text);
	add_cell(v, "seconds", text);
	for (unsigned i = 0; i < 5; i++)
		skip(v, text);
	if (ns->n > 1 && ns->mean > 0)
		add_number(v, 100 * spread_error(ns) / ns->mean, 2, text);
	else
		skip(v, text);
	skip(v, text);
	skip(v, text);
	add_cell(v, facts->ended ? facts->ended : "", text);
	end_row(v, text);
}

void stat_csv_result(struct stat_view *v, const struct stat_facts *facts, struct str *text)
{
	const struct counts *s = v->counts;

	add_time(v, "elapsed", &s->elapsed_ns, facts, text);
	if (!facts->has_usage)
		return;
	add_time(v, "user", &s->user_ns, facts, text);
	add_time(v, "sys", &s->system_ns, facts, text);
}
