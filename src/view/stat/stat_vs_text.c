/*
 * stat_vs_text.c - two commands side by side, for people.
 */
#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "view/stat/stat_vs.h"

enum {
	VALUE_WIDTH = 13,
	DEVIATION_WIDTH = 8,
	NAME_MIN = 16,
	OUTLIERS_SAID = 10, /* the fewest pairs: fewer have no middle half to be far from */
};

/* If not even a difference of a half could be seen, a bound says nothing. */
static const double RESTLESS = 0.5;

/* The words for B being less or more than A. */
struct words {
	const char *less, *more;
	const char *times_less, *times_more; /* after "2.01 times"; NULL: in percent */
};

static const struct words words_of_kind[] = {
	[PAIRS_ELAPSED] = {"faster", "slower", "faster", "slower"},
	[PAIRS_CPU] = {"less", "more", NULL, "as much"},
	[PAIRS_MEMORY] = {"less", "more", NULL, "as much"},
	[PAIRS_EVENT] = {"fewer", "more", NULL, "as many"},
};

static const struct words *words_of(const struct pairs_row *row)
{
	/* Time and energy are not countable: "less", not "fewer". */
	if (row->kind == PAIRS_EVENT && *row->unit)
		return &words_of_kind[PAIRS_CPU];
	return &words_of_kind[row->kind];
}

/* ---- numbers ---- */

static void add_time(struct str *text, double s)
{
	static const struct {
		double from, factor;
		const char *unit;
	} scales[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {0, 1e6, "us"}};
	size_t i = 0;

	while (fabs(s) < scales[i].from)
		i++;
	s *= scales[i].factor;
	str_addf(text, "%.*f %s", fabs(s) < 100 ? 2 : 1, s, scales[i].unit);
}

static void add_count(struct str *text, double value, const struct stat_options *o)
{
	bool is_whole = value == floor(value);

	if (value < 0)
		str_addc(text, '-');
	value = fabs(value);
	if (value >= 1e10)
		str_addf(text, "%.2f G", value / 1e9);
	else if (value < 1000 && !is_whole)
		str_addf(text, "%.*f", value < 100 ? 2 : 1, value);
	else if (o->is_plain)
		str_addf(text, "%.0f", value);
	else
		num_add_grouped(text, (u64)llround(value));
}

static void add_value(struct str *text, const struct pairs_row *row, double value,
	const struct stat_options *o)
{
	if (row->kind == PAIRS_ELAPSED || row->kind == PAIRS_CPU) {
		add_time(text, value);
	} else if (row->kind == PAIRS_MEMORY) {
		if (value < 0)
			str_addc(text, '-');
		num_add_bytes(text, (u64)fabs(value));
	} else if (row->event && counts_is_clock(row->event)) {
		add_time(text, value / 1e3);
	} else {
		add_count(text, value, o);
		if (*row->unit) {
			str_addc(text, ' ');
			str_add_safe(text, row->unit, strlen(row->unit));
		}
	}
}

/* Small percentages get two decimals. */
static void add_percent(struct str *text, double share)
{
	double percent = 100 * share;

	str_addf(text, "%.*f%%", fabs(percent) < 0.995 ? 2 : 1, percent);
}

/* ---- the difference in words ---- */

static bool says_times(const struct words *w, double ratio)
{
	return ratio >= 2 ? w->times_more != NULL : ratio > 0 && ratio <= 0.5 && w->times_less;
}

/* "3.1% slower (2.4% to 3.9%)", "2.01 times slower (1.98 to 2.05)". */
static void add_ratio(struct str *text, const struct versus *v, const struct words *w)
{
	bool is_more = v->ratio >= 1, has_interval = v->has_interval && !versus_is_exact(v);
	double low = is_more ? v->ratio_low : v->ratio_high,
	       high = is_more ? v->ratio_high : v->ratio_low;

	if (says_times(w, v->ratio)) {
		str_addf(text, "%.2f times %s", is_more ? v->ratio : 1 / v->ratio,
			is_more ? w->times_more : w->times_less);
		if (has_interval)
			str_addf(text, " (%.2f to %.2f)", is_more ? low : 1 / low,
				is_more ? high : 1 / high);
		return;
	}
	add_percent(text, fabs(v->ratio - 1));
	str_addf(text, " %s", is_more ? w->more : w->less);
	if (!has_interval)
		return;
	str_add(text, " (");
	add_percent(text, is_more ? low - 1 : 1 - low);
	str_add(text, " to ");
	add_percent(text, is_more ? high - 1 : 1 - high);
	str_addc(text, ')');
}

