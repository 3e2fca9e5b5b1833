/*
 * diff_text.c - a comparison for people: in words, and as perf diff's table.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "view/diff.h"
#include "view/celltext.h"

enum { WORDS_MAX = 10, FILES_MAX = 3, CELLS_MAX = 512 };

/* ---- in words ---- */

/* The name in a cell of functions: without the "[.] " before it. */
static const char *bare(const char *cell)
{
	enum { MODE_WIDTH = 4 };

	return *cell == '[' && strlen(cell) > MODE_WIDTH ? cell + MODE_WIDTH : cell;
}

/* A function's name, else the first cell. */
static void add_subject(const struct delta *d, const struct delta_row *row, struct str *text)
{
	const struct celltext l = celltext_of(d->keys[0], NULL);

	for (size_t i = 0; i < d->n_keys; i++)
		if (d->keys[i]->frame == KEY_SYMBOL) {
			str_add(text, bare(row->names[i]));
			return;
		}
	celltext_add(&l, &row->cells[0], text);
}

/* "0.513 s", "1.2e9": what a mean is. */
static void add_amount(double v, const struct delta *d, const struct diff_options *o,
	struct str *text)
{
	if (o->per == DIFF_PER_TOTAL)
		str_addf(text, "%.2f%%", 100 * v);
	else if (o->per != DIFF_PER_EVENT && d->is_time)
		str_addf(text, v >= 1e9 ? "%.3f s" : "%.2f ms", v >= 1e9 ? v / 1e9 : v / 1e6);
	else
		str_addf(text, "%.4g", v);
}

/* "is slower by 12% +- 3 (0.513 s -> 0.575 s)"; of what is no time "takes 12% +- 3 more". */
static void add_change(const struct judgement *row, const struct delta *d,
	const struct diff_options *o, struct str *text)
{
	bool is_more = row->mean[DELTA_B] > row->mean[DELTA_A];
	bool is_speed = d->is_time && o->per != DIFF_PER_TOTAL;
	double percent = fabs(row->ratio - 1) * 100;

	str_addf(text, "%s%.*f%%",
		!is_speed         ? "takes "
			: is_more ? "is slower by "
				  : "is faster by ",
		percent < 10, percent);
	if (!isnan(row->half))
		str_addf(text, " +- %.*f", row->half < 0.1, 100 * row->half);
	str_addf(text, "%s (", is_speed ? "" : is_more ? " more" : " less");
	add_amount(row->mean[DELTA_A], d, o, text);
	str_add(text, " -> ");
	add_amount(row->mean[DELTA_B], d, o, text);
	str_addc(text, ')');
}

static void add_word(const struct delta *d, const struct judge *j, u32 i,
	const struct diff_options *o, struct str *text)
{
	const struct delta_row *row = &d->rows.at[i];
	const struct judgement *judged = &j->rows.at[i];
	int side = row->is_in[DELTA_A] ? DELTA_A : DELTA_B;

	str_add(text, "# ");
	add_subject(d, row, text);
	str_addc(text, ' ');
	if (row->is_in[DELTA_A] && row->is_in[DELTA_B]) {
		add_change(judged, d, o, text);
	} else {
		str_addf(text, "is %s (", side == DELTA_A ? "gone" : "new");
		add_amount(judged->mean[side], d, o, text);
		str_addc(text, ')');
	}
	if (row->was)
		str_addf(text, ", now %s", bare(row->was));
	str_addc(text, '\n');
}

/* What all recordings took, and how far those of one side are from each other. */
static void add_sums(const struct judge *j, const struct delta *d, const struct diff_options *o,
	struct str *text)
{
	static const char *const names[] = {"A", "B"};

	if (o->per == DIFF_PER_TOTAL)
		return;
	str_add(text, "# In all: ");
	for (int side = 0; side < DELTA_SIDES; side++) {
		str_addf(text, "%s%s ", side ? ", " : "", names[side]);
		add_amount(j->sum[side], d, o, text);
		if (!isnan(j->noise[side]))
			str_addf(text, " (%zu recordings, +- %.1f%%)", j->n[side],
				100 * j->noise[side]);
	}
	if (j->sum[DELTA_A] > 0)
		str_addf(text, ": %+.1f%%", 100 * (j->sum[DELTA_B] / j->sum[DELTA_A] - 1));
	if (o->per == DIFF_PER_LEVEL && j->level != 1)
		str_addf(text, "; most functions %+.1f%%, what follows is beyond that",
			100 * (j->level - 1));
	str_addc(text, '\n');
}

