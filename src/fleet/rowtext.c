#include "fleet/rowtext.h"

#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"
#include "profile/batch/batchbytes.h"

static u64 id_of(const struct batch *b)
{
	struct str tables = {0};
	u64 id;

	batch_add_tables(b, &tables);
	id = hash_lasting(b->start_ns, b->end_ns);
	for (size_t i = 0; i < tables.n; i += 8) {
		u64 word = 0;

		memcpy(&word, tables.at + i, MIN(tables.n - i, (size_t)8));
		id = hash_lasting(id, word);
	}
	str_fini(&tables);
	return id;
}

void rowtext_init(struct rowtext *t, const struct batch *b, const char *service)
{
	const time_t seconds = (time_t)(b->start_ns / 1000000000);
	struct tm tm = {0};

	*t = (struct rowtext){.batch = b,
		.id = id_of(b),
		.host = batch_fact(b, "host"),
		.service = service ? service : "",
		.column_service = batch_find_column(b, "service"),
		.column_comm = batch_find_column(b, "comm")};
	t->host_hash = hash_bytes(t->host, strlen(t->host));
	gmtime_r(&seconds, &tm);
	strftime(t->time, sizeof(t->time), "%Y-%m-%d %H:%M:%S", &tm);
	vec_each(fact, &b->facts) {
		const char *key = batch_string(b, fact->key);

		if (strncmp(key, ROWTEXT_LABEL, strlen(ROWTEXT_LABEL)))
			continue;
		key += strlen(ROWTEXT_LABEL);
		json_element(&t->names, key);
		json_element(&t->values, batch_string(b, fact->value));
		/* Rows may have it as well. */
		if (batch_find_column(b, key) != BATCH_COLUMNS)
			continue;
		json_element(&t->row_names, key);
		json_element(&t->row_values, batch_string(b, fact->value));
	}
}

void rowtext_fini(struct rowtext *t)
{
	str_fini(&t->names);
	str_fini(&t->values);
	str_fini(&t->row_names);
	str_fini(&t->row_values);
}

static const char *cell_of(const struct rowtext *t, size_t row, u32 column)
{
	const struct batch *b = t->batch;

	return column == BATCH_COLUMNS ? ""
				       : batch_string(b, b->cells.at[row * b->n_columns + column]);
}

const char *rowtext_service(const struct rowtext *t, size_t row)
{
	return t->column_service == BATCH_COLUMNS ? t->service : cell_of(t, row, t->column_service);
}

/* ---- arrays ---- */

static void close_row(struct str *out)
{
	json_end(out, '}');
	str_addc(out, '\n');
}

/* The labels of a row: those of its columns, and of its host. */
static void add_labels(const struct rowtext *t, size_t row, struct str *out)
{
	const struct batch *b = t->batch;

	json_open(out, "label_names", '[');
	for (u32 i = 0; i < b->n_columns; i++)
		if (i != t->column_service && i != t->column_comm)
			json_element(out, batch_string(b, b->columns[i]));
	str_addn(out, str_text(&t->row_names), t->row_names.n);
	json_close(out, ']');
	json_open(out, "label_values", '[');
	for (u32 i = 0; i < b->n_columns; i++)
		if (i != t->column_service && i != t->column_comm)
			json_element(out, cell_of(t, row, i));
	str_addn(out, str_text(&t->row_values), t->row_values.n);
	json_close(out, ']');
}

/* ---- rows ---- */

void rowtext_add_sample(const struct rowtext *t, size_t row, struct str *out)
{
	const struct batch *b = t->batch;
	const struct batch_row *r = &b->rows.at[row];

	str_addc(out, '{');
	json_text(out, "service", rowtext_service(t, row));
	json_text(out, "type", batch_string(b, b->events.at[r->event].name));
	json_text(out, "time", t->time);
	json_text(out, "host", t->host);
	json_u64(out, "batch", t->id);
	json_u64(out, "row", row);
	json_u64(out, "start_ns", b->start_ns);
	json_u64(out, "end_ns", b->end_ns);
	json_text(out, "comm", cell_of(t, row, t->column_comm));
	add_labels(t, row, out);
	json_text(out, "build", batch_string(b, r->build));
	json_u64(out, "stack", b->stacks.at[r->stack].hash);
	json_u64(out, "samples", r->n_samples);
	json_u64(out, "value", r->period);
	close_row(out);
}

/* The frames of a stack, the outermost first; returns how many. */
static u32 frames_of(const struct batch *b, u32 stack, u32 *frames)
{
	u32 n = 0;

	for (u32 at = stack; at && n < BATCH_DEEPEST; at = b->stacks.at[at].parent)
		frames[n++] = b->stacks.at[at].frame;
	for (u32 i = 0; i < n / 2; i++) {
		const u32 held = frames[i];

		frames[i] = frames[n - 1 - i];
		frames[n - 1 - i] = held;
	}
	return n;
}

