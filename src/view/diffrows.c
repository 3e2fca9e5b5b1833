#include "view/diffrows.h"

#include <math.h>

#include "view/celltext.h"

/* What a column is made of. Those of a recording have its number behind OF_RECORDING. */
enum id {
	OF_KEY, /* + position of the key */
	OF_BASELINE = HIST_KEYS_MAX,
	OF_SIDES,
	OF_CHANGE,
	OF_SIGN,
	OF_WAS,
	OF_STATE,
	OF_A,
	OF_B,
	OF_RATIO,
	OF_RATIO_LOW,
	OF_RATIO_HIGH,
	OF_P,
	OF_Q,
	OF_SIGNIFICANT,
	OF_SAMPLES,
	OF_PERIOD,
	OF_SHARE,
	OF_RECORDING, /* + 3 * its number: figure, period, formula */
};

enum { FIGURE, PERIOD, FORMULA, FIGURES };

/* ---- cells ---- */

/* Programs get nine digits of it. */
static void set_real(double v, struct cell *ret)
{
	cell_real(ret, v, 9);
	ret->is_significant = true;
}

static void set_percent(double share, struct cell *ret)
{
	cell_real(ret, 100 * share, 2);
	ret->unit = "%";
}

/* What it means that one side has nothing of a row. */
static const char *lack(const struct delta_row *row, bool has_a)
{
	return row->is_unpaired ? "not paired" : has_a ? "gone" : "new";
}

/* "+12% +- 3": what a row changed by, levelled or however it was made comparable. */
static void set_change(const struct delta_row *row, const struct judgement *j, struct str *room,
	struct cell *ret)
{
	double percent = 100 * (j->ratio - 1);
	int digits = fabs(percent) < 10;

	if (j->mean[DELTA_A] > 0 && j->mean[DELTA_B] > 0 && !isnan(j->half))
		str_addf(room, "%+.*f%% +- %.*f", digits, percent, digits, 100 * j->half);
	else if (!(j->mean[DELTA_A] > 0) || !(j->mean[DELTA_B] > 0))
		str_add(room, lack(row, j->mean[DELTA_A] > 0));
	cell_text(ret, str_text(room));
}

/* The figure of one recording against the first. */
static void set_figure(const struct diffrows *r, const struct delta_row *row, size_t recording,
	struct cell *ret)
{
	const struct delta *d = r->delta;
	const struct diff_options *o = r->options;
	const struct delta_value *a = &row->values[0], *b = &row->values[recording];

	if (!a->n_samples && !b->n_samples)
		return;
	switch (o->method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		set_percent(delta_share(d, row, recording) - delta_share(d, row, 0), ret);
		return;
	case DIFF_RATIO:
		if (a->period && b->n_samples)
			cell_real(ret, (double)b->period / (double)a->period, 6);
		else
			cell_text(ret, lack(row, a->n_samples != 0));
		return;
	case DIFF_WDIFF:
		cell_real(ret,
			(double)b->period * (double)o->weights[DELTA_B] -
				(double)a->period * (double)o->weights[DELTA_A],
			0);
		return;
	}
}

static void set_formula(const struct diffrows *r, const struct delta_row *row, size_t recording,
	struct str *room, struct cell *ret)
{
	const struct delta *d = r->delta;
	const struct diff_options *o = r->options;
	unsigned long long a = row->values[0].period, b = row->values[recording].period;

	switch (o->method) {
	case DIFF_DELTA:
	case DIFF_DELTA_ABS:
		str_addf(room, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", b,
			(unsigned long long)d->recordings.at[recording].period, a,
			(unsigned long long)d->recordings.at[0].period);
		break;
	case DIFF_RATIO:
		str_addf(room, "%llu / %llu", b, a);
		break;
	case DIFF_WDIFF:
		str_addf(room, "(%llu * %llu) - (%llu * %llu)", b,
			(unsigned long long)o->weights[DELTA_B], a,
			(unsigned long long)o->weights[DELTA_A]);
		break;
	}
	cell_text(ret, str_text(room));
}

static void set_of_recording(const struct diffrows *r, const struct delta_row *row, u32 id,
	struct str *room, struct cell *ret)
{
	const size_t recording = id / FIGURES;