/* What has no name and no partner, and what to do. */
static void add_unpaired(const struct delta *d, struct str *text)
{
	static const char *const names[] = {"A", "B"};

	if (!d->unpaired[DELTA_A].n_rows)
		return;
	str_add(text, "# Not paired, as addresses tell functions within one build only:");
	for (int side = 0; side < DELTA_SIDES; side++) {
		const struct delta_unpaired *u = &d->unpaired[side];

		str_addf(text, "%s %s %.2f%% (", side ? "," : "", names[side], 100 * u->share);
		for (size_t i = 0; i < u->files.n && i < FILES_MAX; i++) {
			str_add(text, i ? ", " : "");
			str_add_safe(text, u->files.at[i], strlen(u->files.at[i]));
		}
		str_add(text, u->files.n > FILES_MAX ? ", ...)" : ")");
	}
	str_add(text, "; names (--symfs, debuginfod) make them comparable\n");
}

static void add_words(const struct delta *d, const struct judge *j, const u32 *order,
	const struct diff_options *o, struct str *text)
{
	size_t n = 0, n_words = 0;

	add_sums(j, d, o, text);
	add_unpaired(d, text);
	if (!j->has_spread) {
		str_add(text,
			"# One recording a side does not tell chance from change: several do (pace diff A1 A2 A3 -- B1 B2 B3)\n#\n");
		return;
	}
	vec_each(row, &j->rows)
		n += row->is_significant;
	if (!n)
		str_add(text, "# No row differs by more than chance explains\n");
	for (size_t i = 0; i < d->rows.n; i++) {
		if (!j->rows.at[order[i]].is_significant)
			continue;
		if (n_words++ == WORDS_MAX && !o->has_all_words) {
			str_addf(text,
				"# and %zu more that differ by more than chance explains: --all shows them\n",
				n - WORDS_MAX);
			break;
		}
		add_word(d, j, order[i], o, text);
	}
	str_add(text, "#\n");
}

/* ---- the table ---- */

static const struct {
	const char *title;
	unsigned width;
} methods[] = {
	[DIFF_DELTA_ABS] = {"Delta Abs", 9},
	[DIFF_DELTA] = {"Delta", 7},
	[DIFF_RATIO] = {"Ratio", 14},
	[DIFF_WDIFF] = {"Weighted diff", 14},
};

struct column {
	char title[64];
	unsigned width;
	bool is_right;
};

struct diff_table {
	const struct delta *delta;
	const struct diff_options *options;
	VEC(struct column) columns;
	struct celltext layouts[HIST_KEYS_MAX]; /* of the keys */
	VEC(const char *) cells;                /* row by row */
	struct arena arena;
};

/* What it means that one side has nothing of a row. */
static const char *lack(const struct delta_row *row, bool has_a)
{
	return row->is_unpaired ? "not paired" : has_a ? "gone" : "new";
}

/* "+12% +- 3": what a row changed by, levelled or however it was made comparable. */
static void change(const struct delta_row *row, const struct judgement *j, char *buf, size_t size)
{
	double percent = 100 * (j->ratio - 1);
	int digits = fabs(percent) < 10;

	buf[0] = '\0';
	if (j->mean[DELTA_A] > 0 && j->mean[DELTA_B] > 0 && !isnan(j->half))
		snprintf(buf, size, "%+.*f%% +- %.*f", digits, percent, digits, 100 * j->half);
	else if (!(j->mean[DELTA_A] > 0) || !(j->mean[DELTA_B] > 0))
		snprintf(buf, size, "%s", lack(row, j->mean[DELTA_A] > 0));
}

static void add_column(struct diff_table *t, const char *title, long recording, unsigned width,
	bool is_right)
{
	struct column *c = vec_push(&t->columns);
	bool is_numbered = recording >= 0 && t->delta->recordings.n > DELTA_SIDES;

	if (is_numbered)
		snprintf(c->title, sizeof(c->title), "%s/%ld", title, recording);
	else
		snprintf(c->title, sizeof(c->title), "%s", title);
	c->width = MAX(width, (unsigned)strlen(c->title));
	c->is_right = is_right;
}

