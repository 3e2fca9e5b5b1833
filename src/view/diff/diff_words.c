/*
 * diff_words.c - a comparison in words.
 */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "view/diff/diff.h"
#include "view/text/celltext.h"

enum { WORDS_MAX = 10, FILES_MAX = 3 };

/* ---- in words ---- */

/* The function's name in a cell, without the "[.] " before it. */
static const char *bare(const char *cell)
{
	enum { MODE_WIDTH = 4 };

	return *cell == '[' && strlen(cell) > MODE_WIDTH ? cell + MODE_WIDTH : cell;
}

/* A function's name, else the first cell. */
static void add_subject(const struct delta *d, const struct delta_row *row, struct str *text)
{
	const struct celltext l = celltext_of(d->keys[0]);

	for (size_t i = 0; i < d->n_keys; i++)
		if (d->keys[i]->frame == KEY_SYMBOL) {
			str_add(text, bare(row->names[i]));
			return;
		}
	celltext_add(&l, &row->cells[0], text);
}

/* "0.513 s", "1.2e9": a mean. */
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

/* "is slower by 12% +- 3 (0.513 s -> 0.575 s)"; for events that do not count time "takes 12% +- 3 more". */
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

static void add_word(const struct delta *d, const struct significance *j, u32 i,
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

/* What all recordings took, and how much those of one side differ. */
static void add_sums(const struct significance *j, const struct delta *d,
	const struct diff_options *o, struct str *text)
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
		str_addf(text, "; most functions changed by %+.1f%%, what follows is beyond that",
			100 * (j->level - 1));
	str_addc(text, '\n');
}

/* Names the code without a name and partner, and says what to do. */
static void add_unpaired(const struct delta *d, struct str *text)
{
	static const char *const names[] = {"A", "B"};

	if (!d->unpaired[DELTA_A].n_rows)
		return;
	str_add(text, "# Not paired, because addresses identify functions within one build only:");
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

static void add_words(const struct delta *d, const struct significance *j, const u32 *order,
	const struct diff_options *o, struct str *text)
{
	size_t n = 0, n_words = 0;

	add_sums(j, d, o, text);
	add_unpaired(d, text);
	if (!j->has_variance) {
		str_add(text,
			d->is_usual
				? "# Fewer than three other days do not tell what is usual from chance\n#\n"
				: "# One recording on each side does not tell chance from change: several do (pace diff A1 A2 A3 -- B1 B2 B3)\n#\n");
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

/* ---- above the table ---- */

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

void diff_add_words(const struct delta *d, const struct significance *j, const char *event,
	const struct diff_options *o, struct str *text)
{
	u32 *order = diff_order(d, o);

	str_add(text, "# Event '");
	str_add_safe(text, event, strlen(event));
	str_add(text, "'\n#\n");
	if (!o->is_quiet && d->recordings.n > DELTA_SIDES)
		add_files(d, text);
	if (!o->is_quiet)
		add_words(d, j, order, o, text);
	mem_free(order);
}