/* If A is zero at times, percentages of it mean nothing. */
static void add_difference(struct str *text, const struct stat_vs_line *l, const struct words *w,
	const struct stat_options *o)
{
	const struct versus *v = &l->versus;
	double sign = v->diff < 0 ? -1 : 1;

	add_value(text, l->row, fabs(v->diff), o);
	str_addf(text, " %s", sign < 0 ? w->less : w->more);
	if (!v->has_interval || versus_is_exact(v))
		return;
	str_add(text, " (");
	add_value(text, l->row, sign < 0 ? -v->diff_high : v->diff_low, o);
	str_add(text, " to ");
	add_value(text, l->row, sign < 0 ? -v->diff_low : v->diff_high, o);
	str_addc(text, ')');
}

static void add_signed(struct str *text, const struct stat_vs_line *l, double diff, double ratio,
	const struct stat_options *o)
{
	bool is_more = l->versus.has_ratio ? ratio >= 1 : diff >= 0;

	if (is_more)
		str_addc(text, '+');
	if (l->versus.has_ratio)
		add_percent(text, ratio - 1);
	else
		add_value(text, l->row, diff, o);
}

static void add_floor(struct str *text, const struct stat_vs_line *l, const struct stat_options *o)
{
	if (l->versus.has_ratio)
		add_percent(text, l->versus.floor / l->versus.sides[0].middle);
	else
		add_value(text, l->row, l->versus.floor, o);
}

static void add_noise(struct str *text, const struct stat_vs_line *l, const struct stat_options *o)
{
	const struct versus *v = &l->versus;

	if (v->diff_low == 0 && v->diff_high == 0) {
		str_add(text, "the same in most runs");
		return;
	}
	str_add(text, "noise (");
	add_signed(text, l, v->diff_low, v->ratio_low, o);
	str_add(text, " to ");
	add_signed(text, l, v->diff_high, v->ratio_high, o);
	/* The interval alone would suggest a difference. */
	if (v->diff_low > 0 || v->diff_high < 0) {
		str_add(text, ", floor ");
		add_floor(text, l, o);
	}
	str_addc(text, ')');
}

static void add_verdict(struct str *text, const struct stat_vs_line *l,
	const struct stat_options *o)
{
	const struct versus *v = &l->versus;
	const struct words *w = words_of(l->row);

	if (v->verdict == VERSUS_SAME) {
		str_add(text, "the same in every run");
	} else if (v->verdict == VERSUS_NOISE) {
		add_noise(text, l, o);
	} else if (v->diff == 0) {
		str_add(text, "no difference");
	} else if (v->has_ratio) {
		add_ratio(text, v, w);
	} else {
		add_difference(text, l, w, o);
	}
	if (v->verdict == VERSUS_FEW)
		str_add(text, "; too few runs to be sure");
	else if (v->verdict != VERSUS_SAME && versus_is_exact(v))
		str_add(text, ", in every run");
}

/* ---- rows ---- */

static void add_side(struct str *text, const struct stat_vs_line *l, int side,
	const struct stat_options *o)
{
	const struct versus_side *s = &l->versus.sides[side];
	struct str word = {0};
	size_t start;

	if (!l->versus.n)
		str_add(&word,
			l->row->state == COUNT_NOT_OPENED ? "<not supported>" : "<not counted>");
	else
		add_value(&word, l->row, s->middle, o);
	str_add_right(text, str_text(&word), VALUE_WIDTH);
	str_fini(&word);
	start = text->n;
	if (l->versus.n > 1 && s->middle > 0)
		str_addf(text, " +-%.*f%%", s->deviation < 0.9995 * s->middle,
			100 * s->deviation / s->middle);
	str_pad_right(text, start, DEVIATION_WIDTH);
	str_addc(text, ' ');
}