static void add_keys(struct diff_table *t)
{
	const struct delta *d = t->delta;

	for (size_t i = 0; i < d->n_keys; i++)
		add_column(t, t->layouts[i].title, -1, t->layouts[i].width, false);
}

static void add_columns(struct diff_table *t)
{
	const struct delta *d = t->delta;
	const struct diff_options *o = t->options;

	add_column(t, "Baseline", o->has_sides ? -1 : 0, 8, true);
	if (o->has_sides) {
		add_column(t, methods[DIFF_DELTA_ABS].title, -1, 9, true);
		add_column(t, "Change", -1, 13, true);
		add_column(t, "", -1, 1, false);
		add_keys(t);
		return;
	}
	if (o->has_periods)
		add_column(t, "Base period", 0, 14, true);
	for (size_t i = 1; i < d->recordings.n; i++) {
		add_column(t, methods[o->method].title, (long)i, methods[o->method].width, true);
		if (o->has_periods)
			add_column(t, "Period", (long)i, 14, true);
		if (o->has_formula)
			add_column(t, "Formula", (long)i, 0, true);
	}
	add_keys(t);
}

static void add_cell(struct diff_table *t, const char *cell)
{
	struct column *c = &t->columns.at[t->cells.n % t->columns.n];

	c->width = MAX(c->width, (unsigned)strlen(cell));
	vec_add(&t->cells, arena_strdup(&t->arena, cell, strlen(cell)));
}

static void add_key_cells(struct diff_table *t, const struct delta_row *row)
{
	struct str text = {0};

	for (size_t i = 0; i < t->delta->n_keys; i++) {
		str_clear(&text);
		celltext_add(&t->layouts[i], &row->cells[i], &text);
		add_cell(t, str_text(&text));
	}
	str_fini(&text);
}

/* The figure of one recording against the first. */
static void figure(const struct delta *d, const struct delta_row *row, size_t recording,
	const struct diff_options *o, char *buf, size_t size)
{
	const struct delta_value *a = &row->values[0], *b = &row->values[recording];

	buf[0] = '\0';
	switch (o->method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		if (a->n_samples || b->n_samples)
			snprintf(buf, size, "%+.2f%%",
				100 * (delta_share(d, row, recording) - delta_share(d, row, 0)));
		break;
	case DIFF_RATIO:
		if (a->period && b->n_samples)
			snprintf(buf, size, "%.6f", (double)b->period / (double)a->period);
		else if (a->n_samples || b->n_samples)
			snprintf(buf, size, "%s", lack(row, a->n_samples != 0));
		break;
	case DIFF_WDIFF:
		if (a->n_samples || b->n_samples)
			snprintf(buf, size, "%.0f",
				(double)b->period * (double)o->weights[DELTA_B] -
					(double)a->period * (double)o->weights[DELTA_A]);
		break;
	}
}

static void formula(const struct delta *d, const struct delta_row *row, size_t recording,
	const struct diff_options *o, char *buf, size_t size)
{
	unsigned long long a = row->values[0].period, b = row->values[recording].period;

	switch (o->method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		snprintf(buf, size, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", b,
			(unsigned long long)d->recordings.at[recording].period, a,
			(unsigned long long)d->recordings.at[0].period);
		break;
	case DIFF_RATIO:
		snprintf(buf, size, "%llu / %llu", b, a);
		break;
	case DIFF_WDIFF:
		snprintf(buf, size, "(%llu * %llu) - (%llu * %llu)", b,
			(unsigned long long)o->weights[DELTA_B], a,
			(unsigned long long)o->weights[DELTA_A]);
		break;
	}
}

static void add_period(struct diff_table *t, u64 period)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)period);
	add_cell(t, buf);
}

static void add_sided_cells(struct diff_table *t, const struct delta_row *row,
	const struct judgement *j)
{
	const struct delta *d = t->delta;
	double a = delta_side_share(d, row, DELTA_A), b = delta_side_share(d, row, DELTA_B);
	char buf[CELLS_MAX] = "";

	if (row->is_in[DELTA_A])
		snprintf(buf, sizeof(buf), "%.2f%%", 100 * a);
	add_cell(t, buf);
	snprintf(buf, sizeof(buf), "%+.2f%%", 100 * (b - a));
	add_cell(t, buf);
	change(row, j, buf, sizeof(buf));
	add_cell(t, buf);
	add_cell(t, j->is_significant ? "*" : "");
	add_key_cells(t, row);
}

