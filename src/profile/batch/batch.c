#include "profile/batch/batch.h"

#include <string.h>

#include "base/hash.h"

/* ---- texts ---- */

static bool is_text(const struct batch_text *t, const char *at, size_t n)
{
	return t->n == n && !memcmp(t->at, at, n);
}

u32 batch_text(struct batch *b, const char *at, size_t n)
{
	const u64 hash = hash_bytes(at, n);
	struct table_probe probe = table_probe(&b->text_index, hash);
	u32 i;

	while ((i = table_next(&b->text_index, &probe)) != TABLE_NONE)
		if (is_text(&b->texts.at[i], at, n))
			return i;
	i = (u32)b->texts.n;
	table_add(&b->text_index, hash, i);
	vec_add(&b->texts, ((struct batch_text){arena_strdup(&b->arena, at, n), (u32)n}));
	return i;
}

u32 batch_add_string(struct batch *b, const char *text)
{
	return text ? batch_text(b, text, strlen(text)) : 0;
}

/* ---- frames and stacks ---- */

static bool is_frame(const struct batch_frame *a, const struct batch_frame *b)
{
	return a->name == b->name && a->file == b->file && a->build == b->build &&
		a->mode == b->mode && a->is_named == b->is_named && a->is_inlined == b->is_inlined;
}

u32 batch_frame(struct batch *b, const struct batch_frame *f)
{
	u64 hash = hash_mix((u64)f->name << 32 | f->file, f->build);
	struct table_probe probe;
	u32 i;

	hash = hash_mix(hash, (u64)f->mode << 16 | (u64)f->is_named << 8 | f->is_inlined);
	probe = table_probe(&b->frame_index, hash);
	while ((i = table_next(&b->frame_index, &probe)) != TABLE_NONE)
		if (is_frame(&b->frames.at[i], f))
			return i;
	i = (u32)b->frames.n;
	table_add(&b->frame_index, hash, i);
	vec_add(&b->frames, *f);
	return i;
}

/* The same on every machine and in every version: eight bytes at a time, little-endian. */
static u64 hash_text(u64 hash, const struct batch_text *t)
{
	hash = hash_lasting(hash, t->n);
	for (size_t i = 0; i < t->n; i += 8) {
		u64 word = 0;

		for (size_t k = 0; k < 8 && i + k < t->n; k++)
			word |= (u64)(u8)t->at[i + k] << 8 * k;
		hash = hash_lasting(hash, word);
	}
	return hash;
}

static u64 hash_of_stack(const struct batch *b, u32 parent, u32 frame)
{
	const struct batch_frame *f = &b->frames.at[frame];
	u64 hash = hash_lasting(b->stacks.at[parent].hash, (u64)f->mode << 8 | f->is_inlined);

	hash = hash_text(hash, &b->texts.at[f->name]);
	hash = hash_text(hash, &b->texts.at[f->file]);
	return f->build ? hash_text(hash, &b->texts.at[f->build]) : hash;
}

u32 batch_stack(struct batch *b, u32 parent, u32 frame)
{
	const u64 hash = hash_u64((u64)parent << 32 | frame);
	struct table_probe probe = table_probe(&b->stack_index, hash);
	u32 i;

	while ((i = table_next(&b->stack_index, &probe)) != TABLE_NONE)
		if (b->stacks.at[i].parent == parent && b->stacks.at[i].frame == frame)
			return i;
	i = (u32)b->stacks.n;
	table_add(&b->stack_index, hash, i);
	vec_add(&b->stacks, ((struct batch_stack){parent, frame, hash_of_stack(b, parent, frame)}));
	return i;
}

/* ---- rows ---- */

u32 batch_event(struct batch *b, const char *name)
{
	const u32 text = batch_add_string(b, name);

	for (size_t i = 0; i < b->events.n; i++)
		if (b->events.at[i].name == text)
			return (u32)i;
	vec_add(&b->events, ((struct batch_event){.name = text}));
	return (u32)b->events.n - 1;
}

u32 batch_find_column(const struct batch *b, const char *name)
{
	u32 i = 0;

	while (i < b->n_columns && strcmp(batch_string(b, b->columns[i]), name) != 0)
		i++;
	return i < b->n_columns ? i : BATCH_COLUMNS;
}

u32 batch_column(struct batch *b, const char *name)
{
	const u32 known = batch_find_column(b, name);

	if (known != BATCH_COLUMNS || b->rows.n || b->n_columns == BATCH_COLUMNS)
		return known;
	b->columns[b->n_columns] = batch_add_string(b, name);
	return b->n_columns++;
}

static bool is_row(const struct batch *b, u32 i, const struct batch_row *row, const u32 *cells)
{
	const struct batch_row *r = &b->rows.at[i];

	return r->event == row->event && r->stack == row->stack && r->build == row->build &&
		(!b->n_columns ||
			!memcmp(&b->cells.at[(size_t)i * b->n_columns], cells,
				b->n_columns * sizeof(*cells)));
}

void batch_count(struct batch *b, const struct batch_row *row, const u32 *cells)
{
	struct batch_event *event = &b->events.at[row->event];
	u64 hash = hash_mix((u64)row->event << 32 | row->stack, row->build);
	struct table_probe probe;
	u32 i;

	event->n_samples += row->n_samples;
	event->period += row->period;
	for (u32 k = 0; k < b->n_columns; k++)
		hash = hash_mix(hash, cells[k]);
	probe = table_probe(&b->row_index, hash);
	while ((i = table_next(&b->row_index, &probe)) != TABLE_NONE) {
		if (!is_row(b, i, row, cells))
			continue;
		b->rows.at[i].n_samples += row->n_samples;
		b->rows.at[i].period += row->period;
		return;
	}
	table_add(&b->row_index, hash, (u32)b->rows.n);
	vec_add(&b->rows, *row);
	for (u32 k = 0; k < b->n_columns; k++)
		vec_add(&b->cells, cells[k]);
}