	if (id % FIGURES == FIGURE)
		set_figure(r, row, recording, ret);
	else if (id % FIGURES == PERIOD)
		cell_number(ret, CELL_COUNT, row->values[recording].period);
	else
		set_formula(r, row, recording, room, ret);
}

static void set_side(const struct diffrows *r, const struct delta_row *row, enum id id,
	struct cell *ret)
{
	const double a = delta_side_share(r->delta, row, DELTA_A),
		     b = delta_side_share(r->delta, row, DELTA_B);

	if (id == OF_SIDES)
		set_percent(b - a, ret);
	else if (r->options->has_sides ? row->is_in[DELTA_A] : row->values[0].n_samples > 0)
		set_percent(r->options->has_sides ? a : delta_share(r->delta, row, 0), ret);
}

static const char *state_of(const struct delta_row *row)
{
	return row->is_unpaired        ? "unpaired"
		: !row->is_in[DELTA_A] ? "new"
		: !row->is_in[DELTA_B] ? "gone"
				       : "both";
}

static void set_judgement(const struct delta_row *row, const struct judgement *j, enum id id,
	struct cell *ret)
{
	const double reals[] = {[OF_A - OF_A] = j->mean[DELTA_A],
		[OF_B - OF_A] = j->mean[DELTA_B],
		[OF_RATIO - OF_A] = j->ratio,
		[OF_RATIO_LOW - OF_A] = j->ratio - j->half,
		[OF_RATIO_HIGH - OF_A] = j->ratio + j->half,
		[OF_P - OF_A] = j->p,
		[OF_Q - OF_A] = j->q};

	if (id == OF_STATE)
		cell_text(ret, state_of(row));
	else if (id == OF_SIGNIFICANT)
		cell_number(ret, CELL_BOOL, j->is_significant);
	else if (id != OF_WAS)
		set_real(reals[id - OF_A], ret);
	else if (row->was)
		cell_text(ret, row->was);
}

/* Programs get words where texts are not known, and functions with where they run. */
static void set_key(const struct key *key, const struct cell *cell, bool is_data, struct str *room,
	struct cell *ret)
{
	const struct celltext t = celltext_of(key, NULL);

	*ret = *cell;
	if (!is_data)
		return;
	ret->name = NULL;
	if (ret->kind == CELL_FUNCTION)
		ret->kind = CELL_PLACE;
	if (!ret->reason)
		return;
	celltext_add(&t, cell, room);
	*ret = (struct cell){0};
	cell_text(ret, cell_is_number(key->kind) ? NULL : str_text(room));
}

static void cell_of(const struct rowset *rows, const struct rowset_column *c, size_t at, u32 part,
	struct str *room, struct cell *ret)
{
	const struct diffrows *r = rows->of;
	const struct delta_row *row = &r->delta->rows.at[r->order[at]];
	const struct judgement *j = &r->judge->rows.at[r->order[at]];
	const struct delta_value *v = &row->values[part];

	if (c->id < OF_BASELINE)
		set_key(c->key, &row->cells[c->id], c->is_data, room, ret);
	else if (c->id >= OF_RECORDING)
		set_of_recording(r, row, c->id - OF_RECORDING, room, ret);
	else if (c->id == OF_BASELINE || c->id == OF_SIDES)
		set_side(r, row, c->id, ret);
	else if (c->id == OF_CHANGE)
		set_change(row, j, room, ret);
	else if (c->id == OF_SIGN)
		cell_text(ret, j->is_significant ? "*" : "");
	else if (c->id == OF_SHARE)
		set_real(delta_share(r->delta, row, part), ret);
	else if (c->id == OF_SAMPLES || c->id == OF_PERIOD)
		cell_number(ret, CELL_COUNT, c->id == OF_SAMPLES ? v->n_samples : v->period);
	else
		set_judgement(row, j, c->id, ret);
	if (j->is_significant)
		ret->spans |= CELL_IS_CHANGED;
}

static bool shows(const struct rowset *rows, size_t at)
{
	const struct diffrows *r = rows->of;
	const struct delta_row *row = &r->delta->rows.at[r->order[at]];
	double most = 0;

	for (size_t i = 0; i < r->delta->recordings.n; i++)
		most = fmax(most, delta_share(r->delta, row, i));
	return 100 * most >= r->options->limit &&
		(!r->options->is_in_baseline_only || row->is_in[DELTA_A]);
}

