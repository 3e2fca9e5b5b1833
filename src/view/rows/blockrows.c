#include "view/rows/blockrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 9 }; /* for programs */

/* ---- cells for people ---- */

/* "+3.0 +- 0.4"; what only one of them has is new, gone or not paired. */
static void add_diff(struct rowmaker *m, struct blockdiff d, const struct delta_row *row,
	bool has_a, bool has_b)
{
	struct str text = {0};

	if (!isnan(d.diff)) {
		str_addf(&text, "%+.1f", d.diff);
		if (!isnan(d.half))
			str_addf(&text, " +- %.1f", d.half);
	} else if (has_a || has_b) {
		str_add(&text, row->is_unpaired ? "not paired" : has_a ? "gone" : "new");
	}
	rowmaker_text(m, "cycles_diff", rowmaker_copy(m, str_text(&text)));
	m->cells.at[m->cells.n - 1].cell.real = d.diff;
	str_fini(&text);
}

/* A line of bars. What is there at all is more than the lowest one. */
static void add_bars(const u64 bins[BLOCKDIFF_BINS], struct str *text)
{
	static const char *const eighths[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585",
		"\u2586", "\u2587", "\u2588"};
	u64 most = 1;

	for (int i = 0; i < BLOCKDIFF_BINS; i++)
		most = MAX(most, bins[i]);
	for (int i = 0; i < BLOCKDIFF_BINS; i++)
		str_add(text, eighths[bins[i] ? 1 + (bins[i] * 6 + most / 2) / most : 0]);
}

/* "± 12.5% ▁▃█▂▁▁▁▁": the deviation as a share of the mean, and how many runs took how long. */
static void add_hist(struct rowmaker *m, const struct variance *s, const u64 bins[BLOCKDIFF_BINS])
{
	struct str text = {0};

	if (s->n) {
		if (s->n > 1 && s->mean > 0)
			str_addf(&text, "\u00b1%5.1f%% ", 100 * variance_deviation(s) / s->mean);
		else
			str_addf(&text, "%8s", "");
		add_bars(bins, &text);
	}
	rowmaker_text(m, "cycles_hist", rowmaker_copy(m, str_text(&text)));
	str_fini(&text);
}

static void add_mean(struct rowmaker *m, const struct variance *s)
{
	rowmaker_fixed(m, "cycles_mean", rowmaker_known(s->n, s->mean), 1);
}

static void add_formula(struct rowmaker *m, const struct delta_value *a,
	const struct delta_value *b)
{
	struct str text = {0};

	if (a->n_samples && b->n_samples)
		str_addf(&text, "(%llu / %llu) - (%llu / %llu)", (unsigned long long)b->period,
			(unsigned long long)b->n_samples, (unsigned long long)a->period,
			(unsigned long long)a->n_samples);
	rowmaker_text(m, "delta_formula", rowmaker_copy(m, str_text(&text)));
	str_fini(&text);
}

static struct delta_value sum_of(const struct delta *d, const struct delta_row *row, int side)
{
	struct delta_value sum = {0};

	for (size_t i = 0; i < d->recordings.n; i++)
		if (d->recordings.at[i].side == side) {
			sum.period += row->values[i].period;
			sum.n_samples += row->values[i].n_samples;
		}
	return sum;
}

static void add_side(struct rowmaker *m, const struct blockrows *r, const struct delta_row *row,
	int side, struct blockdiff_range range)
{
	const struct variance s = blockdiff_of_side(r->delta, row, side);
	u64 bins[BLOCKDIFF_BINS] = {0};

	for (size_t i = 0; i < r->delta->recordings.n; i++)
		if (r->delta->recordings.at[i].side == side)
			blockdiff_bins(row, i, range, bins);
	add_mean(m, &s);
	add_hist(m, &s, bins);
}

static void add_sides(struct rowmaker *m, const struct blockrows *r, const struct delta_row *row)
{
	const struct blockdiff_range range = blockdiff_range(r->delta, row);
	const struct delta_value a = sum_of(r->delta, row, DELTA_A),
				 b = sum_of(r->delta, row, DELTA_B);

	for (int side = 0; side < DELTA_SIDES; side++) {
		m->part = (u32)side;
		add_side(m, r, row, side, range);
	}
	add_diff(m, blockdiff_compare_sides(r->delta, row), row, a.n_samples, b.n_samples);
	add_formula(m, &a, &b);
	m->part = 0;
}

