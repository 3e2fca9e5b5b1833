/*
 * stat_text.c - counts for people, in perf stat's layout.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/abi.h"
#include "view/stat/stat_topdown.h"
#include "view/text/colour.h"

enum {
	VALUE_WIDTH = 18,
	UNIT_WIDTH = 4,
	NAME_WIDTH = 32,
	METRIC_WIDTH = 36, /* from the '#' to the deviation */
};

static void add_number(const struct stat_options *o, double value, unsigned digits,
	struct str *text)
{
	struct str number = {0};
	char fraction[64];
	double whole;

	/* 9.999 is printed as 10.00. */
	snprintf(fraction, sizeof(fraction), "%.*f", (int)digits, fabs(value));
	whole = floor(strtod(fraction, NULL));
	if (value < 0)
		str_addc(&number, '-');
	if (o->is_plain || whole >= 0x1p64)
		str_addf(&number, "%.0f", whole);
	else
		num_add_grouped(&number, (u64)whole);
	if (digits)
		str_add(&number, strchr(fraction, '.'));
	str_add_right(text, number.at, VALUE_WIDTH);
	str_fini(&number);
}

void stat_add_time(u64 time_ns, struct str *text)
{
	if (time_ns != UINT64_MAX)
		str_addf(text, "%6llu.%09llu ", (unsigned long long)(time_ns / 1000000000),
			(unsigned long long)(time_ns % 1000000000));
}

/* The width of a place's name; for places with several CPUs their number follows. */
static const struct {
	const char *title;
	unsigned width;
	bool has_cpus;
} place_columns[] = {
	[COUNTS_ALL] = {"", 0, false},
	[COUNTS_SOCKET] = {"socket", 6, true},
	[COUNTS_DIE] = {"die", 12, true},
	[COUNTS_CLUSTER] = {"cluster", 15, true},
	[COUNTS_CACHE] = {"cache", 15, true},
	[COUNTS_CORE] = {"core", 15, true},
	[COUNTS_NODE] = {"node", 6, true},
	[COUNTS_CPU] = {"CPU", 10, false},
	[COUNTS_THREAD] = {"comm-pid", 25, false},
};

enum { COMM_WIDTH = 16 };

static size_t place_width(const struct counts *s)
{
	return place_columns[s->scope].width + (place_columns[s->scope].has_cpus ? 6 : 1);
}

/* The names of threads are aligned at their dashes. */
static void add_place_name(const struct counts *s, const char *name, struct str *text)
{
	const char *dash = s->scope == COUNTS_THREAD ? strrchr(name, '-') : NULL;

	if (dash && dash < name + COMM_WIDTH)
		str_fill(text, ' ', COMM_WIDTH - (dash - name));
	str_add_safe(text, name, strlen(name));
}

void stat_add_place(const struct counts *s, const struct counts_place *p, struct str *text)
{
	size_t start = text->n;

	if (s->scope == COUNTS_ALL)
		return;
	add_place_name(s, p->name, text);
	str_pad_right(text, start, place_columns[s->scope].width);
	if (place_columns[s->scope].has_cpus)
		str_addf(text, " %4u", p->n_counters);
	str_addc(text, ' ');
}

void stat_add_place_title(const struct counts *s, struct str *text)
{
	size_t start = text->n;

	if (s->scope == COUNTS_ALL)
		return;
	add_place_name(s, place_columns[s->scope].title, text);
	str_pad_right(text, start, place_columns[s->scope].width);
	if (place_columns[s->scope].has_cpus)
		str_add(text, " cpus");
	str_addc(text, ' ');
}

/* perf's colours of shares that are better small. */
static const char *const heats[] = {
	[METRIC_COLD] = "",
	[METRIC_WARM] = COLOUR_YELLOW,
	[METRIC_HOT] = COLOUR_MAGENTA,
	[METRIC_BURNING] = COLOUR_RED,
};

/* perf's colours of what a metric's threshold says. */
static const char *const verdicts[] = {
	[METRIC_UNJUDGED] = "",
	[METRIC_UNREMARKABLE] = COLOUR_GREEN,
	[METRIC_NOTABLE] = COLOUR_RED,
};

const char *stat_verdict_colour(enum metric_verdict verdict)
{
	return verdicts[verdict];
}

