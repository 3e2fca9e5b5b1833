#include "profile/diff/delta.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "profile/diff/loosename.h"
#include "profile/diff/renaming.h"

/* ---- rows ---- */

void delta_init(struct delta *d, const struct key *const *keys, size_t n_keys,
	const struct delta_recording *recordings, size_t n)
{
	memset(d, 0, sizeof(*d));
	memcpy(d->keys, keys, n_keys * sizeof(*keys));
	d->n_keys = n_keys;
	for (size_t i = 0; i < n; i++) {
		vec_add(&d->recordings, recordings[i]);
		d->recordings.at[i].per = d->recordings.at[i].level = 1;
	}
}

void delta_fini(struct delta *d)
{
	vec_fini(&d->recordings);
	vec_fini(&d->rows);
	vec_fini(&d->builds);
	table_fini(&d->build_index);
	for (int side = 0; side < DELTA_SIDES; side++)
		vec_fini(&d->unpaired[side].files);
	table_fini(&d->index);
	intern_fini(&d->strings);
	arena_fini(&d->arena);
}

static u64 hash_of(const char *const *names, size_t n, const char *build)
{
	u64 hash = hash_mix(n, (u64)(uintptr_t)build);

	for (size_t i = 0; i < n; i++)
		hash = hash_mix(hash, (u64)(uintptr_t)names[i]);
	return hash;
}

/* The row with these names and this build, all interned; created if new. */
static struct delta_row *row_of(struct delta *d, const char *const *names, const char *build)
{
	u64 hash = hash_of(names, d->n_keys, build);
	struct table_probe probe = table_probe(&d->index, hash);
	struct delta_row *row;
	u32 i;

	while ((i = table_next(&d->index, &probe)) != TABLE_NONE)
		if (!memcmp(d->rows.at[i].names, names, d->n_keys * sizeof(*names)) &&
			d->rows.at[i].build == build)
			return &d->rows.at[i];
	table_add(&d->index, hash, d->rows.n);
	row = vec_push(&d->rows);
	*row = (struct delta_row){.build = build,
		.values = arena_zalloc(&d->arena, d->recordings.n * sizeof(*row->values)),
		.cells = arena_zalloc(&d->arena, d->n_keys * sizeof(*row->cells))};
	memcpy(row->names, names, d->n_keys * sizeof(*names));
	return row;
}

/* The symbol that a key's cell belongs to; 0: none. */
static u32 symbol_in(const struct key *key, const struct hist *h, const struct hist_entry *e)
{
	u64 value;

	if (key->frame == KEY_SYMBOL || key->frame == KEY_LINE)
		return e->symbol;
	if (!key->label || key->is_value || profile_kind(key->label) != PROFILE_FRAME)
		return 0;
	value = hist_label(h, e->group, key);
	if (!key->value)
		return h->profile->frames.at[value].symbol;
	return key->value == key_function_of ? (u32)value : 0;
}

/* The DSO of an entry with a cell that is identified only by its address; NULL if there is no such cell. */
static const struct profile_dso *dso_of_address(const struct delta *d, const struct hist *h,
	const struct hist_entry *e)
{
	for (size_t i = 0; i < d->n_keys; i++) {
		u32 symbol = symbol_in(d->keys[i], h, e);
		const struct profile_symbol *s = &h->profile->symbols.at[symbol];

		if (symbol && !profile_is_named(s))
			return &h->profile->dsos.at[s->dso];
	}
	return NULL;
}

/*
 * The build of a DSO. If it is unknown, a text that is unique to the recording: then addresses are the same only
 * within that recording.
 */
static const char *intern_build(struct delta *d, size_t recording, const struct profile_dso *dso)
{
	u32 same_as = d->recordings.at[recording].same_as;
	char unknown[32];

	snprintf(unknown, sizeof(unknown), "of recording %zu",
		same_as ? (size_t)same_as - 1 : recording);
	return intern_str(&d->strings, dso->build ? dso->build : unknown);
}

static struct delta_build *find_build(const struct delta *d, const char *build)
{
	struct table_probe probe = table_probe(&d->build_index, hash_u64((uintptr_t)build));
	u32 i;

	while ((i = table_next(&d->build_index, &probe)) != TABLE_NONE)
		if (d->builds.at[i].build == build)
			return &d->builds.at[i];
	return NULL;
}

static struct delta_build *get_build(struct delta *d, const char *build)
{
	struct delta_build *known = find_build(d, build);