static void add_share(struct str *text, const struct pairs_row *row)
{
	double a = pairs_share(&row->sides[0]), b = pairs_share(&row->sides[1]);

	if (MIN(a, b) < 0.99995)
		str_addf(text, "; scaled, on the PMU %.0f%% and %.0f%% of the time", 100 * a,
			100 * b);
}

static void cut_blanks(struct str *text)
{
	while (text->n && text->at[text->n - 1] == ' ')
		str_cut(text, text->n - 1);
}

static void add_row(struct str *text, const struct pairs *pairs, const struct stat_vs_line *l,
	size_t name_width, const struct stat_options *o)
{
	size_t start;

	str_addc(text, ' ');
	start = text->n;
	str_add_safe(text, l->row->name, strlen(l->row->name));
	str_pad_right(text, start, name_width);
	str_addc(text, ' ');
	add_side(text, l, 0, o);
	add_side(text, l, 1, o);
	str_addc(text, ' ');
	if (l->versus.n)
		add_verdict(text, l, o);
	if (l->versus.n && l->versus.n < pairs->n)
		str_addf(text, "; counted in %llu of %llu pairs", (unsigned long long)l->versus.n,
			(unsigned long long)pairs->n);
	if (l->versus.n)
		add_share(text, l->row);
	cut_blanks(text);
	str_addc(text, '\n');
}

static void add_rows(struct str *text, const struct pairs *pairs, const struct stat_vs_lines *lines,
	const struct stat_options *o)
{
	size_t name_width = NAME_MIN, start = text->n + 1;

	vec_each(l, lines)
		name_width = MAX(name_width, strlen(l->row->name));
	str_addc(text, ' ');
	str_pad_right(text, start, name_width + 1);
	str_add_right(text, "A", VALUE_WIDTH);
	str_fill(text, ' ', DEVIATION_WIDTH + 1);
	str_add_right(text, "B", VALUE_WIDTH);
	str_fill(text, ' ', DEVIATION_WIDTH + 2);
	str_add(text, "B against A\n");
	vec_each(l, lines)
		add_row(text, pairs, l, name_width, o);
}

/* ---- above and below ---- */

static void add_commands(struct str *text, const struct stat_vs_facts *facts)
{
	for (int i = 0; i < 2; i++) {
		str_addf(text, " %c: ", 'A' + i);
		str_add_safe(text, facts->commands[i], strlen(facts->commands[i]));
		str_addc(text, '\n');
	}
	str_addc(text, '\n');
}

/* --table: the time of every run, in order. */
static void add_table(struct str *text, const struct pairs *pairs, const struct stat_vs_line *time)
{
	const struct pairs_side *sides = time->row->sides;

	str_add(text, " Time of each run, in seconds; the first of a pair is marked:\n");
	for (u64 i = 0; i < pairs->n; i++)
		str_addf(text, " %16llu %13.6f%c%7s %13.6f%c\n", (unsigned long long)i + 1,
			sides[0].values.at[i], pairs->is_b_first.at[i] ? ' ' : '<', "",
			sides[1].values.at[i], pairs->is_b_first.at[i] ? '<' : ' ');
	str_addc(text, '\n');
}