/* A metric that was asked for: with its name, and how exactly it is known. */
static void add_named(const struct stat_options *o, const struct metric *m, struct str *text)
{
	size_t start = text->n;

	if (m->state != METRIC_VALUE) {
		str_add(text, "     n/a ");
	} else {
		str_addf(text, "%8.*f", (int)m->digits, m->value);
		if (o->has_colours)
			colour_paint(text, start, stat_verdict_colour(m->verdict));
		str_addc(text, ' ');
	}
	if (m->unit[0]) {
		str_add_safe(text, m->unit, strlen(m->unit));
		str_add(text, "  ");
	}
	str_add_safe(text, m->name, strlen(m->name));
	if (m->state == METRIC_VALUE && m->error > 0)
		str_addf(text, "  (+- %.*f)", (int)m->digits, m->error);
}

void stat_add_metric(const struct stat_options *o, const struct metric *m, struct str *text)
{
	size_t start;

	str_add(text, "# ");
	if (m->name) {
		add_named(o, m, text);
		return;
	}
	if (m->state == METRIC_APART) {
		str_addf(text, "     n/a %s: " STAT_APART, m->unit);
		return;
	}
	start = text->n;
	if (m->is_percent) {
		str_addf(text, "%7.*f%%", (int)m->digits, m->value);
		if (o->has_colours)
			colour_paint(text, start, heats[m->heat]);
		str_addf(text, " %s", m->unit);
	} else if (m->digits == 2)
		str_addf(text, "%7.2f  %s", m->value, m->unit);
	else
		str_addf(text, "%8.*f %s", (int)m->digits, m->value, m->unit);
}

static void add_event(const struct event *e, struct str *text)
{
	str_add_safe(text, e->name, strlen(e->name));
}

static void add_name(const struct stat_line *l, struct str *text)
{
	const struct event *e = l->event;

	add_event(e, text);
	if (e->cgroup) {
		str_addc(text, ' ');
		str_add_safe(text, stat_cgroup(e), strlen(stat_cgroup(e)));
	}
}

/* Adds the precision of a scaled or averaged count. */
static void add_precision(const struct stat_line *l, size_t start, struct str *text)
{
	double share = count_share(&l->count);
	bool is_scaled = l->state == COUNT_OK && share < 0.99995;

	if (l->deviation < 0 && !is_scaled)
		return;
	str_pad_right(text, start,
		METRIC_WIDTH + text->n - start - colour_columns(text->at + start, text->n - start));
	if (text->at[text->n - 1] != ' ')
		str_addc(text, ' ');
	if (l->deviation >= 0)
		str_addf(text, "( +-%6.2f%% )", 100 * l->deviation);
	if (!is_scaled)
		return;
	str_addf(text, "  (%.2f%%", 100 * share);
	if (l->scaling_error >= 0)
		str_addf(text, ", +-%.2f%%", 100 * l->scaling_error);
	str_addc(text, ')');
}

void stat_add_value(const struct stat_view *v, const struct stat_line *l, struct str *text)
{
	const char *unit = counts_unit(l->event);
	size_t start;

	if (l->state == COUNT_NEVER_RAN)
		str_add_right(text, "<not counted>", VALUE_WIDTH);
	else if (l->state == COUNT_NOT_OPENED)
		str_add_right(text, "<not supported>", VALUE_WIDTH);
	else
		add_number(v->options, l->count.value,
			counts_scale(l->event) == 1 && !counts_is_latency(l->event) ? 0 : 2, text);
	str_addc(text, ' ');
	start = text->n;
	str_add_safe(text, unit, strlen(unit));
	str_pad_right(text, start, UNIT_WIDTH);
	str_addc(text, ' ');
}

static void add_row(struct stat_view *v, const struct stat_line *l, u64 time_ns, struct str *text)
{
	size_t start, line_start = text->n;

	stat_add_time(time_ns, text);
	stat_add_place(v->counts, l->place, text);
	stat_add_value(v, l, text);
	start = text->n;
	add_name(l, text);
	str_pad_right(text, start, NAME_WIDTH);
	str_addc(text, ' ');
	start = text->n;
	if (l->n_metrics)
		stat_add_metric(v->options, &l->metrics[0], text);
	add_precision(l, start, text);
	while (text->n && text->at[text->n - 1] == ' ')
		str_cut(text, text->n - 1);
	str_addc(text, '\n');
	for (unsigned i = 1; i < l->n_metrics; i++) {
		str_fill(text, ' ', start - line_start);
		stat_add_metric(v->options, &l->metrics[i], text);
		str_addc(text, '\n');
	}
}