static void add_recordings(struct rowmaker *m, const struct blockrows *r,
	const struct delta_row *row)
{
	const struct blockdiff_range range = blockdiff_range(r->delta, row);

	for (m->part = 0; m->part < r->delta->recordings.n; m->part++) {
		const struct variance s = blockdiff_of(row, m->part);
		u64 bins[BLOCKDIFF_BINS] = {0};

		blockdiff_bins(row, m->part, range, bins);
		add_mean(m, &s);
		add_hist(m, &s, bins);
		if (!m->part)
			continue;
		add_diff(m, blockdiff_compare(row, m->part), row, row->values[0].n_samples,
			row->values[m->part].n_samples);
		add_formula(m, &row->values[0], &row->values[m->part]);
	}
	m->part = 0;
}

static void add_for_people(struct rowmaker *m, const struct blockrows *r,
	const struct delta_row *row)
{
	const bool has_sides = r->options->has_sides;

	if (has_sides ? row->is_in[DELTA_A] : row->values[0].n_samples > 0) {
		const double share = has_sides ? delta_side_share(r->delta, row, DELTA_A)
					       : delta_share(r->delta, row, 0);

		rowmaker_fixed(m, "baseline", 100 * share, 2);
		m->cells.at[m->cells.n - 1].cell.spans = CELL_IS_HEAT;
	}
	(has_sides ? add_sides : add_recordings)(m, r, row);
}

/* ---- cells for programs ---- */

static const char *state_of(const struct delta_row *row)
{
	return row->is_unpaired        ? "unpaired"
		: !row->is_in[DELTA_A] ? "new"
		: !row->is_in[DELTA_B] ? "gone"
				       : "both";
}

static void add_numbers(struct rowmaker *m, const u64 bins[BLOCKDIFF_BINS])
{
	struct str text = {0};

	for (int i = 0; i < BLOCKDIFF_BINS; i++)
		str_addf(&text, "%s%llu", i ? " " : "", (unsigned long long)bins[i]);
	rowmaker_text(m, "histogram", rowmaker_copy(m, str_text(&text)));
	str_fini(&text);
}

static void add_for_programs(struct rowmaker *m, const struct blockrows *r,
	const struct delta_row *row)
{
	const struct blockdiff_range range = blockdiff_range(r->delta, row);
	const struct blockdiff d = blockdiff_compare_sides(r->delta, row);
	const struct variance a = blockdiff_of_side(r->delta, row, DELTA_A),
			      b = blockdiff_of_side(r->delta, row, DELTA_B);

	rowmaker_note(m, "symbol_in_b", row->was);
	rowmaker_text(m, "state", state_of(row));
	rowmaker_double(m, "a", rowmaker_known(a.n, a.mean), DIGITS);
	rowmaker_double(m, "b", rowmaker_known(b.n, b.mean), DIGITS);
	rowmaker_double(m, "diff", d.diff, DIGITS);
	rowmaker_double(m, "half", d.half, DIGITS);
	rowmaker_u64(m, "low", range.low);
	rowmaker_u64(m, "high", range.high);
	for (m->part = 0; m->part < r->delta->recordings.n; m->part++) {
		const struct variance s = blockdiff_of(row, m->part);
		u64 bins[BLOCKDIFF_BINS] = {0};

		blockdiff_bins(row, m->part, range, bins);
		rowmaker_u64(m, "samples", row->values[m->part].n_samples);
		rowmaker_u64(m, "period", row->values[m->part].period);
		rowmaker_double(m, "share", delta_share(r->delta, row, m->part), DIGITS);
		rowmaker_double(m, "mean", rowmaker_known(s.n, s.mean), DIGITS);
		rowmaker_double(m, "deviation", rowmaker_known(s.n > 1, variance_deviation(&s)),
			DIGITS);
		add_numbers(m, bins);
	}
	m->part = 0;
}

/* Programs get words for people only where a key has no other cell. */
static void add_key(struct rowmaker *m, const char *name, const struct cell *cell, bool is_data)
{
	struct cell *c = rowmaker_add(m, name);

	*c = *cell;
	if (!is_data)
		return;
	c->name = NULL;
	if (c->kind == CELL_FUNCTION)
		c->kind = CELL_PLACE;
}