/* ---- what is compared ---- */

enum head_id {
	HEAD_EVENT,
	HEAD_PER,
	HEAD_FILE,
	HEAD_SIDE,
	HEAD_SAMPLES,
	HEAD_PERIOD,
	HEAD_SUM_A,
	HEAD_SUM_B,
	HEAD_LEVEL,
	HEAD_NOISE_A,
	HEAD_NOISE_B,
	HEAD_UNPAIRED_A,
	HEAD_UNPAIRED_B,
};

static const struct rowset_column facts[] = {
	{"event", "Event", ROWSET_FACT, CELL_TEXT, .id = HEAD_EVENT},
	{"normalised_by", "Normalised by", ROWSET_FACT, CELL_TEXT, .id = HEAD_PER},
	{"file", "File", ROWSET_PART, CELL_TEXT, true, .id = HEAD_FILE},
	{"side", "Side", ROWSET_PART, CELL_TEXT, true, .id = HEAD_SIDE},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true, .id = HEAD_SAMPLES},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = HEAD_PERIOD},
	{"sum_a", "Sum A", ROWSET_SUM, CELL_REAL, .id = HEAD_SUM_A},
	{"sum_b", "Sum B", ROWSET_SUM, CELL_REAL, .id = HEAD_SUM_B},
	{"level", "Level", ROWSET_SUM, CELL_REAL, .id = HEAD_LEVEL},
	{"noise_a", "Noise A", ROWSET_SUM, CELL_REAL, .id = HEAD_NOISE_A},
	{"noise_b", "Noise B", ROWSET_SUM, CELL_REAL, .id = HEAD_NOISE_B},
	{"unpaired_a", "Not paired A", ROWSET_SUM, CELL_REAL, .id = HEAD_UNPAIRED_A},
	{"unpaired_b", "Not paired B", ROWSET_SUM, CELL_REAL, .id = HEAD_UNPAIRED_B},
};

static void fact_of(const struct rowset *rows, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	static const char *const pers[] = {[DIFF_PER_LEVEL] = "level",
		[DIFF_PER_RUN] = "run",
		[DIFF_PER_TOTAL] = "total",
		[DIFF_PER_EVENT] = "event"};
	const struct diffrows *r = rows->of;
	const struct delta_recording *recording = &r->delta->recordings.at[part];
	const struct judge *j = r->judge;
	const double sums[] = {j->sum[DELTA_A], j->sum[DELTA_B], j->level, j->noise[DELTA_A],
		j->noise[DELTA_B], r->delta->unpaired[DELTA_A].share,
		r->delta->unpaired[DELTA_B].share};

	(void)row;
	(void)room;
	if (c->id == HEAD_EVENT)
		cell_text(ret, r->event);
	else if (c->id == HEAD_PER)
		cell_text(ret, pers[r->options->per]);
	else if (c->id == HEAD_FILE)
		cell_text(ret, recording->name);
	else if (c->id == HEAD_SIDE)
		cell_text(ret, recording->side == DELTA_A ? "A" : "B");
	else if (c->id == HEAD_SAMPLES || c->id == HEAD_PERIOD)
		cell_number(ret, CELL_COUNT,
			c->id == HEAD_SAMPLES ? recording->n_samples : recording->period);
	else
		set_real(sums[c->id - HEAD_SUM_A], ret);
}

/* ---- columns ---- */

static const struct rowset_column of_programs[] = {
	{"symbol_in_b", "In B", ROWSET_FACT, CELL_TEXT, .id = OF_WAS},
	{"state", "State", ROWSET_FACT, CELL_TEXT, .id = OF_STATE},
	{"a", "A", ROWSET_FACT, CELL_REAL, .id = OF_A},
	{"b", "B", ROWSET_FACT, CELL_REAL, .id = OF_B},
	{"ratio", "Ratio", ROWSET_FACT, CELL_REAL, .id = OF_RATIO},
	{"ratio_low", "Low", ROWSET_FACT, CELL_REAL, .id = OF_RATIO_LOW},
	{"ratio_high", "High", ROWSET_FACT, CELL_REAL, .id = OF_RATIO_HIGH},
	{"p", "p", ROWSET_FACT, CELL_REAL, .id = OF_P},
	{"q", "q", ROWSET_FACT, CELL_REAL, .id = OF_Q},
	{"significant", "Significant", ROWSET_FACT, CELL_BOOL, .id = OF_SIGNIFICANT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true, .id = OF_SAMPLES},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = OF_PERIOD},
	{"share", "Share", ROWSET_VALUE, CELL_REAL, true, .id = OF_SHARE},
};

