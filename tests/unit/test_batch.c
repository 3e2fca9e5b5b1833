#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"
#include "event/abi.h"
#include "profile/batch/batchbytes.h"
#include "profile/import/import.h"
#include "profile/tree/batching.h"
#include "unit/profilemaker.h"

static u32 text(struct batch *b, const char *at)
{
	return batch_add_string(b, at);
}

/* main -> f (inlined: g) -> [lib.so+0x10], of two services. */
static void fill(struct batch *b, u64 minute)
{
	const char *const names[] = {"main", "f", "g"};
	u32 stack = 0, cells[2];

	batch_init(b);
	b->start_ns = minute * 60000000000;
	b->end_ns = (minute + 1) * 60000000000;
	batch_say(b, "host", "alpha");
	batch_column(b, "service");
	batch_column(b, "comm");
	batch_event(b, "cpu-clock");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct batch_frame f = {.name = text(b, names[i]),
			.file = text(b, "app"),
			.mode = PERF_RECORD_MISC_USER,
			.is_named = true,
			.is_inlined = i == 2};

		stack = batch_stack(b, stack, batch_frame(b, &f));
		cells[0] = text(b, i % 2 ? "db" : "web");
		cells[1] = text(b, "worker");
		batch_count(b,
			&(struct batch_row){0, stack, text(b, "c0ffee"), i + 1, 1000 * minute},
			cells);
	}
	stack = batch_stack(b, stack,
		batch_frame(b,
			&(struct batch_frame){.name = text(b, "[lib.so+0x10]"),
				.file = text(b, "lib.so"),
				.build = text(b, "aa55"),
				.mode = PERF_RECORD_MISC_USER}));
	batch_count(b, &(struct batch_row){0, stack, 0, 7, 7}, cells);
	batch_lose(b, "dropped", "", "samples", minute);
}

static bool is_equal(const struct batch *a, const struct batch *b)
{
	if (a->texts.n != b->texts.n || a->frames.n != b->frames.n || a->stacks.n != b->stacks.n ||
		a->rows.n != b->rows.n || a->n_columns != b->n_columns ||
		a->facts.n != b->facts.n || a->losses.n != b->losses.n ||
		a->start_ns != b->start_ns || a->end_ns != b->end_ns)
		return false;
	for (size_t i = 0; i < a->texts.n; i++)
		if (strcmp(batch_string(a, i), batch_string(b, i)) != 0)
			return false;
	for (size_t i = 0; i < a->stacks.n; i++)
		if (a->stacks.at[i].hash != b->stacks.at[i].hash)
			return false;
	for (size_t i = 0; i < a->rows.n; i++) {
		const struct batch_row *x = &a->rows.at[i], *y = &b->rows.at[i];

		if (x->event != y->event || x->stack != y->stack || x->build != y->build ||
			x->n_samples != y->n_samples || x->period != y->period)
			return false;
	}
	return !memcmp(a->cells.at, b->cells.at, a->cells.n * sizeof(u32)) &&
		a->losses.at[0].amount == b->losses.at[0].amount &&
		a->events.at[0].n_samples == b->events.at[0].n_samples;
}

/* A file of n batches, minutes 1 to n. */
static void write_file(u64 n, struct str *out)
{
	struct batch_writer w = {0};
	struct err err = {0};

	for (u64 minute = 1; minute <= n; minute++) {
		struct batch b;

		fill(&b, minute);
		CHECK(!batch_write(&w, &b, out, &err));
		batch_fini(&b);
	}
	batch_writer_fini(&w);
}

/* How many batches of a file can be read, all of which must be as written. */
static u64 count_readable(struct bytes file)
{
	struct batch_reader r;
	struct err err = {0};
	u64 n = 0;
	int more;

	if (batch_reader_init(&r, file, "file", &err))
		return 0;
	while ((more = batch_next(&r, &err)) != 0) {
		struct batch b, expected;

		if (more < 0 || batch_read(&r, &b, &err))
			continue;
		fill(&expected, b.start_ns / 60000000000);
		CHECK(is_equal(&b, &expected));
		batch_fini(&expected);
		batch_fini(&b);
		n++;
	}
	batch_reader_fini(&r);
	return n;
}