static void make_row(struct rowmaker *m, const void *of, size_t at)
{
	const struct blockrows *r = of;
	const struct delta_row *row = &r->delta->rows.at[r->table.order[at]];

	add_key(m, "block", &row->about, r->is_data);
	/* The first one is what identifies the run, which its place says in other words. */
	for (u32 i = 1; i < r->delta->n_keys; i++)
		add_key(m, r->delta->keys[i]->name, &row->cells[i], r->is_data);
	(r->is_data ? add_for_programs : add_for_people)(m, r, row);
}

static bool shows(const struct rowset *rows, size_t at)
{
	const struct blockrows *r = ((const struct rowmaker *)rows->of)->of;
	const struct delta_row *row = &r->delta->rows.at[r->table.order[at]];
	double most = 0;

	for (size_t i = 0; i < r->delta->recordings.n; i++)
		most = fmax(most, delta_share(r->delta, row, i));
	return 100 * most >= r->options->limit &&
		(!r->options->is_in_baseline_only || row->is_in[DELTA_A]);
}

/* ---- the order of rows ---- */

struct rank {
	double weight, share; /* descending */
	u32 row;
};

/* How many cycles the difference makes up over all runs of the baseline; of what only one side has, it is not known. */
static double weight_of(const struct delta *d, const struct delta_row *row,
	const struct diff_options *o)
{
	const size_t b = MIN((size_t)MAX(o->order, 1u), d->recordings.n - 1);
	const struct blockdiff diff =
		o->has_sides ? blockdiff_compare_sides(d, row) : blockdiff_compare(row, b);
	const u64 runs =
		o->has_sides ? sum_of(d, row, DELTA_A).n_samples : row->values[0].n_samples;

	if (!o->order)
		return 0;
	return isnan(diff.diff) ? -1 : fabs(diff.diff) * (double)runs;
}

static double most_of(const struct delta *d, const struct delta_row *row)
{
	const double a = delta_side_share(d, row, DELTA_A);

	return a > 0 ? a : delta_side_share(d, row, DELTA_B) - 1;
}