	if (known)
		return known;
	table_add(&d->build_index, hash_u64((uintptr_t)build), (u32)d->builds.n);
	vec_add(&d->builds, ((struct delta_build){.build = build}));
	return &d->builds.at[d->builds.n - 1];
}

/* Notes the builds that a recording has samples of. */
static void note_builds(struct delta *d, size_t recording, const struct profile *p)
{
	u8 side = d->recordings.at[recording].side;

	vec_each(dso, &p->dsos)
		get_build(d, intern_build(d, recording, dso))->is_in[side] = true;
}

static const char *intern_text(struct delta *d, const char *text)
{
	return text ? intern_str(&d->strings, text) : NULL;
}

/* Copies a cell, with its texts interned in the delta. */
static void keep_cell(struct delta *d, struct cell *to, const struct cell *from)
{
	*to = *from;
	to->text = intern_text(d, to->text);
	to->name = intern_text(d, to->name);
}

static void keep_cells(struct delta *d, struct delta_row *row, const struct cell *cells,
	const struct hist *h, const struct hist_entry *e)
{
	struct str room = {0};
	struct cell about = {0};

	for (size_t i = 0; i < d->n_keys; i++)
		keep_cell(d, &row->cells[i], &cells[i]);
	if (!d->about)
		return;
	d->about->cell(&(struct key_value){.hist = h,
			       .entry = e,
			       .label = hist_label(h, e->group, d->keys[0]),
			       .room = &room},
		&about);
	keep_cell(d, &row->about, &about);
	str_fini(&room);
}

/* Notes what each sample stands for. rows: of the delta, by group of the histogram. */
static void add_amounts(struct delta *d, size_t recording, const struct hist *h, const u32 *rows)
{
	const struct profile *p = h->profile;

	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *from = &p->rows.at[i];
		const u32 at =
			from->event == h->events[0].event ? rows[h->group_of_row[i]] : TABLE_NONE;
		struct delta_amount *amount;
		struct delta_value *value;

		if (at == TABLE_NONE || !from->n_samples)
			continue;
		value = &d->rows.at[at].values[recording];
		amount = arena_alloc(&d->arena, sizeof(*amount));
		*amount = (struct delta_amount){value->amounts, from->period / from->n_samples,
			from->n_samples};
		value->amounts = amount;
	}
}

void delta_add(struct delta *d, size_t recording, const struct hist *h)
{
	struct delta_recording *r = &d->recordings.at[recording];
	const char *names[HIST_KEYS_MAX];
	struct cell cells[HIST_KEYS_MAX];
	struct str rooms[HIST_KEYS_MAX] = {0}, text = {0};
	u32 *rows = mem_alloc((h->n_groups + 1) * sizeof(*rows));

	memset(rows, 0xff, (h->n_groups + 1) * sizeof(*rows));
	vec_each(e, &h->entries) {
		const struct hist_value *value =
			h->options->has_children ? &e->of[0].total : &e->of[0].self;
		const struct profile_dso *addressed = dso_of_address(d, h, e);
		struct delta_row *row;

		for (size_t i = 0; i < d->n_keys; i++) {
			str_clear(&text);
			key_cell(d->keys[i], h, e, 0, &rooms[i], &cells[i]);
			cells[i].level = d->ignores_modes ? 0 : cells[i].level;
			cell_add_text(&cells[i], &text);
			str_add(&text, cells[i].reason ? cells[i].reason : "");
			names[i] = intern_add(&d->strings, str_text(&text), text.n);
		}
		row = row_of(d, names, addressed ? intern_build(d, recording, addressed) : NULL);
		if (addressed)
			row->file = intern_str(&d->strings, addressed->name);
		if (!row->is_in[DELTA_A] && !row->is_in[DELTA_B])
			keep_cells(d, row, cells, h, e);
		rows[e->group] = (u32)(row - d->rows.at);
		row->is_in[r->side] = true;
		/* Rows that differ only in what no key prints (two files with one name) are one row. */
		row->values[recording].period += value->period;
		row->values[recording].n_samples += value->n_samples;
	}
	if (d->has_amounts)
		add_amounts(d, recording, h, rows);
	mem_free(rows);
	note_builds(d, recording, h->profile);
	/* These include rows that a filter removed. */
	r->period = h->profile->events.at[h->events[0].event].period;
	r->n_samples = h->profile->events.at[h->events[0].event].n_samples;
	str_fini(&text);
	for (size_t i = 0; i < d->n_keys; i++)
		str_fini(&rooms[i]);
}

double delta_share(const struct delta *d, const struct delta_row *row, size_t recording)
{
	u64 all = d->recordings.at[recording].period;

	return all ? (double)row->values[recording].period / (double)all : 0;
}