static bool is_shown(const struct stat_view *v, const struct stat_line *l)
{
	return !v->options->has_no_defaults || l->state != COUNT_NOT_OPENED;
}

static bool is_zero(const struct stat_line *l)
{
	return l->state == COUNT_OK && !l->count.raw;
}

/* Most of hundreds of threads did nothing: they get one line. Returns the last of them. */
static struct stat_line *add_zeros(const struct stat_view *v, const struct stat_lines *lines,
	struct stat_line *l, u64 time_ns, struct str *text)
{
	struct stat_line *end = lines->at + lines->n, *last = l;
	size_t n = 0, start;

	for (struct stat_line *k = l; k < end && k->event == l->event && is_zero(k); k++, n++)
		last = k;
	stat_add_time(time_ns, text);
	start = text->n;
	if (n > 1)
		str_addf(text, "%zu threads, each", n);
	else
		add_place_name(v->counts, l->place->name, text);
	str_pad_right(text, start, place_width(v->counts) + VALUE_WIDTH - 1);
	str_add(text, "0      ");
	add_name(l, text);
	str_addc(text, '\n');
	return last;
}

/* ---- the whole table ---- */

void stat_text_rows(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text)
{
	bool has_time = time_ns != UINT64_MAX;

	if (v->topdown &&
		(has_time || v->options->is_metric_only || v->counts->scope != COUNTS_ALL))
		stat_topdown_columns(v, has_time, time_ns, text);
	else if (v->topdown)
		stat_topdown_tree(v, text);
	if (v->topdown && !lines->n)
		return;
	if (v->topdown && !has_time)
		str_addc(text, '\n');
	if (v->options->is_metric_only) {
		/* Two tables in turns: each needs its names. */
		v->has_header &= !v->topdown;
		stat_metrics_rows(v, lines, time_ns, text);
		v->has_header &= !v->topdown;
		return;
	}
	if (has_time && (!v->has_header || v->n_since_header >= STAT_HEADER_EACH)) {
		str_add(text, "#           time ");
		stat_add_place_title(v->counts, text);
		str_add(text, "            counts unit events\n");
		v->has_header = true;
		v->n_since_header = 0;
	}
	vec_each(l, lines) {
		if (!is_shown(v, l))
			continue;
		if (v->counts->scope == COUNTS_THREAD && is_zero(l)) {
			l = add_zeros(v, lines, l, time_ns, text);
			continue;
		}
		add_row(v, l, time_ns, text);
		v->n_since_header++;
	}
}

/* ---- below the table ---- */

/* Whether one of these lines is of the same event, which several metrics have counted. */
static bool is_named(const struct stat_line *from, const struct stat_line *l)
{
	for (const struct stat_line *k = from; k < l; k++)
		if (k->reason && !strcmp(k->reason, l->reason) && k->place == l->place &&
			!strcmp(k->event->name, l->event->name))
			return true;
	return false;
}

/* Says why events have no count, each reason once. */
static void add_reasons(struct stat_view *v, const struct stat_lines *lines, struct str *text)
{
	size_t start = text->n;

	vec_each(l, lines) {
		bool is_known = false;
		const char *between = "";

		if (!l->reason || l->place != lines->at[0].place || !is_shown(v, l))
			continue;
		for (const struct stat_line *k = lines->at; k < l; k++)
			is_known |= k->reason && is_shown(v, k) && !strcmp(k->reason, l->reason);
		if (is_known)
			continue;
		str_add(text, text->n == start ? "\n " : " ");
		for (const struct stat_line *k = l; k < lines->at + lines->n; k++) {
			if (!k->reason || strcmp(k->reason, l->reason) != 0 ||
				k->place != l->place || !is_shown(v, k) || is_named(l, k))
				continue;
			str_add(text, between);
			add_event(k->event, text);
			between = ", ";
		}
		str_add(text, ": ");
		str_add_safe(text, l->reason, strlen(l->reason));
		str_addc(text, '\n');
	}
}

