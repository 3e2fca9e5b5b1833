/*
 * diff_json.c - a comparison as one JSON object.
 */
#include <math.h>

#include "base/json.h"
#include "view/diff.h"
#include "view/celltext.h"

enum { VERSION = 3 };

static void add_double(struct str *text, const char *key, double v)
{
	if (!isfinite(v)) {
		json_null(text, key);
		return;
	}
	json_key(text, key);
	str_addf(text, "%.9g,", v);
}

static void add_bool(struct str *text, const char *key, bool v)
{
	json_key(text, key);
	str_add(text, v ? "true," : "false,");
}

static void add_recordings(const struct delta *d, struct str *text)
{
	json_key(text, "recordings");
	str_addc(text, '[');
	vec_each(r, &d->recordings) {
		str_addc(text, '{');
		json_text(text, "file", r->name);
		json_text(text, "side", r->side == DELTA_A ? "A" : "B");
		json_u64(text, "samples", r->n_samples);
		json_u64(text, "period", r->period);
		json_end(text, '}');
		str_addc(text, ',');
	}
	json_end(text, ']');
	str_addc(text, ',');
}

static void add_values(const struct delta *d, const struct delta_row *row, struct str *text)
{
	json_key(text, "values");
	str_addc(text, '[');
	for (size_t i = 0; i < d->recordings.n; i++) {
		str_addc(text, '{');
		json_u64(text, "samples", row->values[i].n_samples);
		json_u64(text, "period", row->values[i].period);
		add_double(text, "share", delta_share(d, row, i));
		json_end(text, '}');
		str_addc(text, ',');
	}
	json_end(text, ']');
	str_addc(text, ',');
}

static void add_key(const struct delta *d, const struct delta_row *row, size_t i, struct str *text)
{
	const struct key *key = d->keys[i];
	const struct cell *cell = &row->cells[i];
	const struct celltext l = celltext_of(key, NULL);
	struct str value = {0};

	if (cell_is_number(cell->kind)) {
		cell_add_data(cell, &value);
		json_raw(text, key->name, str_text(&value));
	} else if (cell_is_number(key->kind)) {
		json_null(text, key->name);
	} else {
		celltext_add(&l, cell, &value);
		json_text(text, key->name, str_text(&value));
	}
	str_fini(&value);
}

static void add_row(const struct delta *d, const struct delta_row *row, const struct judgement *j,
	struct str *text)
{
	str_addc(text, '{');
	for (size_t i = 0; i < d->n_keys; i++)
		add_key(d, row, i, text);
	if (row->was)
		json_text(text, "symbol_in_b", row->was);
	json_text(text, "state",
		row->is_unpaired               ? "unpaired"
			: !row->is_in[DELTA_A] ? "new"
			: !row->is_in[DELTA_B] ? "gone"
					       : "both");
	add_double(text, "a", j->mean[DELTA_A]);
	add_double(text, "b", j->mean[DELTA_B]);
	add_double(text, "ratio", j->ratio);
	add_double(text, "ratio_low", j->ratio - j->half);
	add_double(text, "ratio_high", j->ratio + j->half);
	add_double(text, "p", j->p);
	add_double(text, "q", j->q);
	add_bool(text, "significant", j->is_significant);
	add_values(d, row, text);
	json_end(text, '}');
	str_addc(text, ',');
}

void diff_add_json(const struct delta *d, const struct judge *j, const char *event,
	const struct diff_options *o, struct str *text)
{
	static const char *const pers[] = {[DIFF_PER_LEVEL] = "level",
		[DIFF_PER_RUN] = "run",
		[DIFF_PER_TOTAL] = "total",
		[DIFF_PER_EVENT] = "event"};
	u32 *order = diff_order(d, o);

	str_addc(text, '{');
	json_text(text, "event", event);
	json_text(text, "normalised_by", pers[o->per]);
	add_recordings(d, text);
	add_double(text, "sum_a", j->sum[DELTA_A]);
	add_double(text, "sum_b", j->sum[DELTA_B]);
	add_double(text, "level", j->level);
	add_double(text, "noise_a", j->noise[DELTA_A]);
	add_double(text, "noise_b", j->noise[DELTA_B]);
	add_double(text, "unpaired_a", d->unpaired[DELTA_A].share);
	add_double(text, "unpaired_b", d->unpaired[DELTA_B].share);
	json_key(text, "rows");
	str_addc(text, '[');
	for (size_t i = 0; i < d->rows.n; i++)
		add_row(d, &d->rows.at[order[i]], &j->rows.at[order[i]], text);
	json_end(text, ']');
	str_addc(text, ',');
	json_end(text, '}');
	mem_free(order);
}

void diff_begin_json(struct str *text)
{
	str_addc(text, '{');
	json_u64(text, "version", VERSION);
	json_key(text, "events");
	str_addc(text, '[');
}

void diff_end_json(struct str *text)
{
	str_add(text, "]}\n");
}