static const struct {
	const char *name, *title;
} methods[] = {
	[DIFF_DELTA_ABS] = {"delta_abs", "Delta Abs"},
	[DIFF_DELTA] = {"delta", "Delta"},
	[DIFF_RATIO] = {"delta_ratio", "Ratio"},
	[DIFF_WDIFF] = {"delta_weighted", "Weighted diff"},
};

/* recording: whose column it is; -1: it is of all. */
static void show(struct diffrows *r, const char *name, const char *title, long recording, u32 id)
{
	struct rowset_column *c = vec_push(&r->shown);
	const bool is_numbered = recording >= 0 && r->delta->recordings.n > DELTA_SIDES;
	struct str text = {0};

	str_add(&text, title);
	if (is_numbered)
		str_addf(&text, "/%ld", recording);
	*c = (struct rowset_column){name, arena_strdup(&r->titles, str_text(&text), text.n),
		ROWSET_VALUE, CELL_TEXT, .id = (u16)id};
	str_fini(&text);
}

static void choose_shown(struct diffrows *r)
{
	const struct diff_options *o = r->options;

	show(r, "baseline", "Baseline", o->has_sides ? -1 : 0, OF_BASELINE);
	if (o->has_sides) {
		show(r, "delta_abs", methods[DIFF_DELTA_ABS].title, -1, OF_SIDES);
		show(r, "delta_change", "Change", -1, OF_CHANGE);
		show(r, "delta_sign", "", -1, OF_SIGN);
		return;
	}
	if (o->has_periods)
		show(r, "delta_period", "Base period", 0, OF_RECORDING + PERIOD);
	for (u32 i = 1; i < r->delta->recordings.n; i++) {
		const u32 id = OF_RECORDING + FIGURES * i;

		show(r, methods[o->method].name, methods[o->method].title, i, id + FIGURE);
		if (o->has_periods)
			show(r, "delta_period", "Period", i, id + PERIOD);
		if (o->has_formula)
			show(r, "delta_formula", "Formula", i, id + FORMULA);
	}
}

void diffrows_init(struct diffrows *r, const struct delta *d, const struct judge *j,
	const char *event, const struct diff_options *o, bool is_data)
{
	*r = (struct diffrows){.delta = d, .judge = j, .options = o, .event = event};
	r->order = diff_order(d, o);
	choose_shown(r);
	for (u16 i = 0; i < d->n_keys; i++) {
		struct rowset_column c = {d->keys[i]->name, d->keys[i]->title, ROWSET_KEY,
			d->keys[i]->kind, .id = OF_KEY + i, .key = d->keys[i]};

		vec_add(&r->shown, c);
		c.is_data = true;
		vec_add(&r->columns, c);
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_programs); i++)
		vec_add(&r->columns, of_programs[i]);
	r->head = (struct rowset){.columns = facts,
		.n_columns = ARRAY_SIZE(facts),
		.n = 1,
		.n_parts = d->recordings.n,
		.parts_name = "recordings",
		.of = r,
		.cell = fact_of};
	r->rows = (struct rowset){.columns = r->columns.at,
		.shown = r->shown.at,
		.n_columns = r->columns.n,
		.n_shown = r->shown.n,
		.n = d->rows.n,
		.n_parts = d->recordings.n,
		.parts_name = "values",
		.head = &r->head,
		.of = r,
		.cell = cell_of,
		.shows = is_data ? NULL : shows};
}

void diffrows_fini(struct diffrows *r)
{
	vec_fini(&r->columns);
	vec_fini(&r->shown);
	arena_fini(&r->titles);
	mem_free(r->order);
}