/* Says how to get a ratio that was refused. */
static void add_apart(const struct counts *s, const struct stat_lines *lines, struct str *text)
{
	vec_each(l, lines) {
		for (unsigned i = 0; i < l->n_metrics; i++) {
			const struct metric *m = &l->metrics[i];

			if (m->state != METRIC_APART || l->place != lines->at[0].place)
				continue;
			str_add(text, "\n '");
			add_event(l->event, text);
			str_add(text, "' and '");
			add_event(&s->events->at[m->other], text);
			str_add(text,
				"' took turns on the PMU: their ratio would compare different moments. A group counts them together: -e '{");
			add_event(l->event, text);
			str_addc(text, ',');
			add_event(&s->events->at[m->other], text);
			str_add(text, "}'\n");
			return;
		}
	}
}

static void add_seconds(double ns, const char *what, struct str *text)
{
	str_addf(text, "%18.9f seconds %s\n", ns / 1e9, what);
}

/* Two digits more than the deviation's first. */
static int digits_of(double deviation_s)
{
	int digits = 9;

	if (deviation_s > 0)
		digits = (int)ceil(-log10(deviation_s)) + 2;
	return digits < 1 ? 1 : digits > 9 ? 9 : digits;
}

static void add_runs(const struct counts *s, const struct stat_facts *facts, struct str *text)
{
	double mean = s->elapsed_ns.mean / 1e9, deviation = variance_error(&s->elapsed_ns) / 1e9;
	double step = 5 * mean / 100;
	int digits = digits_of(deviation);

	if (facts->runs_ns) {
		str_add(text, "         # Table of individual measurements:\n");
		for (u64 i = 0; i < s->n_runs; i++) {
			double run = facts->runs_ns[i] / 1e9, off = run - mean;
			unsigned n_marks = step > 0 ? (unsigned)(fabs(off) / step) : 0;

			str_addf(text, "         %.*f (%+.*f) #", digits, run, digits, off);
			str_fill(text, '#', MIN(n_marks, 40u));
			str_addc(text, '\n');
		}
		str_add(text, "\n         # Final result:\n");
	}
	str_addf(text, "%18.*f +- %.*f seconds time elapsed  ( +-%6.2f%% )\n", digits, mean, digits,
		deviation, mean > 0 ? 100 * deviation / mean : 0);
}

static void add_usage(const struct counts *s, const struct stat_facts *facts, struct str *text)
{
	struct str rss = {0};

	str_addc(text, '\n');
	add_seconds(s->user_ns.mean, "user", text);
	add_seconds(s->system_ns.mean, "sys", text);
	if (facts->queue_ns != UINT64_MAX)
		add_seconds((double)facts->queue_ns, "waiting for a CPU (its first thread)", text);
	if (facts->max_rss_kb <= facts->own_rss_kb)
		str_add(&rss, "under ");
	num_add_bytes(&rss, MAX(facts->max_rss_kb, facts->own_rss_kb) * 1024);
	str_addf(text, "%18s maximum resident memory\n", rss.at);
	if (facts->has_switches)
		str_addf(text, "%18llu context switches, %llu of them involuntary\n",
			(unsigned long long)(facts->n_waits + facts->n_preempted),
			(unsigned long long)facts->n_preempted);
	if (facts->n_blocks_in || facts->n_blocks_out)
		str_addf(text, "%18llu blocks read, %llu written\n",
			(unsigned long long)facts->n_blocks_in,
			(unsigned long long)facts->n_blocks_out);
	str_fini(&rss);
}

void stat_text_result(struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, struct str *text)
{
	const struct counts *s = v->counts;

	str_add(text, "\n Performance counter stats for ");
	str_add_safe(text, facts->what, strlen(facts->what));
	if (s->n_runs > 1)
		str_addf(text, " (%llu runs)", (unsigned long long)s->n_runs);
	if (facts->ended)
		str_addf(text, " (incomplete: ended by %s)", facts->ended);
	str_add(text, ":\n\n");
	v->has_header = false;
	stat_text_rows(v, lines, UINT64_MAX, text);
	add_reasons(v, lines, text);
	add_apart(s, lines, text);
	if (lines->n || v->topdown)
		str_addc(text, '\n');
	if (s->n_runs > 1)
		add_runs(s, facts, text);
	else
		add_seconds(s->elapsed_ns.mean, "time elapsed", text);
	if (facts->has_usage)
		add_usage(s, facts, text);
	str_addc(text, '\n');
}
