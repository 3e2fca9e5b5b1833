#include "view/rows/diffrows.h"

#include <math.h>
#include <string.h>

#include "view/text/celltext.h"

enum { DIGITS = 9 }; /* for programs */

/* The word for a row that only one side has. */
static const char *lack(const struct delta_row *row, bool has_a)
{
	return row->is_unpaired ? "not paired" : has_a ? "gone" : "new";
}

/* ---- cells for people ---- */

static void add_percent(struct rowmaker *m, const char *name, double share)
{
	rowmaker_fixed(m, name, 100 * share, 2);
}

static void add_side(struct rowmaker *m, const char *name, double share)
{
	struct cell *c = rowmaker_add(m, name);

	cell_real(c, 100 * share, 2);
	c->spans = CELL_IS_HEAT;
}

/* "+12% +- 3": the change of a row, after whatever made the recordings comparable. */
static void add_change(struct rowmaker *m, const struct delta_row *row, const struct judgement *j)
{
	double percent = 100 * (j->ratio - 1);
	int digits = fabs(percent) < 10;
	struct str text = {0};

	if (j->mean[DELTA_A] > 0 && j->mean[DELTA_B] > 0 && !isnan(j->half))
		str_addf(&text, "%+.*f%% +- %.*f", digits, percent, digits, 100 * j->half);
	else if (!(j->mean[DELTA_A] > 0) || !(j->mean[DELTA_B] > 0))
		str_add(&text, lack(row, j->mean[DELTA_A] > 0));
	rowmaker_text(m, "delta_change", rowmaker_copy(m, str_text(&text)));
	/* A new row has grown without bounds; of a row that is not paired nobody knows. */
	m->cells.at[m->cells.n - 1].cell.real = row->is_unpaired ? -1
		: j->mean[DELTA_A] > 0                           ? j->ratio
								 : INFINITY;
	str_fini(&text);
}

static const struct {
	const char *name, *title;
} methods[] = {
	[DIFF_DELTA_ABS] = {"delta_abs", "Delta Abs"},
	[DIFF_DELTA] = {"delta", "Delta"},
	[DIFF_RATIO] = {"delta_ratio", "Ratio"},
	[DIFF_WDIFF] = {"delta_weighted", "Weighted diff"},
};

/* The figure of one recording compared with the first. */
static void add_figure(struct rowmaker *m, const struct diffrows *r, const struct delta_row *row,
	size_t recording)
{
	const struct diff_options *o = r->options;
	const struct delta_value *a = &row->values[0], *b = &row->values[recording];
	const char *name = methods[o->method].name;

	if (!a->n_samples && !b->n_samples)
		return;
	switch (o->method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		add_percent(m, name,
			delta_share(r->delta, row, recording) - delta_share(r->delta, row, 0));
		return;
	case DIFF_RATIO:
		if (a->period && b->n_samples)
			rowmaker_fixed(m, name, (double)b->period / (double)a->period, 6);
		else
			rowmaker_text(m, name, lack(row, a->n_samples != 0));
		return;
	case DIFF_WDIFF:
		rowmaker_fixed(m, name,
			(double)b->period * (double)o->weights[DELTA_B] -
				(double)a->period * (double)o->weights[DELTA_A],
			0);
		return;
	}
}

static void add_formula(struct rowmaker *m, const struct diffrows *r, const struct delta_row *row,
	size_t recording)
{
	const struct delta_recording *recordings = r->delta->recordings.at;
	const u64 *weights = r->options->weights;
	unsigned long long a = row->values[0].period, b = row->values[recording].period;
	struct str text = {0};

	switch (r->options->method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		str_addf(&text, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", b,
			(unsigned long long)recordings[recording].period, a,
			(unsigned long long)recordings[0].period);
		break;
	case DIFF_RATIO:
		str_addf(&text, "%llu / %llu", b, a);
		break;
	case DIFF_WDIFF:
		str_addf(&text, "(%llu * %llu) - (%llu * %llu)", b,
			(unsigned long long)weights[DELTA_B], a,
			(unsigned long long)weights[DELTA_A]);
		break;
	}
	rowmaker_text(m, "delta_formula", rowmaker_copy(m, str_text(&text)));
	str_fini(&text);
}

static void add_for_people(struct rowmaker *m, const struct diffrows *r,
	const struct delta_row *row, const struct judgement *j)
{
	const double a = delta_side_share(r->delta, row, DELTA_A),
		     b = delta_side_share(r->delta, row, DELTA_B);

	if (r->options->has_sides ? row->is_in[DELTA_A] : row->values[0].n_samples > 0)
		add_side(m, "baseline", r->options->has_sides ? a : delta_share(r->delta, row, 0));
	if (r->options->has_sides) {
		if (r->options->has_both && row->is_in[DELTA_B])
			add_side(m, "delta_new", b);
		add_percent(m, "delta_abs", b - a);
		add_change(m, row, j);
		rowmaker_text(m, "delta_sign", j->is_significant ? "*" : "");
		return;
	}
	for (m->part = 0; m->part < r->delta->recordings.n; m->part++) {
		rowmaker_u64(m, "delta_period", row->values[m->part].period);
		if (!m->part)
			continue;
		add_figure(m, r, row, m->part);
		if (r->options->has_formula)
			add_formula(m, r, row, m->part);
	}
	m->part = 0;
}