void rowtext_add_stack(const struct rowtext *t, u32 stack, struct str *out)
{
	const struct batch *b = t->batch;
	u32 frames[BATCH_DEEPEST];
	const u32 n = frames_of(b, stack, frames);

	str_addc(out, '{');
	json_u64(out, "hash", b->stacks.at[stack].hash);
	json_text(out, "host", t->host);
	json_text(out, "time", t->time);
	json_open(out, "frames", '[');
	for (u32 i = 0; i < n; i++)
		json_element(out, batch_string(b, b->frames.at[frames[i]].name));
	json_close(out, ']');
	json_open(out, "files", '[');
	for (u32 i = 0; i < n; i++)
		json_element(out, batch_string(b, b->frames.at[frames[i]].file));
	json_close(out, ']');
	json_open(out, "builds", '[');
	for (u32 i = 0; i < n; i++)
		json_element(out, batch_string(b, b->frames.at[frames[i]].build));
	json_close(out, ']');
	json_open(out, "modes", '[');
	for (u32 i = 0; i < n; i++) {
		const struct batch_frame *f = &b->frames.at[frames[i]];

		json_element_u64(out,
			(f->mode & ROWTEXT_MODE) | (f->is_named ? ROWTEXT_NAMED : 0) |
				(f->is_inlined ? ROWTEXT_INLINED : 0));
	}
	json_close(out, ']');
	close_row(out);
}

/* ---- the ledger ---- */

struct sum {
	const char *service, *type;
	u64 n_rows, n_samples, value;
};

struct sums {
	VEC(struct sum) at;
	struct table index;
};

static struct sum *sum_of(struct sums *s, const char *service, const char *type)
{
	const u64 hash =
		hash_mix(hash_bytes(service, strlen(service)), hash_bytes(type, strlen(type)));
	struct table_probe probe = table_probe(&s->index, hash);
	u32 i;

	while ((i = table_next(&s->index, &probe)) != TABLE_NONE)
		if (!strcmp(s->at.at[i].service, service) && !strcmp(s->at.at[i].type, type))
			return &s->at.at[i];
	table_add(&s->index, hash, (u32)s->at.n);
	vec_add(&s->at, ((struct sum){service, type}));
	return &s->at.at[s->at.n - 1];
}

static struct sums sum_up(const struct rowtext *t)
{
	const struct batch *b = t->batch;
	struct sums sums = {0};

	for (size_t i = 0; i < b->rows.n; i++) {
		const struct batch_row *row = &b->rows.at[i];
		struct sum *sum = sum_of(&sums, rowtext_service(t, i),
			batch_string(b, b->events.at[row->event].name));

		sum->n_rows++;
		sum->n_samples += row->n_samples;
		sum->value += row->period;
	}
	return sums;
}

static void add_sums(const struct rowtext *t, struct str *out)
{
	struct sums sums = sum_up(t);

	json_open(out, "services", '[');
	vec_each(sum, &sums.at)
		json_element(out, sum->service);
	json_close(out, ']');
	json_open(out, "types", '[');
	vec_each(sum, &sums.at)
		json_element(out, sum->type);
	json_close(out, ']');
	json_open(out, "row_counts", '[');
	vec_each(sum, &sums.at)
		json_element_u64(out, sum->n_rows);
	json_close(out, ']');
	json_open(out, "sample_sums", '[');
	vec_each(sum, &sums.at)
		json_element_u64(out, sum->n_samples);
	json_close(out, ']');
	json_open(out, "value_sums", '[');
	vec_each(sum, &sums.at)
		json_element_u64(out, sum->value);
	json_close(out, ']');
	vec_fini(&sums.at);
	table_fini(&sums.index);
}

static void add_losses(const struct batch *b, struct str *out)
{
	static const struct {
		const char *name;
		size_t at;
	} texts[] = {{"loss_causes", offsetof(struct batch_loss, cause)},
		{"loss_places", offsetof(struct batch_loss, where)},
		{"loss_units", offsetof(struct batch_loss, unit)}};
	u64 n_lost = 0;

	vec_each(event, &b->events)
		n_lost += event->n_lost;
	json_u64(out, "lost", n_lost);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		json_open(out, texts[i].name, '[');
		vec_each(l, &b->losses)
			json_element(out, batch_string(b, load_u32((const u8 *)l + texts[i].at)));
		json_close(out, ']');
	}
	json_open(out, "loss_amounts", '[');
	vec_each(l, &b->losses)
		json_element_u64(out, l->amount);
	json_close(out, ']');
}

void rowtext_add_batch(const struct rowtext *t, struct str *out)
{
	const struct batch *b = t->batch;

	str_addc(out, '{');
	json_u64(out, "batch", t->id);
	json_text(out, "host", t->host);
	json_text(out, "time", t->time);
	json_u64(out, "start_ns", b->start_ns);
	json_u64(out, "end_ns", b->end_ns);
	add_sums(t, out);
	add_losses(b, out);
	json_open(out, "label_names", '[');
	str_addn(out, str_text(&t->names), t->names.n);
	json_close(out, ']');
	json_open(out, "label_values", '[');
	str_addn(out, str_text(&t->values), t->values.n);
	json_close(out, ']');
	json_open(out, "fact_names", '[');
	vec_each(fact, &b->facts)
		json_element(out, batch_string(b, fact->key));
	json_close(out, ']');
	json_open(out, "fact_values", '[');
	vec_each(fact, &b->facts)
		json_element(out, batch_string(b, fact->value));
	json_close(out, ']');
	close_row(out);
}