/* Says what the result means for the time. */
static void add_conclusion(struct str *text, const struct stat_vs_line *time,
	const struct stat_options *o)
{
	const struct versus *v = &time->versus;

	if (v->verdict == VERSUS_FEW) {
		str_addf(text,
			" %llu pair%s of runs: too few to be sure of a difference in time; at least %d are needed.\n",
			(unsigned long long)v->n, v->n == 1 ? "" : "s", VERSUS_PAIRS_MIN);
		return;
	}
	if (v->verdict == VERSUS_NOISE || v->verdict == VERSUS_SAME) {
		double bound = MAX(fabs(v->ratio_low - 1), fabs(v->ratio_high - 1));

		str_add(text, " There is no visible difference in time: ");
		if (bound < RESTLESS) {
			str_add(text, "if there is one, it is smaller than ");
			add_percent(text, bound);
			str_add(text, " (95% confidence).\n");
		} else {
			str_add(text, "the run times of each command vary too much.\n");
		}
	} else {
		str_add(text, " B is ");
		add_ratio(text, v, words_of(time->row));
		str_add(text, ", with 95% confidence.\n");
	}
	str_add(text, " Floor: halves of the same command's runs differ by up to ");
	add_floor(text, time, o);
	str_add(text, " in time.\n");
}

static void add_end(struct str *text, const struct pairs *pairs, const struct stat_vs_facts *facts,
	const struct stat_vs_line *time)
{
	double precision = versus_precision(&time->versus);

	str_addf(text, " %llu pair%s in random order (seed %llu), ", (unsigned long long)pairs->n,
		pairs->n == 1 ? "" : "s", (unsigned long long)facts->seed);
	if (facts->end == STAT_VS_ASKED)
		str_add(text, "as many as -r asked for");
	else if (facts->end == STAT_VS_PRECISE)
		str_add(text, "then it was precise enough");
	else if (facts->end == STAT_VS_TIME)
		str_addf(text, "then the limit of %g s was reached", facts->limit_s);
	else if (facts->end == STAT_VS_LIMIT)
		str_add(text, "the most that are run without -r");
	else
		str_addf(text, "then %s ended it", facts->signal);
	if (isfinite(precision)) {
		str_add(text, ": the ratio of times is known to +-");
		add_percent(text, precision);
	}
	str_add(text, ".\n");
}

static void add_outliers(struct str *text, const struct stat_vs_line *time,
	const struct stat_options *o)
{
	const struct versus *v = &time->versus;
	const char *between = " Outliers in time: ";

	if (v->n < OUTLIERS_SAID || !(v->sides[0].n_outliers + v->sides[1].n_outliers))
		return;
	for (int i = 0; i < 2; i++) {
		const struct versus_side *s = &v->sides[i];

		if (!s->n_outliers)
			continue;
		str_addf(text, "%s%llu run%s of %c (up to ", between,
			(unsigned long long)s->n_outliers, s->n_outliers == 1 ? "" : "s", 'A' + i);
		add_value(text, time->row, s->outlier, o);
		str_addc(text, ')');
		between = ", ";
	}
	str_add(text, "; they hardly affect the result.\n");
}

static void add_failures(struct str *text, const struct pairs *pairs,
	const struct stat_vs_facts *facts)
{
	for (int i = 0; i < 2; i++)
		if (facts->n_failed[i])
			str_addf(text,
				" %c ended with a status other than 0 in %llu of %llu runs.\n",
				'A' + i, (unsigned long long)facts->n_failed[i],
				(unsigned long long)pairs->n);
}

static void add_reasons(struct str *text, const struct stat_vs_lines *lines)
{
	vec_each(l, lines) {
		if (!l->row->reason)
			continue;
		str_addc(text, ' ');
		str_add_safe(text, l->row->name, strlen(l->row->name));
		str_add(text, ": ");
		str_add_safe(text, l->row->reason, strlen(l->row->reason));
		str_addc(text, '\n');
	}
}

void stat_vs_text(const struct pairs *pairs, const struct stat_vs_lines *lines,
	const struct stat_vs_facts *facts, const struct stat_options *o, struct str *text)
{
	const struct stat_vs_line *time = &lines->at[0];

	str_addc(text, '\n');
	add_commands(text, facts);
	if (o->has_table)
		add_table(text, pairs, time);
	add_rows(text, pairs, lines, o);
	str_addc(text, '\n');
	add_reasons(text, lines);
	add_conclusion(text, time, o);
	add_end(text, pairs, facts, time);
	add_outliers(text, time, o);
	add_failures(text, pairs, facts);
	str_addc(text, '\n');
}
