/*
 * Batches: the first byte chooses between a batch's tables and a file of batches. What is accepted holds what the tables
 * promise, survives being written again, and can be merged and read as a profile.
 */
#include "fuzz/fuzz.h"

#include "profile/batch/batchbytes.h"
#include "profile/import/import.h"

enum { BATCHES_MAX = 8 };

static void check_numbers(const struct batch *b)
{
	u64 n_samples = 0, n_counted = 0;

	FUZZ_CHECK(b->texts.n && !b->texts.at[0].n && b->stacks.n);
	vec_each(f, &b->frames)
		FUZZ_CHECK(f->name < b->texts.n && f->file < b->texts.n && f->build < b->texts.n);
	for (size_t i = 1; i < b->stacks.n; i++)
		FUZZ_CHECK(b->stacks.at[i].parent < i && b->stacks.at[i].frame < b->frames.n);
	vec_each(e, &b->events) {
		FUZZ_CHECK(e->name < b->texts.n);
		n_counted += e->n_samples;
	}
	vec_each(r, &b->rows) {
		FUZZ_CHECK(
			r->event < b->events.n && r->stack < b->stacks.n && r->build < b->texts.n);
		n_samples += r->n_samples;
	}
	FUZZ_CHECK(n_samples == n_counted && b->cells.n == b->rows.n * b->n_columns);
	vec_each(cell, &b->cells)
		FUZZ_CHECK(*cell < b->texts.n);
	vec_each(l, &b->losses)
		FUZZ_CHECK(l->cause < b->texts.n && l->where < b->texts.n && l->unit < b->texts.n);
	vec_each(f, &b->facts)
		FUZZ_CHECK(f->key < b->texts.n && f->value < b->texts.n);
}

/* The same batch again. */
static void check_round(const struct batch *b)
{
	struct str tables = {0}, again = {0};
	struct batch copy;

	batch_add_tables(b, &tables);
	FUZZ_CHECK(!batch_of_tables(bytes_of(str_text(&tables), tables.n), &copy));
	FUZZ_CHECK(copy.rows.n == b->rows.n && copy.texts.n == b->texts.n &&
		copy.stacks.n == b->stacks.n && copy.losses.n == b->losses.n);
	batch_add_tables(&copy, &again);
	FUZZ_CHECK(again.n == tables.n && !memcmp(again.at, tables.at, tables.n));
	batch_fini(&copy);
	str_fini(&tables);
	str_fini(&again);
}

static void check_batch(const struct batch *b)
{
	struct batch sum;

	check_numbers(b);
	check_round(b);
	batch_init(&sum);
	batch_merge(&sum, b);
	batch_merge(&sum, b);
	check_numbers(&sum);
	batch_fini(&sum);
}

static void check_file(struct bytes file)
{
	struct batch_writer packing = {0};
	struct batch_reader r;
	struct err err = {0};
	int more, n = 0;

	if (!batch_reader_init(&r, file, "fuzz", &err)) {
		r.plain_most = 1 << 20;
		while (n++ < BATCHES_MAX && (more = batch_next(&r, &err)) != 0) {
			struct batch b;

			if (more < 0 || batch_read(&r, &b, &err))
				continue;
			check_batch(&b);
			batch_fini(&b);
		}
	}
	batch_reader_fini(&r);
	(void)batch_writer_resume(&packing, file, "fuzz", &err);
	batch_writer_fini(&packing);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct batch b;

	if (!n)
		return 0;
	if (*data & 1) {
		check_file(bytes_of(data + 1, n - 1));
	} else if (!batch_of_tables(bytes_of(data + 1, n - 1), &b)) {
		check_batch(&b);
		batch_fini(&b);
	}
	return 0;
}