double delta_side_share(const struct delta *d, const struct delta_row *row, int side)
{
	double sum = 0;
	size_t n = 0;

	vec_each(r, &d->recordings) {
		if (r->side != side)
			continue;
		sum += delta_share(d, row, r - d->recordings.at);
		n++;
	}
	return n ? sum / (double)n : 0;
}

/* ---- pairs ---- */

size_t delta_column(const struct delta *d, enum key_frame frame)
{
	size_t i = 0;

	while (i < d->n_keys && d->keys[i]->frame != frame)
		i++;
	return i;
}

static bool is_alone(const struct delta_row *row, int side)
{
	return !row->is_gone && row->is_in[side] && !row->is_in[!side];
}

static void append(struct delta_amount **to, struct delta_amount *list)
{
	while (*to)
		to = &(*to)->next;
	*to = list;
}

/* Makes a row of B a part of a row of A. */
static void take_in(struct delta *d, struct delta_row *a, struct delta_row *b)
{
	size_t symbol = delta_column(d, KEY_SYMBOL);

	for (size_t i = 0; i < d->recordings.n; i++) {
		a->values[i].period += b->values[i].period;
		a->values[i].n_samples += b->values[i].n_samples;
		append(&a->values[i].amounts, b->values[i].amounts);
	}
	a->is_in[DELTA_B] = b->is_gone = true;
	if (symbol < d->n_keys && a->names[symbol] != b->names[symbol])
		a->was = b->names[symbol];
}

static void add_loose_cells(const struct delta *d, const struct delta_row *row,
	const struct renaming *names, struct str *text)
{
	for (size_t i = 0; i < d->n_keys; i++) {
		const char *cell = row->names[i];

		if (d->keys[i]->frame == KEY_DSO)
			loosename_add_file(renaming_of(names, cell), text);
		else if (d->keys[i]->frame == KEY_SYMBOL)
			loosename_add_function(cell, text);
		else
			str_add(text, cell);
		str_addc(text, '\n');
	}
	str_add(text, row->build ? row->build : "");
}

/* Sets the loose names of the rows without a partner on one side, and adds them to the index. */
static void index_side(struct delta *d, int side, const struct renaming *names, const char **loose,
	struct table *index)
{
	struct str text = {0};

	vec_each(row, &d->rows) {
		u32 i = row - d->rows.at;

		if (!is_alone(row, side))
			continue;
		str_clear(&text);
		add_loose_cells(d, row, names, &text);
		loose[i] = intern_add(&d->strings, str_text(&text), text.n);
		if (index)
			table_add(index, hash_mix((u64)(uintptr_t)loose[i], 1), i);
	}
	str_fini(&text);
}

/* The only row of A with this loose name; NULL if there is none, or several. */
static struct delta_row *only_partner(struct delta *d, const struct table *index,
	const char *const *loose, const char *name)
{
	struct table_probe probe = table_probe(index, hash_mix((u64)(uintptr_t)name, 1));
	struct delta_row *found = NULL;
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE) {
		if (loose[i] != name || !is_alone(&d->rows.at[i], DELTA_A))
			continue;
		if (found)
			return NULL;
		found = &d->rows.at[i];
	}
	return found;
}

static void pair_by_loose_names(struct delta *d, const struct renaming *names)
{
	const char **loose = mem_zalloc((d->rows.n + 1) * sizeof(*loose));
	struct table index = {0};

	index_side(d, DELTA_A, &(struct renaming){0}, loose, &index);
	index_side(d, DELTA_B, names, loose, NULL);
	vec_each(row, &d->rows) {
		struct delta_row *partner;

		if (!is_alone(row, DELTA_B))
			continue;
		partner = only_partner(d, &index, loose, loose[row - d->rows.at]);
		if (partner)
			take_in(d, partner, row);
	}
	table_fini(&index);
	mem_free(loose);
}

/* ---- rows that cannot be paired ---- */

static bool has_build(const struct delta *d, int side, const char *build)
{
	const struct delta_build *b = find_build(d, build);

	return b && b->is_in[side];
}

static void add_unpaired(struct delta *d, struct delta_row *row, int side)
{
	struct delta_unpaired *u = &d->unpaired[side];

	row->is_unpaired = true;
	u->n_rows++;
	u->share += delta_side_share(d, row, side);
	vec_each(file, &u->files)
		if (*file == row->file)
			return;
	vec_add(&u->files, row->file);
}