TEST(batch_comes_out_of_a_file_as_it_went_in)
{
	struct str file = {0};

	write_file(5, &file);
	CHECK_EQ(count_readable(bytes_of(file.at, file.n)), 5);
	str_fini(&file);
}

TEST(batch_stacks_have_the_same_hash_for_ever)
{
	struct batch b;

	/* Databases have these numbers. */
	fill(&b, 1);
	CHECK_EQ(b.stacks.at[1].hash, (long long)0xb3ecb3cb0a34d70aULL);
	CHECK_EQ(b.stacks.at[4].hash, (long long)0xb51d34a1a6161be5ULL);
	batch_fini(&b);
}

TEST(batch_files_are_continued)
{
	struct batch_writer w = {0};
	struct str file = {0};
	struct err err = {0};
	struct batch b;
	size_t n;

	write_file(2, &file);
	n = file.n;
	CHECK(!batch_writer_resume(&w, bytes_of(file.at, file.n), "file", &err));
	fill(&b, 3);
	CHECK(!batch_write(&w, &b, &file, &err));
	batch_fini(&b);
	CHECK_EQ(count_readable(bytes_of(file.at, file.n)), 3);
	/* It refers to what the file has already. */
	CHECK(file.n - n < n);
	batch_writer_fini(&w);
	str_fini(&file);
}

TEST(batch_files_that_are_cut_lack_the_last_batch_only)
{
	struct str file = {0}, two = {0};

	write_file(3, &file);
	write_file(2, &two);
	for (size_t n = 0; n < file.n; n++) {
		u8 *copy = mem_alloc(n + 1);

		memcpy(copy, file.at, n);
		CHECK(count_readable(bytes_of(copy, n)) <= 2);
		if (n >= two.n)
			CHECK_EQ(count_readable(bytes_of(copy, n)), 2);
		mem_free(copy);
	}
	str_fini(&file);
	str_fini(&two);
}

TEST(batch_bytes_that_were_changed_are_noticed)
{
	struct str file = {0};

	write_file(3, &file);
	for (size_t i = 0; i < file.n; i++) {
		file.at[i] ^= 0x41;
		/* Damage in the first one takes those that refer to it with it. */
		CHECK(count_readable(bytes_of(file.at, file.n)) <= 2);
		file.at[i] ^= 0x41;
	}
	CHECK_EQ(count_readable(bytes_of(file.at, file.n)), 3);
	str_fini(&file);
}

TEST(batch_tables_that_lie_are_refused)
{
	struct str tables = {0};
	struct batch b, got;
	const char *reason;

	fill(&b, 1);
	batch_add_tables(&b, &tables);
	CHECK(!batch_of_tables(bytes_of(tables.at, tables.n), &got));
	CHECK(is_equal(&b, &got));
	batch_fini(&got);
	for (size_t i = 0; i < tables.n; i++) {
		for (int change = 1; change < 256; change *= 2) {
			tables.at[i] ^= (char)change;
			reason = batch_of_tables(bytes_of(tables.at, tables.n), &got);
			if (!reason)
				batch_fini(&got);
			tables.at[i] ^= (char)change;
		}
		reason = batch_of_tables(bytes_of(tables.at, i), &got);
		CHECK(reason);
	}
	batch_fini(&b);
	str_fini(&tables);
}