static int by_rank(const void *left, const void *right)
{
	const struct rank *x = left, *y = right;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static u32 *order_of(const struct delta *d, const struct diff_options *o)
{
	struct rank *ranks = mem_alloc((d->rows.n + 1) * sizeof(*ranks));
	u32 *order = mem_alloc((d->rows.n + 1) * sizeof(*order));

	for (u32 i = 0; i < d->rows.n; i++) {
		const struct delta_row *row = &d->rows.at[i];

		ranks[i] = (struct rank){weight_of(d, row, o), most_of(d, row), i};
	}
	if (d->rows.n)
		qsort(ranks, d->rows.n, sizeof(*ranks), by_rank);
	for (size_t i = 0; i < d->rows.n; i++)
		order[i] = ranks[i].row;
	mem_free(ranks);
	return order;
}

/* ---- facts about the comparison ---- */

static const struct rowset_column facts[] = {
	{"event", "Event", ROWSET_FACT, CELL_TEXT},
	{"file", "File", ROWSET_PART, CELL_TEXT, true},
	{"side", "Side", ROWSET_PART, CELL_TEXT, true},
	{"samples", "runs of code", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Cycles", ROWSET_VALUE, CELL_COUNT, true},
};

static void make_facts(struct rowmaker *m, const struct blockrows *r)
{
	rowmaker_row(m);
	rowmaker_text(m, "event", r->event);
	vec_each(recording, &r->delta->recordings) {
		m->part = (u32)(recording - r->delta->recordings.at);
		rowmaker_text(m, "file", recording->name);
		rowmaker_text(m, "side", recording->side == DELTA_A ? "A" : "B");
		rowmaker_u64(m, "samples", recording->n_samples);
		rowmaker_u64(m, "period", recording->period);
	}
	m->part = 0;
}

void blockrows_add_words(const struct delta *d, const u64 *n_unknown, const char *event,
	const struct diff_options *o, struct str *text)
{
	str_add(text, "# Event '");
	str_add_safe(text, event, strlen(event));
	str_add(text, "'\n#\n");
	if (o->is_quiet)
		return;
	str_add(text, "# Data files:\n");
	vec_each(r, &d->recordings) {
		const size_t i = r - d->recordings.at;

		str_addf(text, "#  [%zu] ", i);
		str_add_safe(text, r->name, strlen(r->name));
		str_addf(text, "%s: %llu runs of code from branch to branch",
			r->side == DELTA_A ? " (Baseline)" : "", (unsigned long long)r->n_samples);
		if (n_unknown[i])
			str_addf(text,
				"; where %llu of them begin was not recorded: they are not compared",
				(unsigned long long)n_unknown[i]);
		str_addc(text, '\n');
	}
	str_add(text, "#\n");
}

/* ---- columns ---- */

static const struct rowset_column of_programs[] = {
	{"symbol_in_b", "In B", ROWSET_FACT, CELL_TEXT},
	{"state", "State", ROWSET_FACT, CELL_TEXT},
	{"a", "A", ROWSET_FACT, CELL_REAL},
	{"b", "B", ROWSET_FACT, CELL_REAL},
	{"diff", "Difference", ROWSET_FACT, CELL_REAL},
	{"half", "Half of the interval", ROWSET_FACT, CELL_REAL},
	{"low", "Low", ROWSET_FACT, CELL_COUNT},
	{"high", "High", ROWSET_FACT, CELL_COUNT},
	{"samples", "Runs", ROWSET_VALUE, CELL_COUNT, true},
	{"period", "Cycles", ROWSET_VALUE, CELL_COUNT, true},
	{"share", "Share", ROWSET_VALUE, CELL_REAL, true},
	{"mean", "Mean", ROWSET_VALUE, CELL_REAL, true},
	{"deviation", "Deviation", ROWSET_VALUE, CELL_REAL, true},
	{"histogram", "Histogram", ROWSET_VALUE, CELL_TEXT, true},
};

/* recording: the one that the column belongs to; -1: all. */
static void show(struct blockrows *r, const char *name, const char *title, long recording)
{
	deltatable_show(&r->table, r->delta, r->options,
		(struct rowset_column){name, title,
			strcmp(name, "block") ? ROWSET_VALUE : ROWSET_KEY,
			strcmp(name, "baseline") ? CELL_TEXT : CELL_REAL},
		recording);
}

static void choose_shown(struct blockrows *r)
{
	const struct diff_options *o = r->options;
	const size_t n = o->has_sides ? DELTA_SIDES : r->delta->recordings.n;

	show(r, "baseline", "Baseline", o->has_sides ? -1 : 0);
	show(r, "block", "[Program Block Range]", -1);
	if (o->has_periods)
		show(r, "cycles_mean", "Base Cycles", 0);
	if (o->has_histogram)
		show(r, "cycles_hist", "Base stddev/Hist", 0);
	for (u32 i = 1; i < n; i++) {
		show(r, "cycles_diff", "Cycles Diff", i);
		if (o->has_formula)
			show(r, "delta_formula", "Formula", i);
		if (o->has_histogram)
			show(r, "cycles_hist", "stddev/Hist", i);
		if (o->has_periods)
			show(r, "cycles_mean", "Cycles", i);
	}
}

static void choose_columns(struct blockrows *r)
{
	const struct delta *d = r->delta;

	choose_shown(r);
	vec_add(&r->table.columns,
		((struct rowset_column){d->about->name, d->about->title, ROWSET_KEY, CELL_TEXT}));
	for (u32 i = 1; i < d->n_keys; i++)
		deltatable_add_key(&r->table, d->keys[i]);
	for (size_t i = 0; i < ARRAY_SIZE(of_programs); i++)
		vec_add(&r->table.columns, of_programs[i]);
}

void blockrows_init(struct blockrows *r, const struct delta *d, const char *event,
	const struct diff_options *o, bool is_data)
{
	*r = (struct blockrows){.delta = d,
		.options = o,
		.event = event,
		.is_data = is_data,
		.table.made = {.make = make_row, .of = r, .n_made = d->rows.n}};
	r->table.order = order_of(d, o);
	choose_columns(r);
	make_facts(&r->table.facts, r);
	deltatable_close(&r->table, d, facts, ARRAY_SIZE(facts), is_data ? NULL : shows);
}

void blockrows_fini(struct blockrows *r)
{
	deltatable_fini(&r->table);
}