/* Finds the rows of one side whose builds the other side does not have. */
static void find_foreign(struct delta *d, int side)
{
	const char *last = NULL;
	bool is_foreign = false;

	vec_each(row, &d->rows) {
		if (!row->build || !is_alone(row, side))
			continue;
		if (row->build != last)
			is_foreign = !has_build(d, !side, row->build);
		last = row->build;
		if (is_foreign)
			add_unpaired(d, row, side);
	}
}

/* A row may have an unknown partner only if both sides have such rows: else it is new, or gone. */
static void find_unpaired(struct delta *d)
{
	for (int side = 0; side < DELTA_SIDES; side++)
		find_foreign(d, side);
	if (d->unpaired[DELTA_A].n_rows && d->unpaired[DELTA_B].n_rows)
		return;
	vec_each(row, &d->rows)
		row->is_unpaired = false;
	for (int side = 0; side < DELTA_SIDES; side++) {
		vec_fini(&d->unpaired[side].files);
		d->unpaired[side] = (struct delta_unpaired){0};
	}
}

void delta_pair(struct delta *d)
{
	struct renaming names;
	size_t kept = 0;

	renaming_find(&names, d);
	pair_by_loose_names(d, &names);
	renaming_fini(&names);
	/* Rows move now, so the index becomes invalid. */
	table_fini(&d->index);
	memset(&d->index, 0, sizeof(d->index));
	vec_each(row, &d->rows)
		if (!row->is_gone)
			d->rows.at[kept++] = *row;
	d->rows.n = kept;
	find_unpaired(d);
}

/* ---- level ---- */

enum { LEVEL_ROWS_MIN = 5, LEVEL_SAMPLES_MIN = 5, LEVEL_VOICES = 10 };

/* Whether every recording has enough samples of a row to tell its speed. */
static bool tells_level(const struct delta *d, const struct delta_row *row)
{
	for (size_t i = 0; i < d->recordings.n; i++)
		if (row->values[i].n_samples < LEVEL_SAMPLES_MIN)
			return false;
	return true;
}

/* How much a row tells of the level: few samples tell little, and no row alone moves it. */
static double level_weight(const struct delta *d, const struct delta_row *row)
{
	u64 n = 0, all = 0;

	for (size_t i = 0; i < d->recordings.n; i++) {
		n += row->values[i].n_samples;
		all += d->recordings.at[i].n_samples;
	}
	return fmin((double)n, (double)all / LEVEL_VOICES);
}

struct level_vote {
	double log, weight;
};

SORT_BY(by_log, struct level_vote, log)

/* Half of the weight is on each side of it. */
static double weighted_median(struct level_vote *votes, size_t n)
{
	double all = 0, sum = 0;
	size_t i = 0;

	qsort(votes, n, sizeof(*votes), by_log);
	for (size_t k = 0; k < n; k++)
		all += votes[k].weight;
	while (i + 1 < n && (sum += votes[i].weight) < all / 2 * (1 - 1e-9))
		i++;
	return i + 1 < n && sum <= all / 2 * (1 + 1e-9) ? (votes[i].log + votes[i + 1].log) / 2
							: votes[i].log;
}

bool delta_level(struct delta *d)
{
	struct level_vote *votes = mem_alloc((d->rows.n + 1) * sizeof(*votes));
	double *middles = mem_zalloc((d->rows.n + 1) * sizeof(*middles)), of_a = 0;
	size_t n = 0, n_a = 0;

	vec_each(row, &d->rows) {
		if (!tells_level(d, row))
			continue;
		for (size_t i = 0; i < d->recordings.n; i++)
			middles[n] += log(delta_per(d, row, i)) / (double)d->recordings.n;
		n++;
	}
	for (size_t i = 0; n >= LEVEL_ROWS_MIN && i < d->recordings.n; i++) {
		struct delta_recording *r = &d->recordings.at[i];
		size_t k = 0;

		vec_each(row, &d->rows)
			if (tells_level(d, row)) {
				votes[k].log = log(delta_per(d, row, i)) - middles[k];
				votes[k].weight = level_weight(d, row);
				k++;
			}
		r->level = exp(weighted_median(votes, n));
		of_a += r->side == DELTA_A ? log(r->level) : 0;
		n_a += r->side == DELTA_A;
	}
	/* The baseline keeps its level of 1. */
	vec_each(r, &d->recordings)
		if (n >= LEVEL_ROWS_MIN)
			r->level /= exp(of_a / (double)n_a);
	mem_free(votes);
	mem_free(middles);
	return n >= LEVEL_ROWS_MIN;
}
