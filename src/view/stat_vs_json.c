/*
 * stat_vs_json.c - two commands side by side as JSON, one object a line. See pace-stat(1).
 */
#include <math.h>

#include "base/json.h"
#include "view/stat_vs.h"

static void add_number(struct str *text, const char *key, double value, bool is_known)
{
	if (!is_known || !isfinite(value)) {
		json_null(text, key);
		return;
	}
	json_double(text, key, value, 12);
}

static void add_values(struct str *text, const struct pairs_side *side)
{
	json_open(text, "values", '[');
	vec_each(value, &side->values) {
		if (isnan(*value))
			str_add(text, "null,");
		else
			str_addf(text, "%.12g,", *value);
	}
	json_close(text, ']');
}

static void add_side(struct str *text, const struct stat_vs_line *l, int side,
	const struct stat_options *o)
{
	const struct versus_side *s = &l->versus.sides[side];
	const struct pairs_side *values = &l->row->sides[side];
	bool is_known = l->versus.n > 0;

	json_open(text, side ? "b" : "a", '{');
	add_number(text, "middle", s->middle, is_known);
	add_number(text, "mean", s->mean, is_known);
	add_number(text, "deviation", s->deviation, l->versus.n > 1);
	add_number(text, "min", s->least, is_known);
	add_number(text, "max", s->most, is_known);
	json_u64(text, "outliers", s->n_outliers);
	if (l->row->event) {
		json_u64(text, "enabled_ns", values->enabled_ns);
		json_u64(text, "running_ns", values->running_ns);
		add_number(text, "running_pct", 100 * pairs_share(values),
			l->row->state != COUNT_NOT_OPENED);
	}
	if (o->has_table)
		add_values(text, values);
	json_close(text, '}');
}

static void add_row(struct str *text, const struct stat_vs_line *l, const struct stat_options *o)
{
	const struct versus *v = &l->versus;
	bool has_ratio = v->n && v->has_ratio;

	str_add(text, "{\"kind\":\"difference\",");
	json_text(text, "event", l->row->name);
	json_text(text, "state", stat_state_name(l->row->state));
	json_text(text, "unit", l->row->unit);
	json_u64(text, "pairs", v->n);
	add_side(text, l, 0, o);
	add_side(text, l, 1, o);
	add_number(text, "difference", v->diff, v->n > 0);
	add_number(text, "difference_low", v->diff_low, v->has_interval);
	add_number(text, "difference_high", v->diff_high, v->has_interval);
	add_number(text, "ratio", v->ratio, has_ratio);
	add_number(text, "ratio_low", v->ratio_low, has_ratio && v->has_interval);
	add_number(text, "ratio_high", v->ratio_high, has_ratio && v->has_interval);
	add_number(text, "floor", v->floor, v->has_interval);
	if (v->n)
		json_text(text, "verdict", stat_vs_verdict_name(v->verdict));
	else
		json_null(text, "verdict");
	if (l->row->reason)
		json_text(text, "reason", l->row->reason);
	json_end(text, '}');
	str_addc(text, '\n');
}

static void add_orders(struct str *text, const struct pairs *pairs)
{
	json_open(text, "orders", '[');
	vec_each(is_b_first, &pairs->is_b_first)
		json_element(text, *is_b_first ? "BA" : "AB");
	json_close(text, ']');
}

void stat_vs_json(const struct pairs *pairs, const struct stat_vs_lines *lines,
	const struct stat_vs_facts *facts, const struct stat_options *o, struct str *text)
{
	vec_each(l, lines)
		add_row(text, l, o);
	str_add(text, "{\"kind\":\"comparison\",");
	json_text(text, "a", facts->commands[0]);
	json_text(text, "b", facts->commands[1]);
	json_u64(text, "pairs", pairs->n);
	json_u64(text, "seed", facts->seed);
	json_bool(text, "uses_shell", facts->uses_shell);
	json_bool(text, "is_complete", facts->end != STAT_VS_SIGNAL);
	json_text(text, "ended_by",
		facts->end == STAT_VS_SIGNAL ? facts->signal : stat_vs_end_name(facts->end));
	json_u64(text, "failures_a", facts->n_failed[0]);
	json_u64(text, "failures_b", facts->n_failed[1]);
	if (o->has_table)
		add_orders(text, pairs);
	json_end(text, '}');
	str_addc(text, '\n');
}