TEST(batch_merge_adds_up)
{
	struct batch sum, more;

	batch_init(&sum);
	for (u64 minute = 2; minute <= 4; minute++) {
		fill(&more, minute);
		batch_merge(&sum, &more);
		batch_fini(&more);
	}
	CHECK_EQ(sum.rows.n, 4);
	CHECK_EQ(sum.events.at[0].n_samples, 3 * 13);
	CHECK_EQ(sum.events.at[0].period, 3000 * (2 + 3 + 4) + 3 * 7);
	CHECK_EQ(sum.losses.at[0].amount, 9);
	CHECK_EQ(sum.start_ns, 2 * 60000000000);
	CHECK_EQ(sum.end_ns, 5 * 60000000000);
	CHECK_EQ(sum.n_columns, 2);
	/* What has no column is left out, and rows that differ in nothing else become one. */
	batch_init(&more);
	batch_column(&more, "comm");
	batch_event(&more, "x");
	batch_count(&more, &(struct batch_row){0, 0, 0, 1, 1}, &(u32){text(&more, "a")});
	batch_merge(&more, &sum);
	CHECK_EQ(more.n_columns, 1);
	CHECK_EQ(more.rows.n, 5);
	batch_fini(&more);
	batch_fini(&sum);
}

static void label(void *ctx, struct batch *b, const struct profile *p, size_t row, u32 *cells)
{
	(void)ctx;
	cells[0] = batch_add_string(b, profile_text(profile_label(p, row, LABEL_COMM)));
}

/* A profile becomes a batch, that a file, and that a profile again. */
TEST(batch_of_a_profile_is_read_as_that_profile)
{
	static const char *const fields[LABEL_FIELDS] = {"service"};
	struct profilemaker m;
	struct profile *p = &m.profile, again;
	struct import_options options = {.labels = LABEL_BIT(LABEL_COMM) | LABEL_BIT(LABEL_FIELD),
		.has_stacks = true,
		.has_inlined = true,
		.fields = fields};
	struct batch_writer w = {0};
	struct str file = {0};
	struct calls calls;
	struct batch b;
	struct import in;
	struct err err = {0};
	u64 sum = 0;
	int fd;

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m, "cycles");
	profilemaker_add(&m,
		&(struct profilemaker_sample){.comm = "sh",
			.stack = "main;f;g@libg.so",
			.period = 7});
	profilemaker_add(&m,
		&(struct profilemaker_sample){.comm = "sh",
			.stack = "main;0x77@libg.so",
			.period = 5});
	profilemaker_add(&m,
		&(struct profilemaker_sample){.comm = "gzip", .stack = "main;k:read", .period = 3});
	calls_init(&calls, p);
	batch_init(&b);
	batch_column(&b, "comm");
	batch_add_profile(&b, p, &calls, &(struct batch_labelling){label, NULL});
	CHECK(!batch_write(&w, &b, &file, &err));
	test_write(test_path("in"), file.at, file.n);
	fd = open(test_path("in"), O_RDONLY | O_CLOEXEC);
	profile_init(&again, options.labels);
	CHECK(!import_open(&in, fd, "in", NULL, 0, &err));
	CHECK(in.importer && !strcmp(in.importer->name, "batch"));
	CHECK(in.importer->has_field(&in, "comm") && !in.importer->has_field(&in, "service"));
	CHECK(!import_read(&in, &options, &again, &err));
	CHECK_EQ(again.rows.n, 3);
	CHECK_EQ(again.events.at[0].period, 15);
	CHECK_STR(again.events.at[0].name, "cycles");
	for (size_t i = 0; i < again.rows.n; i++) {
		const struct profile_symbol *s =
			&again.symbols.at[again.frames.at[again.rows.at[i].frame].symbol];

		sum += again.rows.at[i].period;
		if (again.rows.at[i].period == 5)
			CHECK(!profile_is_named(s) && !strcmp(s->name, "[libg.so+0x77]"));
		if (again.rows.at[i].period == 3)
			CHECK(!strcmp(s->name, "read") && s->mode == PERF_RECORD_MISC_KERNEL);
		CHECK_STR(profile_text(profile_label(&again, i, LABEL_COMM)),
			again.rows.at[i].period == 3 ? "gzip" : "sh");
	}
	CHECK_EQ(sum, 15);
	import_close(&in);
	close(fd);
	profile_fini(&again);
	batch_writer_fini(&w);
	batch_fini(&b);
	calls_fini(&calls);
	str_fini(&file);
	profilemaker_fini(&m);
}