static void add_cells(struct diff_table *t, const struct delta_row *row)
{
	const struct delta *d = t->delta;
	const struct diff_options *o = t->options;
	char buf[CELLS_MAX] = "";

	if (row->values[0].n_samples)
		snprintf(buf, sizeof(buf), "%.2f%%", 100 * delta_share(d, row, 0));
	add_cell(t, buf);
	if (o->has_periods)
		add_period(t, row->values[0].period);
	for (size_t i = 1; i < d->recordings.n; i++) {
		figure(d, row, i, o, buf, sizeof(buf));
		add_cell(t, buf);
		if (o->has_periods)
			add_period(t, row->values[i].period);
		if (o->has_formula) {
			formula(d, row, i, o, buf, sizeof(buf));
			add_cell(t, buf);
		}
	}
	add_key_cells(t, row);
}

static bool is_shown(const struct delta *d, const struct delta_row *row,
	const struct diff_options *o)
{
	double most = 0;

	for (size_t i = 0; i < d->recordings.n; i++)
		most = fmax(most, delta_share(d, row, i));
	return 100 * most >= o->limit && (!o->is_in_baseline_only || row->is_in[DELTA_A]);
}

static void add_padded(const struct diff_table *t, size_t column, const char *cell, char fill,
	struct str *text)
{
	const struct column *c = &t->columns.at[column];
	size_t n = strlen(cell), room = c->width > n ? c->width - n : 0;
	bool is_last = column + 1 == t->columns.n;

	if (fill != ' ') {
		str_fill(text, fill, c->width);
		return;
	}
	if (c->is_right)
		str_fill(text, ' ', room);
	str_add(text, cell);
	if (!c->is_right && !is_last)
		str_fill(text, ' ', room);
}

static void add_line(const struct diff_table *t, const char *begin, const char *const *cells,
	char fill, struct str *text)
{
	const char *separator = t->options->separator;

	str_add(text, separator ? "" : begin);
	for (size_t i = 0; i < t->columns.n; i++) {
		const char *cell = cells ? cells[i] : t->columns.at[i].title;

		str_add(text, !i ? "" : separator ? separator : "  ");
		if (!separator) {
			add_padded(t, i, cell, fill, text);
			continue;
		}
		/* The separator is nowhere else. */
		for (const char *p = cell; *p; p++)
			str_addc(text, strchr(separator, *p) ? '.' : *p);
	}
	str_addc(text, '\n');
}

static void add_files(const struct delta *d, struct str *text)
{
	str_add(text, "# Data files:\n");
	vec_each(r, &d->recordings) {
		str_addf(text, "#  [%zu] ", (size_t)(r - d->recordings.at));
		str_add_safe(text, r->name, strlen(r->name));
		str_add(text, r->side == DELTA_A ? " (Baseline)\n" : "\n");
	}
	str_add(text, "#\n");
}

void diff_add_text(const struct delta *d, const struct judge *j, const char *event,
	const struct diff_options *o, struct str *text)
{
	struct diff_table t = {.delta = d, .options = o};
	u32 *order = diff_order(d, o);

	str_add(text, "# Event '");
	str_add_safe(text, event, strlen(event));
	str_add(text, "'\n#\n");
	if (!o->is_quiet && d->recordings.n > DELTA_SIDES)
		add_files(d, text);
	if (!o->is_quiet)
		add_words(d, j, order, o, text);
	for (size_t i = 0; i < d->n_keys; i++)
		t.layouts[i] = celltext_of(d->keys[i], NULL);
	add_columns(&t);
	for (size_t i = 0; i < d->rows.n; i++) {
		const struct delta_row *row = &d->rows.at[order[i]];

		if (!is_shown(d, row, o))
			continue;
		if (o->has_sides)
			add_sided_cells(&t, row, &j->rows.at[order[i]]);
		else
			add_cells(&t, row);
	}
	add_line(&t, "# ", NULL, ' ', text);
	if (!o->separator) {
		add_line(&t, "# ", NULL, '.', text);
		str_add(text, "#\n");
	}
	for (size_t i = 0; i < t.cells.n; i += t.columns.n)
		add_line(&t, "  ", &t.cells.at[i], ' ', text);
	vec_fini(&t.columns);
	vec_fini(&t.cells);
	arena_fini(&t.arena);
	mem_free(order);
}