/* ---- cells for programs ---- */

static const char *state_of(const struct delta_row *row)
{
	return row->is_unpaired        ? "unpaired"
		: !row->is_in[DELTA_A] ? "new"
		: !row->is_in[DELTA_B] ? "gone"
				       : "both";
}

static void add_for_programs(struct rowmaker *m, const struct diffrows *r,
	const struct delta_row *row, const struct judgement *j)
{
	rowmaker_note(m, "symbol_in_b", row->was);
	rowmaker_text(m, "state", state_of(row));
	rowmaker_double(m, "a", j->mean[DELTA_A], DIGITS);
	rowmaker_double(m, "b", j->mean[DELTA_B], DIGITS);
	rowmaker_double(m, "ratio", j->ratio, DIGITS);
	rowmaker_double(m, "ratio_low", j->ratio - j->half, DIGITS);
	rowmaker_double(m, "ratio_high", j->ratio + j->half, DIGITS);
	rowmaker_double(m, "p", j->p, DIGITS);
	rowmaker_double(m, "q", j->q, DIGITS);
	rowmaker_bool(m, "significant", j->is_significant);
	for (m->part = 0; m->part < r->delta->recordings.n; m->part++) {
		rowmaker_u64(m, "samples", row->values[m->part].n_samples);
		rowmaker_u64(m, "period", row->values[m->part].period);
		rowmaker_double(m, "share", delta_share(r->delta, row, m->part), DIGITS);
	}
	m->part = 0;
}

/* For programs: words instead of numbers that are unknown, and functions with the mode that they run in. */
static void add_key(struct rowmaker *m, const struct key *key, const struct cell *cell,
	bool is_data)
{
	const struct celltext t = celltext_of(key);
	struct cell *c = rowmaker_add(m, key->name);
	struct str words = {0};

	*c = *cell;
	if (!is_data)
		return;
	c->name = NULL;
	if (c->kind == CELL_FUNCTION)
		c->kind = CELL_PLACE;
	if (!c->reason)
		return;
	celltext_add(&t, cell, &words);
	*c = (struct cell){0};
	cell_text(c, cell_is_number(key->kind) ? NULL : rowmaker_copy(m, str_text(&words)));
	str_fini(&words);
}

static void make_row(struct rowmaker *m, const void *of, size_t at)
{
	const struct diffrows *r = of;
	const struct delta_row *row = &r->delta->rows.at[r->table.order[at]];
	const struct judgement *j = &r->significance->rows.at[r->table.order[at]];

	for (u32 i = 0; i < r->delta->n_keys; i++)
		add_key(m, r->delta->keys[i], &row->cells[i], r->is_data);
	(r->is_data ? add_for_programs : add_for_people)(m, r, row, j);
	vec_each(c, &m->cells)
		c->cell.spans |= j->is_significant ? CELL_IS_CHANGED : 0;
}

static bool shows(const struct rowset *rows, size_t at)
{
	const struct diffrows *r = ((const struct rowmaker *)rows->of)->of;
	const struct delta_row *row = &r->delta->rows.at[r->table.order[at]];
	double most = 0;

	for (size_t i = 0; i < r->delta->recordings.n; i++)
		most = fmax(most, delta_share(r->delta, row, i));
	return 100 * most >= r->options->limit &&
		(!r->options->is_in_baseline_only || row->is_in[DELTA_A]);
}

/* ---- facts about the comparison ---- */

static const struct rowset_column facts[] = {
	{"event", "Event", ROWSET_FACT, CELL_TEXT},
	{"normalised_by", "Normalised by", ROWSET_FACT, CELL_TEXT},
	{"file", "File", ROWSET_PART, CELL_TEXT, true},
	{"side", "Side", ROWSET_PART, CELL_TEXT, true},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true},
	{"sum_a", "Sum A", ROWSET_SUM, CELL_REAL},
	{"sum_b", "Sum B", ROWSET_SUM, CELL_REAL},
	{"level", "Level", ROWSET_SUM, CELL_REAL},
	{"noise_a", "Noise A", ROWSET_SUM, CELL_REAL},
	{"noise_b", "Noise B", ROWSET_SUM, CELL_REAL},
	{"unpaired_a", "Not paired A", ROWSET_SUM, CELL_REAL},
	{"unpaired_b", "Not paired B", ROWSET_SUM, CELL_REAL},
};

