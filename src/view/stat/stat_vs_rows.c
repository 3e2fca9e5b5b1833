/*
 * stat_vs_rows.c - two commands side by side as a table of cells, for programs. See pace-stat(1).
 */
#include <stdio.h>

#include "view/stat/stat_vs.h"

enum { DIGITS = 12 };

static void add_values(struct rowmaker *m, const struct pairs_side *side)
{
	struct rowmaker *values = rowmaker_below(m, "values", ROWMAKER_LIST);

	vec_each(value, &side->values) {
		rowmaker_row(values);
		rowmaker_double(values, "value", *value, DIGITS);
	}
}

/* A figure of a side: "a_min" in a flat row, else "min". */
static void add_figure(struct rowmaker *m, const char *flat, const char *nested, int side,
	bool is_flat, double v)
{
	char name[32];

	snprintf(name, sizeof(name), "%c%s", 'a' + side, flat);
	rowmaker_double(m, is_flat ? rowmaker_copy(m, name) : nested, v, DIGITS);
}

static void add_side(struct rowmaker *m, const struct stat_vs_line *l, int side, bool is_flat,
	const struct stat_options *o)
{
	const struct versus_side *s = &l->versus.sides[side];
	const struct pairs_side *values = &l->row->sides[side];
	const bool is_known = l->versus.n > 0, is_event = l->row->event;
	const double share = rowmaker_known(is_event && l->row->state != COUNT_NOT_OPENED,
		100 * pairs_share(values));

	if (!is_flat)
		m = rowmaker_below(m, side ? "b" : "a", ROWMAKER_OBJECT);
	add_figure(m, "", "middle", side, is_flat, rowmaker_known(is_known, s->middle));
	add_figure(m, "_mean", "mean", side, is_flat, rowmaker_known(is_known, s->mean));
	add_figure(m, "_deviation", "deviation", side, is_flat,
		rowmaker_known(l->versus.n > 1, s->deviation));
	add_figure(m, "_min", "min", side, is_flat, rowmaker_known(is_known, s->least));
	add_figure(m, "_max", "max", side, is_flat, rowmaker_known(is_known, s->most));
	add_figure(m, "_outliers", "outliers", side, is_flat,
		rowmaker_known(is_known || !is_flat, (double)s->n_outliers));
	if (is_event && !is_flat) {
		rowmaker_u64(m, "enabled_ns", values->enabled_ns);
		rowmaker_u64(m, "running_ns", values->running_ns);
	}
	if (is_event || is_flat)
		add_figure(m, "_running_pct", "running_pct", side, is_flat, share);
	if (o->has_table && !is_flat)
		add_values(m, values);
}

static void add_row(struct rowmaker *m, const struct stat_vs_line *l, bool is_flat,
	const struct stat_options *o)
{
	const struct versus *v = &l->versus;
	const bool has_ratio = v->n && v->has_ratio, has_bounds = has_ratio && v->has_interval;

	rowmaker_row(m);
	if (!is_flat)
		rowmaker_text(m, "kind", "difference");
	rowmaker_text(m, "event", l->row->name);
	rowmaker_text(m, "state", stat_state_name(l->row->state));
	rowmaker_text(m, "unit", l->row->unit);
	rowmaker_u64(m, "pairs", v->n);
	add_side(m, l, 0, is_flat, o);
	add_side(m, l, 1, is_flat, o);
	rowmaker_double(m, "difference", rowmaker_known(v->n > 0, v->diff), DIGITS);
	rowmaker_double(m, "difference_low", rowmaker_known(v->has_interval, v->diff_low), DIGITS);
	rowmaker_double(m, "difference_high", rowmaker_known(v->has_interval, v->diff_high),
		DIGITS);
	rowmaker_double(m, "ratio", rowmaker_known(has_ratio, v->ratio), DIGITS);
	rowmaker_double(m, "ratio_low", rowmaker_known(has_bounds, v->ratio_low), DIGITS);
	rowmaker_double(m, "ratio_high", rowmaker_known(has_bounds, v->ratio_high), DIGITS);
	rowmaker_double(m, "floor", rowmaker_known(v->has_interval, v->floor), DIGITS);
	rowmaker_text(m, "verdict", v->n ? stat_vs_verdict_name(v->verdict) : NULL);
	rowmaker_note(m, "reason", l->row->reason);
}

static void add_orders(struct rowmaker *m, const struct pairs *pairs)
{
	struct rowmaker *orders = rowmaker_below(m, "orders", ROWMAKER_LIST);

	vec_each(is_b_first, &pairs->is_b_first) {
		rowmaker_row(orders);
		rowmaker_text(orders, "order", *is_b_first ? "BA" : "AB");
	}
}

static void add_comparison(struct rowmaker *m, const struct pairs *pairs,
	const struct stat_vs_facts *facts, const struct stat_options *o)
{
	rowmaker_row(m);
	rowmaker_text(m, "kind", "comparison");
	rowmaker_text(m, "a", facts->commands[0]);
	rowmaker_text(m, "b", facts->commands[1]);
	rowmaker_u64(m, "pairs", pairs->n);
	rowmaker_u64(m, "seed", facts->seed);
	rowmaker_bool(m, "uses_shell", facts->uses_shell);
	rowmaker_bool(m, "is_complete", facts->end != STAT_VS_SIGNAL);
	rowmaker_text(m, "ended_by",
		facts->end == STAT_VS_SIGNAL ? facts->signal : stat_vs_end_name(facts->end));
	rowmaker_u64(m, "failures_a", facts->n_failed[0]);
	rowmaker_u64(m, "failures_b", facts->n_failed[1]);
	if (o->has_table)
		add_orders(m, pairs);
}

/* A flat row has a column for each figure of a side; else sides are objects, and a last row describes the comparison. */
void stat_vs_add_rows(const struct pairs *pairs, const struct stat_vs_lines *lines,
	const struct stat_vs_facts *facts, const struct stat_options *o, struct str *text)
{
	struct rowmaker rows = {0}, comparison = {0};
	const bool is_flat = !(o->form->wants & FORM_NESTS);
	bool has_head = false;

	vec_each(l, lines)
		add_row(&rows, l, is_flat, o);
	stat_add_table(o, &rows, &has_head, text);
	if (!is_flat) {
		add_comparison(&comparison, pairs, facts, o);
		stat_add_table(o, &comparison, &has_head, text);
	}
	rowmaker_fini(&rows);
	rowmaker_fini(&comparison);
}