/* ---- what else is said ---- */

void batch_say(struct batch *b, const char *key, const char *value)
{
	const u32 k = batch_add_string(b, key), v = batch_add_string(b, value);

	vec_each(fact, &b->facts) {
		if (fact->key == k) {
			fact->value = v;
			return;
		}
	}
	vec_add(&b->facts, ((struct batch_fact){k, v}));
}

const char *batch_fact(const struct batch *b, const char *key)
{
	vec_each(fact, &b->facts)
		if (!strcmp(batch_string(b, fact->key), key))
			return batch_string(b, fact->value);
	return "";
}

void batch_lose(struct batch *b, const char *cause, const char *where, const char *unit, u64 amount)
{
	const struct batch_loss loss = {batch_add_string(b, cause), batch_add_string(b, where),
		batch_add_string(b, unit), amount};

	if (!amount)
		return;
	vec_each(l, &b->losses) {
		if (l->cause == loss.cause && l->where == loss.where && l->unit == loss.unit) {
			l->amount += amount;
			return;
		}
	}
	vec_add(&b->losses, loss);
}

/* ---- as a whole ---- */

void batch_init(struct batch *b)
{
	*b = (struct batch){0};
	batch_text(b, "", 0);
	vec_add(&b->stacks, ((struct batch_stack){0}));
}

void batch_fini(struct batch *b)
{
	vec_fini(&b->texts);
	vec_fini(&b->frames);
	vec_fini(&b->stacks);
	vec_fini(&b->events);
	vec_fini(&b->rows);
	vec_fini(&b->cells);
	vec_fini(&b->losses);
	vec_fini(&b->facts);
	arena_fini(&b->arena);
	table_fini(&b->text_index);
	table_fini(&b->frame_index);
	table_fini(&b->stack_index);
	table_fini(&b->row_index);
	*b = (struct batch){0};
}

u64 batch_bytes(const struct batch *b)
{
	enum { EACH_INDEXED = 16 }; /* of a table's slots, half of them free */

	return b->arena.total + b->texts.cap * sizeof(*b->texts.at) +
		b->frames.cap * sizeof(*b->frames.at) + b->stacks.cap * sizeof(*b->stacks.at) +
		b->rows.cap * sizeof(*b->rows.at) + b->cells.cap * sizeof(*b->cells.at) +
		EACH_INDEXED * (b->texts.n + b->frames.n + b->stacks.n + b->rows.n);
}

/* The numbers that another batch's texts, frames and stacks have in this one. */
struct renumbering {
	u32 *texts, *frames, *stacks, *events, *columns;
};

static struct renumbering take_tables(struct batch *b, const struct batch *more)
{
	struct renumbering to = {.texts = mem_alloc(more->texts.n * sizeof(u32)),
		.frames = mem_alloc((more->frames.n + 1) * sizeof(u32)),
		.stacks = mem_alloc(more->stacks.n * sizeof(u32)),
		.events = mem_alloc((more->events.n + 1) * sizeof(u32)),
		.columns = mem_alloc(BATCH_COLUMNS * sizeof(u32))};

	for (size_t i = 0; i < more->texts.n; i++)
		to.texts[i] = batch_text(b, more->texts.at[i].at, more->texts.at[i].n);
	for (size_t i = 0; i < more->frames.n; i++) {
		struct batch_frame f = more->frames.at[i];

		f.name = to.texts[f.name];
		f.file = to.texts[f.file];
		f.build = to.texts[f.build];
		to.frames[i] = batch_frame(b, &f);
	}
	to.stacks[0] = 0;
	for (size_t i = 1; i < more->stacks.n; i++)
		to.stacks[i] = batch_stack(b, to.stacks[more->stacks.at[i].parent],
			to.frames[more->stacks.at[i].frame]);
	for (size_t i = 0; i < more->events.n; i++) {
		to.events[i] = batch_event(b, batch_string(more, more->events.at[i].name));
		b->events.at[to.events[i]].n_lost += more->events.at[i].n_lost;
	}
	for (u32 i = 0; i < more->n_columns; i++)
		to.columns[i] = batch_column(b, batch_string(more, more->columns[i]));
	return to;
}

void batch_merge(struct batch *b, const struct batch *more)
{
	struct renumbering to = take_tables(b, more);

	for (size_t i = 0; i < more->rows.n; i++) {
		struct batch_row row = more->rows.at[i];
		u32 cells[BATCH_COLUMNS] = {0};

		for (u32 k = 0; k < more->n_columns; k++)
			if (to.columns[k] < BATCH_COLUMNS)
				cells[to.columns[k]] =
					to.texts[more->cells.at[i * more->n_columns + k]];
		row.event = to.events[row.event];
		row.stack = to.stacks[row.stack];
		row.build = to.texts[row.build];
		batch_count(b, &row, cells);
	}
	vec_each(l, &more->losses)
		batch_lose(b, batch_string(more, l->cause), batch_string(more, l->where),
			batch_string(more, l->unit), l->amount);
	b->start_ns = b->start_ns ? MIN(b->start_ns, more->start_ns) : more->start_ns;
	b->end_ns = MAX(b->end_ns, more->end_ns);
	mem_free(to.texts);
	mem_free(to.frames);
	mem_free(to.stacks);
	mem_free(to.events);
	mem_free(to.columns);
}