static void make_facts(struct rowmaker *m, const struct diffrows *r)
{
	static const char *const pers[] = {[DIFF_PER_LEVEL] = "level",
		[DIFF_PER_RUN] = "run",
		[DIFF_PER_TOTAL] = "total",
		[DIFF_PER_EVENT] = "event"};
	const struct significance *j = r->significance;

	rowmaker_row(m);
	rowmaker_text(m, "event", r->event);
	rowmaker_text(m, "normalised_by", pers[r->options->per]);
	vec_each(recording, &r->delta->recordings) {
		m->part = (u32)(recording - r->delta->recordings.at);
		rowmaker_text(m, "file", recording->name);
		rowmaker_text(m, "side", recording->side == DELTA_A ? "A" : "B");
		rowmaker_u64(m, "samples", recording->n_samples);
		rowmaker_u64(m, "period", recording->period);
	}
	m->part = 0;
	rowmaker_double(m, "sum_a", j->sum[DELTA_A], DIGITS);
	rowmaker_double(m, "sum_b", j->sum[DELTA_B], DIGITS);
	rowmaker_double(m, "level", j->level, DIGITS);
	rowmaker_double(m, "noise_a", j->noise[DELTA_A], DIGITS);
	rowmaker_double(m, "noise_b", j->noise[DELTA_B], DIGITS);
	rowmaker_double(m, "unpaired_a", r->delta->unpaired[DELTA_A].share, DIGITS);
	rowmaker_double(m, "unpaired_b", r->delta->unpaired[DELTA_B].share, DIGITS);
}

/* ---- columns ---- */

static const struct rowset_column of_programs[] = {
	{"symbol_in_b", "In B", ROWSET_FACT, CELL_TEXT},
	{"state", "State", ROWSET_FACT, CELL_TEXT},
	{"a", "A", ROWSET_FACT, CELL_REAL},
	{"b", "B", ROWSET_FACT, CELL_REAL},
	{"ratio", "Ratio", ROWSET_FACT, CELL_REAL},
	{"ratio_low", "Low", ROWSET_FACT, CELL_REAL},
	{"ratio_high", "High", ROWSET_FACT, CELL_REAL},
	{"p", "p", ROWSET_FACT, CELL_REAL},
	{"q", "q", ROWSET_FACT, CELL_REAL},
	{"significant", "Significant", ROWSET_FACT, CELL_BOOL},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true},
	{"share", "Share", ROWSET_VALUE, CELL_REAL, true},
};

/* recording: the one that the column belongs to; -1: all. */
static void show(struct diffrows *r, const char *name, const char *title, long recording)
{
	/* Some cells of other columns are words. */
	static const char *const numbers[] = {"baseline", "delta_new", "delta_abs", "delta_change"};
	enum cell_kind kind = CELL_TEXT;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		kind = strcmp(numbers[i], name) ? kind : CELL_REAL;
	deltatable_show(&r->table, r->delta, r->options,
		(struct rowset_column){name, title, ROWSET_VALUE, kind}, recording);
}

static void choose_shown(struct diffrows *r)
{
	const struct diff_options *o = r->options;

	show(r, "baseline", "Baseline", o->has_sides ? -1 : 0);
	if (o->has_sides) {
		if (o->has_both)
			show(r, "delta_new", "Now", -1);
		show(r, "delta_abs", methods[DIFF_DELTA_ABS].title, -1);
		show(r, "delta_change", "Change", -1);
		show(r, "delta_sign", "", -1);
		return;
	}
	if (o->has_periods)
		show(r, "delta_period", "Base period", 0);
	for (u32 i = 1; i < r->delta->recordings.n; i++) {
		show(r, methods[o->method].name, methods[o->method].title, i);
		if (o->has_formula)
			show(r, "delta_formula", "Formula", i);
		if (o->has_periods)
			show(r, "delta_period", "Period", i);
	}
}

void diffrows_init(struct diffrows *r, const struct delta *d, const struct significance *j,
	const char *event, const struct diff_options *o, bool is_data)
{
	*r = (struct diffrows){.delta = d,
		.significance = j,
		.options = o,
		.event = event,
		.is_data = is_data,
		.table.made = {.make = make_row, .of = r, .n_made = d->rows.n}};
	r->table.order = diff_order(d, o);
	choose_shown(r);
	for (u32 i = 0; i < d->n_keys; i++)
		deltatable_add_key(&r->table, d->keys[i]);
	for (size_t i = 0; i < ARRAY_SIZE(of_programs); i++)
		vec_add(&r->table.columns, of_programs[i]);
	make_facts(&r->table.facts, r);
	deltatable_close(&r->table, d, facts, ARRAY_SIZE(facts), is_data ? NULL : shows);
}

void diffrows_fini(struct diffrows *r)
{
	deltatable_fini(&r->table);
}
