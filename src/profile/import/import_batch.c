/*
 * Batches of 'pace watch': the minutes of a store, or the answer of a database; see profile/batch/batchbytes.h.
 *
 * Their columns are labels: "comm" is the thread's name, others are keys by their own names, such as "service".
 */
#include "profile/import/importing.h"

#include <string.h>

#include "event/abi.h"
#include "profile/batch/batchbytes.h"
#include "machine/dso.h"
#include "symbol/resolve/resolver.h"

enum { NONE = UINT32_MAX };

struct batch_import {
	struct importing b;
	struct batch_reader reader;
	struct batch batch;
	u32 *symbols;                   /* by frame; NONE: not made yet */
	struct importing_stack *stacks; /* by stack */
	bool *has_stack;
	u32 *events;
	const char **texts; /* interned in the profile; NULL: not yet */
	VEC(u32) up;        /* frames of a stack, the innermost first */
	VEC(u32) inlined;   /* of the frame that is added next */
	u64 n_batches, n_damaged;
};

static const char *text_of(struct batch_import *r, u32 text)
{
	if (!r->texts[text])
		r->texts[text] = intern_add(&r->b.profile->strings, r->batch.texts.at[text].at,
			r->batch.texts.at[text].n);
	return r->texts[text];
}

static u32 dso_of(struct batch_import *r, const struct batch_frame *f)
{
	const char *file = text_of(r, f->file), *build = f->build ? text_of(r, f->build) : NULL;

	if (!strcmp(file, "[unknown]"))
		return importing_dso(&r->b, DSO_UNKNOWN, file, file, NULL);
	return importing_mapped(&r->b, file, build);
}

static u32 symbol_of(struct batch_import *r, u32 frame)
{
	const struct batch_frame *f = &r->batch.frames.at[frame];
	const bool is_unknown =
		!f->is_named && !strcmp(batch_string(&r->batch, f->name), "[unknown]");

	if (r->symbols[frame] == NONE)
		r->symbols[frame] = importing_symbol(&r->b,
			&(struct profile_symbol){.dso = dso_of(r, f),
				.name = is_unknown ? NULL : text_of(r, f->name),
				.mode = f->mode,
				.outcome = f->is_named ? 0 : RESOLVER_NO_SYMBOL,
				.is_inlined = f->is_inlined});
	return r->symbols[frame];
}

static void end_frame(struct batch_import *r, u32 outer)
{
	if (outer != NONE)
		vec_add(&r->b.path,
			importing_frame(&r->b, outer, 0, r->inlined.at, (u32)r->inlined.n));
	r->inlined.n = 0;
}

static const struct importing_stack *stack_of(struct batch_import *r, u32 stack)
{
	u32 outer = NONE;

	if (r->has_stack[stack])
		return &r->stacks[stack];
	r->up.n = 0;
	for (u32 at = stack; at; at = r->batch.stacks.at[at].parent)
		vec_add(&r->up, r->batch.stacks.at[at].frame);
	r->b.path.n = 0;
	for (size_t i = r->up.n; i-- > 0;) {
		const u32 symbol = symbol_of(r, r->up.at[i]);

		if (outer != NONE && r->b.profile->symbols.at[symbol].is_inlined &&
			r->inlined.n < IMPORT_INLINED) {
			vec_add(&r->inlined, symbol);
		} else {
			end_frame(r, outer);
			outer = symbol;
		}
	}
	end_frame(r, outer);
	r->stacks[stack] = importing_stack(&r->b);
	r->has_stack[stack] = true;
	return &r->stacks[stack];
}

/* Which column has each of the profile's labels; BATCH_COLUMNS: none. */
static void find_columns(const struct batch_import *r, u32 *columns)
{
	const struct profile *p = r->b.profile;
	const char *const *fields = r->b.options->fields;

	for (unsigned i = 0; i < p->n_labels; i++) {
		const unsigned label = p->label_at[i];
		const char *name = label == LABEL_COMM ? "comm"
			: label >= LABEL_FIELD && label <= LABEL_FIELD_LAST && fields
			? fields[label - LABEL_FIELD]
			: NULL;

		columns[i] = name ? batch_find_column(&r->batch, name) : BATCH_COLUMNS;
	}
}

static u64 label_of(struct batch_import *r, size_t row, unsigned label, u32 column)
{
	const struct batch *b = &r->batch;
	const u64 quantum = r->b.options->time_quantum;

	if (label == LABEL_TIME)
		return quantum ? b->start_ns - b->start_ns % quantum : b->start_ns;
	if (column == BATCH_COLUMNS)
		return (u64)(uintptr_t)intern_str(&r->b.profile->strings, "");
	return (u64)(uintptr_t)text_of(r, b->cells.at[row * b->n_columns + column]);
}

static u32 event_of(struct batch_import *r, u32 event)
{
	const char *name = text_of(r, r->batch.events.at[event].name);
	struct profile *p = r->b.profile;
	u32 i = 0;

	while (i < p->events.n && p->events.at[i].name != name)
		i++;
	if (i == p->events.n)
		importing_event(&r->b, name, 1);
	p->events.at[i].n_lost += r->batch.events.at[event].n_lost;
	return i;
}

