/*
 * stat_vs_csv.c - two commands side by side as comma separated values. See pace-stat(1).
 */
#include <math.h>

#include "base/num.h"
#include "view/forms.h"
#include "view/stat_vs.h"

static const char *const names[] = {"event", "state", "unit", "pairs", "a", "a_mean", "a_deviation",
	"a_min", "a_max", "a_outliers", "a_running_pct", "b", "b_mean", "b_deviation", "b_min",
	"b_max", "b_outliers", "b_running_pct", "difference", "difference_low", "difference_high",
	"ratio", "ratio_low", "ratio_high", "floor", "verdict", "reason"};

static void add_number(struct str *text, const char *separator, double value, bool is_known)
{
	if (is_known && isfinite(value))
		str_addf(text, "%.12g", value);
	str_add(text, separator);
}

static void add_side(struct str *text, const char *separator, const struct stat_vs_line *l,
	int side)
{
	const struct versus_side *s = &l->versus.sides[side];
	bool is_known = l->versus.n > 0;

	add_number(text, separator, s->middle, is_known);
	add_number(text, separator, s->mean, is_known);
	add_number(text, separator, s->deviation, l->versus.n > 1);
	add_number(text, separator, s->least, is_known);
	add_number(text, separator, s->most, is_known);
	add_number(text, separator, (double)s->n_outliers, is_known);
	add_number(text, separator, 100 * pairs_share(&l->row->sides[side]),
		l->row->event && l->row->state != COUNT_NOT_OPENED);
}

static void end_row(struct str *text, const char *separator)
{
	str_cut(text, text->n - strlen(separator));
	str_addc(text, '\n');
}

void stat_vs_csv(const struct stat_vs_lines *lines, const struct stat_options *o, struct str *text)
{
	const char *separator = o->separator;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		form_csv_add(names[i], separator, text);
	end_row(text, separator);
	vec_each(l, lines) {
		const struct versus *v = &l->versus;
		bool has_ratio = v->n && v->has_ratio;

		form_csv_add(l->row->name, separator, text);
		form_csv_add(stat_state_name(l->row->state), separator, text);
		form_csv_add(l->row->unit, separator, text);
		num_add_u64(text, v->n);
		str_add(text, separator);
		add_side(text, separator, l, 0);
		add_side(text, separator, l, 1);
		add_number(text, separator, v->diff, v->n > 0);
		add_number(text, separator, v->diff_low, v->has_interval);
		add_number(text, separator, v->diff_high, v->has_interval);
		add_number(text, separator, v->ratio, has_ratio);
		add_number(text, separator, v->ratio_low, has_ratio && v->has_interval);
		add_number(text, separator, v->ratio_high, has_ratio && v->has_interval);
		add_number(text, separator, v->floor, v->has_interval);
		form_csv_add(v->n ? stat_vs_verdict_name(v->verdict) : "", separator, text);
		form_csv_add(l->row->reason ? l->row->reason : "", separator, text);
		end_row(text, separator);
	}
}