static int add_rows(struct batch_import *r, struct err *err)
{
	const struct batch *b = &r->batch;
	const struct profile *p = r->b.profile;
	u32 columns[LABEL_COUNT];
	u64 labels[LABEL_COUNT];

	find_columns(r, columns);
	for (size_t i = 0; i < b->events.n; i++)
		r->events[i] = event_of(r, (u32)i);
	for (size_t i = 0; i < b->rows.n; i++) {
		const struct batch_row *row = &b->rows.at[i];

		/* A row without a stack: nothing is known but that there were samples. */
		if (!row->stack)
			return err_set(err, ERR_FORMAT,
				"'%s': the batch before offset 0x%llx is damaged: a row has no stack",
				r->b.in->path, (unsigned long long)r->reader.left.offset);
		for (unsigned k = 0; k < p->n_labels; k++)
			labels[k] = label_of(r, i, p->label_at[k], columns[k]);
		importing_add_stack(&r->b, stack_of(r, row->stack), r->events[row->event],
			row->n_samples, row->period, labels);
		if (importing_charge(&r->b, r->reader.left.offset, err) ||
			importing_charge_names(&r->b, r->reader.left.offset, err))
			return err->code;
	}
	return 0;
}

static void add_losses(struct batch *to, const struct batch *b)
{
	vec_each(l, &b->losses)
		batch_lose(to, batch_string(b, l->cause), batch_string(b, l->where),
			batch_string(b, l->unit), l->amount);
}

static int add_batch(struct batch_import *r, struct err *err)
{
	const struct batch *b = &r->batch;
	int result;

	if (r->b.options->lost)
		add_losses(r->b.options->lost, b);

	r->symbols = mem_alloc((b->frames.n + 1) * sizeof(*r->symbols));
	memset(r->symbols, 0xff, (b->frames.n + 1) * sizeof(*r->symbols));
	r->stacks = mem_alloc(b->stacks.n * sizeof(*r->stacks));
	r->has_stack = mem_zalloc(b->stacks.n * sizeof(*r->has_stack));
	r->events = mem_zalloc((b->events.n + 1) * sizeof(*r->events));
	r->texts = mem_zalloc(b->texts.n * sizeof(*r->texts));
	r->b.held = batch_bytes(b);
	result = add_rows(r, err);
	mem_free(r->symbols);
	mem_free(r->stacks);
	mem_free(r->has_stack);
	mem_free(r->events);
	mem_free(r->texts);
	return result;
}

/* Damaged batches are passed over, and said. */
static int batch_import_all(struct batch_import *r, struct err *err)
{
	struct err damage = {0};
	int more;

	while ((more = batch_next(&r->reader, &damage)) != 0) {
		int result = more < 0 ? more : batch_read(&r->reader, &r->batch, &damage);

		if (result) {
			log_warn(r->b.options->log, "%s; the batch is left out", damage.msg);
			damage = (struct err){0};
			r->n_damaged++;
			continue;
		}
		r->n_batches++;
		result = add_batch(r, err);
		batch_fini(&r->batch);
		if (result)
			return result;
	}
	if (r->b.options->lost)
		batch_lose(r->b.options->lost, "damaged", r->b.in->path, "batches", r->n_damaged);
	if (!r->n_batches && r->n_damaged)
		return err_set(err, ERR_FORMAT, "'%s': none of its %llu batches can be read",
			r->b.in->path, (unsigned long long)r->n_damaged);
	return 0;
}

static int batch_import_read(const struct import *in, const struct import_options *o,
	struct profile *p, struct err *err)
{
	struct batch_import r = {0};
	int result;

	importing_init(&r.b, in, o, p);
	result = batch_reader_init(&r.reader, import_bytes(in), in->path, err);
	r.reader.plain_most =
		MIN(allowance_bytes(&in->allowance, in->n_stored) / 4, (u64)BATCH_PLAIN_MOST);
	if (!result)
		result = batch_import_all(&r, err);
	batch_reader_fini(&r.reader);
	importing_fini(&r.b);
	vec_fini(&r.up);
	vec_fini(&r.inlined);
	return result;
}

/* Whether some batch has that column. */
static bool batch_import_has_field(const struct import *in, const char *name)
{
	struct batch_reader r;
	struct err damage = {0};
	bool has = false;
	int more;

	if (batch_reader_init(&r, import_bytes(in), in->path, &damage))
		return false;
	while (!has && (more = batch_next(&r, &damage)) != 0) {
		struct batch b;

		if (more < 0 || batch_read(&r, &b, &damage))
			continue;
		has = batch_find_column(&b, name) != BATCH_COLUMNS;
		batch_fini(&b);
	}
	batch_reader_fini(&r);
	return has;
}

const struct importer import_batch = {.name = "batch",
	.what = "a file of 'pace watch'",
	.keys = "symbol",
	.tells_losses = true,
	.labels = LABEL_BIT(LABEL_COMM) | LABEL_BIT(LABEL_TIME) |
		(LABEL_BIT(LABEL_FIELD_LAST + 1) - LABEL_BIT(LABEL_FIELD)),
	.recognizes = batch_recognizes,
	.read = batch_import_read,
	.has_field = batch_import_has_field};
