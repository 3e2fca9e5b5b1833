/* The same records in every dialect: who walks sees no difference. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "file/reader.h"
#include "session/stream.h"
#include "test.h"
#include "unit/recording.h"

enum { N_SAMPLES = 400 };

static void put_u64(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

/* Pipe mode: a short header, then a record for each event. */
static void compose_pipe(const struct recording *r, struct str *file)
{
	put_u64(file, LAYOUT_MAGIC_2);
	put_u64(file, 16);
	vec_each(e, &r->events) {
		struct event_attr attr = e->attr;
		struct record_header header = {PERF_RECORD_HEADER_ATTR, 0,
			(u16)(8 + ATTR_SIZE_VER8 + e->n_ids * 8)};

		attr.size = ATTR_SIZE_VER8;
		str_addn(file, &header, sizeof(header));
		str_addn(file, &attr, ATTR_SIZE_VER8);
		str_addn(file, e->ids, e->n_ids * 8);
	}
	str_addn(file, r->data.at, r->data.n);
}

/* The records' bytes, one behind the other. */
static void read_all(struct reader *r, struct str *out, struct reader_damage *ret_damage)
{
	struct reader_cursor c;
	struct record rec;
	struct err err;
	int result;

	reader_cursor_init(&c, r, r->data_start, r->data_end);
	while ((result = reader_next(&c, &rec, &err)) > 0)
		str_addn(out, rec.at, rec.size);
	CHECK_EQ(result, 0);
	*ret_damage = c.damage;
	reader_cursor_fini(&c);
}

static void check_same(const struct recording *r, const char *path)
{
	struct reader_damage damage;
	struct reader reader;
	struct str out = {0};
	struct err err;

	if (reader_open(&reader, path, NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	CHECK_EQ(reader.events.n, r->events.n);
	for (size_t i = 0; i < r->events.n; i++) {
		CHECK_EQ(reader.events.at[i].attr.sample_type, r->events.at[i].attr.sample_type);
		CHECK_EQ(reader.events.at[i].n_ids, r->events.at[i].n_ids);
	}
	read_all(&reader, &out, &damage);
	CHECK(!damage.reason);
	CHECK_EQ(out.n, r->data.n);
	CHECK(!memcmp(out.at, r->data.at, out.n));
	str_fini(&out);
	reader_close(&reader);
}

/* A pipe whose other end is written in small pieces by somebody else; it becomes stdin. */
static pid_t pour(const struct str *file)
{
	int ends[2];
	pid_t pid;

	CHECK_EQ(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		size_t done = 0, step = 1;

		close(ends[0]);
		while (done < file->n) {
			ssize_t n = write(ends[1], file->at + done, MIN(step, file->n - done));

			if (n <= 0)
				_exit(1);
			done += (size_t)n;
			step = step % 4093 + 7;
		}
		_exit(0);
	}
	close(ends[1]);
	CHECK_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return pid;
}

TEST(dialect_of_pipes_in_a_file_has_the_same_records)
{
	struct recording r = {0};
	struct str file = {0};

	recording_example(&r, N_SAMPLES);
	compose_pipe(&r, &file);
	test_write(test_path("perf.data"), file.at, file.n);
	check_same(&r, test_path("perf.data"));
	str_fini(&file);
	recording_fini(&r);
}

TEST(dialect_of_pipes_can_be_walked_from_its_first_record_and_twice)
{
	struct recording r = {0};
	struct str file = {0};
	struct reader reader;
	struct err err;

	recording_example(&r, N_SAMPLES);
	compose_pipe(&r, &file);
	test_write(test_path("perf.data"), file.at, file.n);
	CHECK_EQ(reader_open(&reader, test_path("perf.data"), NULL, &err), 0);
	CHECK(reader.preface < reader.data_start);
	for (unsigned walk = 0; walk < 2; walk++) {
		struct reader_cursor c;
		struct record rec;
		u64 n_attrs = 0, n_bytes = 0;

		reader_cursor_init(&c, &reader, reader.preface, reader.data_end);
		while (reader_next(&c, &rec, &err) > 0) {
			n_attrs += rec.type == PERF_RECORD_HEADER_ATTR;
			n_bytes += rec.size;
			reader_take(&c, &rec, NULL);
		}
		CHECK_EQ(n_attrs, r.events.n);
		CHECK_EQ(n_bytes, file.n - 16);
		/* Known already. */
		CHECK_EQ(reader.events.n, r.events.n);
		reader_cursor_fini(&c);
	}
	reader_close(&reader);
	str_fini(&file);
	recording_fini(&r);
}

TEST(dialect_of_pipes_in_a_pipe_has_the_same_records)
{
	struct recording r = {0};
	struct str file = {0};
	int status;
	pid_t pid;

	recording_example(&r, N_SAMPLES);
	compose_pipe(&r, &file);
	pid = pour(&file);
	check_same(&r, "-");
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	str_fini(&file);
	recording_fini(&r);
}

TEST(dialect_of_a_file_in_a_pipe_has_the_same_records)
{
	struct recording r = {0};
	struct str file = {0};
	pid_t pid;

	recording_example(&r, N_SAMPLES);
	recording_compose(&r, NULL, &file);
	pid = pour(&file);
	check_same(&r, "-");
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	str_fini(&file);
	recording_fini(&r);
}

TEST(dialect_of_a_pipe_that_is_spooled_can_be_read_twice)
{
	struct recording r = {0};
	struct str file = {0}, first = {0}, second = {0};
	struct reader_damage damage;
	struct reader reader;
	struct err err;
	pid_t pid;

	recording_example(&r, N_SAMPLES);
	compose_pipe(&r, &file);
	pid = pour(&file);
	CHECK_EQ(reader_open(&reader, "-", NULL, &err), 0);
	CHECK(reader.is_stream);
	CHECK_EQ(reader_spool(&reader, &err), 0);
	CHECK(!reader.is_stream);
	read_all(&reader, &first, &damage);
	read_all(&reader, &second, &damage);
	CHECK_EQ(first.n, r.data.n);
	CHECK(!memcmp(first.at, r.data.at, first.n));
	CHECK_EQ(second.n, first.n);
	CHECK(!memcmp(first.at, second.at, first.n));
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	reader_close(&reader);
	str_fini(&first);
	str_fini(&second);
	str_fini(&file);
	recording_fini(&r);
}

/* Records, compressed as one stream that is cut into records anywhere. */
static void compress_bytes(const char *at, size_t n, bool is_second_form, size_t step,
	struct recording *to)
{
	ZSTD_CStream *stream = ZSTD_createCStream();
	ZSTD_inBuffer in = {at, 0, 0};

	ZSTD_initCStream(stream, 1);
	while (in.pos < n) {
		u8 packed[32 << 10];
		u64 size;
		ZSTD_outBuffer out = {packed + 8, sizeof(packed) - 8, 0};

		in.size = MIN(in.pos + step, n);
		while (in.pos < in.size)
			CHECK(!ZSTD_isError(ZSTD_compressStream(stream, &out, &in)));
		CHECK_EQ(ZSTD_flushStream(stream, &out), 0);
		size = out.pos;
		if (is_second_form) {
			size_t padded = align_up(out.pos, 8);

			memcpy(packed, &size, 8);
			memset(packed + 8 + out.pos, 0xee, padded - out.pos);
			recording_raw(to, PERF_RECORD_COMPRESSED2, 0, packed, 8 + padded);
		} else {
			recording_raw(to, PERF_RECORD_COMPRESSED, 0, packed + 8, out.pos);
		}
	}
	ZSTD_freeCStream(stream);
}

static void compress_data(const struct recording *from, bool is_second_form, size_t step,
	struct recording *to)
{
	compress_bytes(from->data.at, from->data.n, is_second_form, step, to);
}

static void check_compressed(bool is_second_form, size_t step)
{
	struct recording plain = {0}, packed = {0};

	recording_example(&plain, N_SAMPLES);
	vec_each(e, &plain.events)
		recording_event(&packed, e->name, e->attr.sample_type, e->ids ? e->ids[0] : 0,
			e->n_ids);
	compress_data(&plain, is_second_form, step, &packed);
	recording_write(&packed, NULL, test_path("perf.data"));
	check_same(&plain, test_path("perf.data"));
	recording_fini(&plain);
	recording_fini(&packed);
}

TEST(dialect_of_compressed_records_has_the_records_that_are_inside)
{
	static const size_t steps[] = {5, 48, 1000, 20000};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		check_compressed(false, steps[i]);
		check_compressed(true, steps[i]);
	}
}

TEST(dialect_of_compressed_records_ends_where_they_are_damaged)
{
	struct recording plain = {0}, packed = {0};
	struct reader_damage damage;
	struct reader reader;
	struct str out = {0};
	struct err err;

	recording_example(&plain, N_SAMPLES);
	vec_each(e, &plain.events)
		recording_event(&packed, e->name, e->attr.sample_type, 1, e->n_ids);
	compress_data(&plain, false, 3000, &packed);
	/* The third one is no zstd any more. */
	memset(packed.data.at + packed.starts.at[2] + 8, 0xff, 40);
	recording_write(&packed, NULL, test_path("perf.data"));
	CHECK_EQ(reader_open(&reader, test_path("perf.data"), NULL, &err), 0);
	read_all(&reader, &out, &damage);
	CHECK_STR(damage.reason, "a compressed record cannot be unpacked");
	CHECK_EQ(damage.offset, recording_data_offset(&packed) + packed.starts.at[2]);
	/* What the two before it hold is there, up to the record that goes on in the third. */
	CHECK(out.n > 5000 && out.n <= 6000);
	CHECK(!memcmp(out.at, plain.data.at, out.n));
	reader_close(&reader);
	str_fini(&out);
	recording_fini(&plain);
	recording_fini(&packed);
}

TEST(dialect_of_a_directory_has_the_records_of_all_files)
{
	struct recording r = {0}, head = {0};
	const char *dir = test_path("dir");
	size_t middle;
	char path[4200];

	recording_example(&r, N_SAMPLES);
	middle = r.starts.at[r.starts.n / 2];
	vec_each(e, &r.events)
		recording_event(&head, e->name, e->attr.sample_type, e->ids ? e->ids[0] : 0,
			e->n_ids);
	/* The head has the first record; data.2 stands before data.10. */
	recording_raw(&head, ((const struct record_header *)(const void *)r.data.at)->type,
		((const struct record_header *)(const void *)r.data.at)->misc, r.data.at + 8,
		r.starts.at[1] - 8);
	CHECK_EQ(mkdir(dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/data", dir);
	recording_write(&head, NULL, path);
	snprintf(path, sizeof(path), "%s/data.2", dir);
	test_write(path, r.data.at + r.starts.at[1], middle - r.starts.at[1]);
	snprintf(path, sizeof(path), "%s/data.10", dir);
	test_write(path, r.data.at + middle, r.data.n - middle);
	check_same(&r, dir);
	recording_fini(&r);
	recording_fini(&head);
}

/* A part of the records as a stream of its own in dir/data.N. */
static void write_packed_part(const char *dir, unsigned number, const char *at, size_t n)
{
	struct recording packed = {0};
	char path[4200];

	compress_bytes(at, n, false, 3000, &packed);
	snprintf(path, sizeof(path), "%s/data.%u", dir, number);
	test_write(path, packed.data.at, packed.data.n);
	recording_fini(&packed);
}

/*
 * A directory whose head has no records, and whose two files are packed each by itself; the first
 * one lacks its last `n_missing` bytes.
 */
static void write_packed_directory(const struct recording *r, const char *dir, size_t middle,
	size_t n_missing)
{
	struct recording head = {0};
	char path[4200];

	vec_each(e, &r->events)
		recording_event(&head, e->name, e->attr.sample_type, e->ids ? e->ids[0] : 0,
			e->n_ids);
	recording_raw(&head, PERF_RECORD_FINISHED_ROUND, 0, NULL, 0);
	CHECK_EQ(mkdir(dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/data", dir);
	recording_write(&head, NULL, path);
	write_packed_part(dir, 0, r->data.at, middle - n_missing);
	write_packed_part(dir, 1, r->data.at + middle, r->data.n - middle);
	recording_fini(&head);
}

TEST(dialect_of_a_directory_of_compressed_files_has_the_records_of_all)
{
	const size_t n_head = RECORD_HEADER_SIZE;
	struct recording r = {0};
	struct reader_damage damage;
	struct reader reader;
	struct str out = {0};
	struct err err;

	recording_example(&r, N_SAMPLES);
	write_packed_directory(&r, test_path("dir"), r.starts.at[r.starts.n / 2], 0);
	CHECK_EQ(reader_open(&reader, test_path("dir"), NULL, &err), 0);
	for (unsigned walk = 0; walk < 2; walk++) {
		str_clear(&out);
		read_all(&reader, &out, &damage);
		if (damage.reason)
			test_failed(__FILE__, __LINE__, "%s", damage.reason);
		CHECK_EQ(out.n, n_head + r.data.n);
		CHECK(!memcmp(out.at + n_head, r.data.at, r.data.n));
	}
	reader_close(&reader);
	str_fini(&out);
	recording_fini(&r);
}

TEST(dialect_of_a_directory_tells_of_a_compressed_file_that_ends_inside_a_record)
{
	struct recording r = {0};
	struct reader_damage damage;
	struct reader reader;
	struct str out = {0};
	struct err err;
	size_t middle;

	recording_example(&r, N_SAMPLES);
	middle = r.starts.at[r.starts.n / 2];
	write_packed_directory(&r, test_path("dir"), middle, 4);
	CHECK_EQ(reader_open(&reader, test_path("dir"), NULL, &err), 0);
	read_all(&reader, &out, &damage);
	CHECK_STR(damage.reason, "the compressed records end inside a record");
	CHECK(damage.offset >= reader.parts.at[1].base && damage.offset < reader.parts.at[2].base);
	CHECK_EQ(out.n, RECORD_HEADER_SIZE + r.starts.at[r.starts.n / 2 - 1]);
	reader_close(&reader);
	str_fini(&out);
	recording_fini(&r);
}

/* A cursor that stopped inside a compressed record can be aimed at the beginning again. */
TEST(dialect_of_compressed_records_can_be_read_again_by_the_same_cursor)
{
	struct recording plain = {0}, packed = {0};
	struct reader reader;
	struct reader_cursor c;
	struct record rec;
	struct err err;

	recording_example(&plain, N_SAMPLES);
	vec_each(e, &plain.events)
		recording_event(&packed, e->name, e->attr.sample_type, 1, e->n_ids);
	compress_data(&plain, false, 3000, &packed);
	recording_write(&packed, NULL, test_path("perf.data"));
	CHECK_EQ(reader_open(&reader, test_path("perf.data"), NULL, &err), 0);
	reader_cursor_init(&c, &reader, reader.data_start, reader.data_end);
	for (unsigned i = 0; i < 80; i++)
		CHECK_EQ(reader_next(&c, &rec, &err), 1);
	reader_cursor_aim(&c, reader.data_start, reader.data_end);
	for (size_t i = 0; i < plain.starts.n; i++) {
		CHECK_EQ(reader_next(&c, &rec, &err), 1);
		CHECK(!memcmp(rec.at, plain.data.at + plain.starts.at[i], rec.size));
	}
	CHECK_EQ(reader_next(&c, &rec, &err), 0);
	CHECK(!c.damage.reason);
	reader_cursor_fini(&c);
	reader_close(&reader);
	recording_fini(&plain);
	recording_fini(&packed);
}

TEST(dialect_of_pipes_may_end_in_text_that_somebody_wrote_into_it)
{
	struct recording r = {0};
	struct str file = {0};

	recording_example(&r, N_SAMPLES);
	compose_pipe(&r, &file);
	str_add(&file, "[ perf record: Woken up 1 times to write data ]\n");
	test_write(test_path("perf.data"), file.at, file.n);
	check_same(&r, test_path("perf.data"));
	str_fini(&file);
	recording_fini(&r);
}

/* ---- the other byte order ---- */

/* Numbers of a record or of an attr, from native to the other order. */
static void swap_at(struct str *s, size_t at, unsigned size)
{
	for (unsigned i = 0; i < size / 2; i++) {
		char c = s->at[at + i];

		s->at[at + i] = s->at[at + size - 1 - i];
		s->at[at + size - 1 - i] = c;
	}
}

/* ---- records of others ---- */

static void put_record(struct str *out, u32 type, u16 misc, u16 size, const void *body, size_t n)
{
	struct record_header header = {type, misc, size};

	str_addn(out, &header, sizeof(header));
	str_addn(out, body, n);
}

/* A string as sections have it, in a record: {u32 room, char text[room]}. */
static void put_typed_string(struct str *out, u32 type, const char *text)
{
	char body[4 + 64] = {64};

	strcpy(body + 4, text);
	put_record(out, type, 0, sizeof(struct record_header) + sizeof(body), body, sizeof(body));
}

/* What Google's perf wrote into pipes in place of HEADER_FEATURE, before the events. */
TEST(dialect_with_a_record_type_for_each_section_has_the_same_records)
{
	const u32 n_cpus[2] = {8, 4};
	struct str file = {0}, plain = {0};
	struct recording r = {0};
	struct reader reader;
	struct err err;

	recording_example(&r, N_SAMPLES);
	compose_pipe(&r, &plain);
	str_addn(&file, plain.at, 16);
	put_typed_string(&file, 69, "chrome");
	put_typed_string(&file, 70, "3.4.0");
	put_typed_string(&file, 71, "3.4.1");
	put_typed_string(&file, 72, "x86_64");
	put_record(&file, 73, 0, 16, n_cpus, sizeof(n_cpus));
	put_typed_string(&file, 74, "a processor");
	str_addn(&file, plain.at + 16, plain.n - 16);
	test_write(test_path("perf.data"), file.at, file.n);
	check_same(&r, test_path("perf.data"));
	CHECK_EQ(reader_open(&reader, test_path("perf.data"), NULL, &err), 0);
	CHECK_STR(reader.info.host.hostname, "chrome");
	CHECK_STR(reader.info.host.release, "3.4.0");
	CHECK_STR(reader.info.version, "3.4.1");
	CHECK_STR(reader.info.host.arch, "x86_64");
	CHECK_EQ(reader.info.host.cpus_online, 4);
	CHECK_STR(reader.info.host.cpu_description, "a processor");
	reader_close(&reader);
	str_fini(&plain);
	str_fini(&file);
	recording_fini(&r);
}

/* The same numbers as perf uses them today: an index of ids, a trace's description, a trace. */
TEST(dialect_of_pipes_keeps_what_the_types_of_sections_mean_today)
{
	const u64 index[5] = {1, 100, 0, 0, 4242}, info[2] = {1, 0}, trace[5] = {16};
	struct str file = {0}, plain = {0};
	struct recording r = {0};
	struct reader reader;
	struct reader_cursor c;
	struct record rec;
	struct err err;

	recording_example(&r, N_SAMPLES);
	compose_pipe(&r, &plain);
	str_addn(&file, plain.at, plain.n - r.data.n);
	put_record(&file, PERF_RECORD_ID_INDEX, 0, 48, index, sizeof(index));
	put_record(&file, PERF_RECORD_AUXTRACE_INFO, 0, 24, info, sizeof(info));
	put_record(&file, PERF_RECORD_AUXTRACE, 0, 48, trace, sizeof(trace));
	str_addn(&file, "sixteen bytes of", 16);
	str_addn(&file, r.data.at, r.data.n);
	test_write(test_path("perf.data"), file.at, file.n);
	CHECK_EQ(reader_open(&reader, test_path("perf.data"), NULL, &err), 0);
	CHECK(!reader.has_typed_sections && !reader.info.host.hostname);
	reader_cursor_init(&c, &reader, reader.preface, reader.data_end);
	while (reader_next(&c, &rec, &err) > 0)
		if (rec.type == PERF_RECORD_AUXTRACE)
			CHECK_EQ(c.payload, 16);
	CHECK(!c.damage.reason);
	reader_cursor_fini(&c);
	reader_close(&reader);
	str_fini(&plain);
	str_fini(&file);
	recording_fini(&r);
}

/* simpleperf counts the data of TRACING_DATA in the record's size. */
TEST(dialect_of_simpleperf_has_formats_of_tracepoints_inside_of_their_record)
{
	static const u32 types[] = {PERF_RECORD_HEADER_TRACING_DATA,
		SIMPLEPERF_RECORD_TRACING_DATA};
	char formats[300] = "the formats";
	const u32 n = 100;
	struct str body = {0};

	str_addn(&body, &n, sizeof(n));
	str_addn(&body, formats, sizeof(formats));
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct recording r = {0};
		struct str first = {0};
		struct reader reader;
		struct err err;

		recording_example(&r, N_SAMPLES);
		put_record(&first, types[i], 0, 8 + body.n, body.at, body.n);
		str_addn(&first, r.data.at, r.data.n);
		str_clear(&r.data);
		str_addn(&r.data, first.at, first.n);
		recording_write(&r, NULL, test_path("perf.data"));
		check_same(&r, test_path("perf.data"));
		CHECK_EQ(reader_open(&reader, test_path("perf.data"), NULL, &err), 0);
		CHECK_EQ(reader.info.tracing_data.n, 100);
		CHECK(!strcmp(reader.info.tracing_data.at, "the formats"));
		reader_close(&reader);
		str_fini(&first);
		recording_fini(&r);
	}
	str_fini(&body);
}

/* Its own records may have more bytes than 16 bits say: the upper half stands where others have flags. */
TEST(dialect_of_simpleperf_has_records_of_any_size)
{
	const u32 n = 200000;
	struct str body = {0}, first = {0}, out = {0}, swapped;
	struct reader_damage damage;
	struct recording r = {0};
	struct reader reader;
	struct err err;

	recording_example(&r, N_SAMPLES);
	str_addn(&body, &n, sizeof(n));
	str_fill(&body, 'f', n + 4);
	put_record(&first, SIMPLEPERF_RECORD_TRACING_DATA, (8 + body.n) >> 16, (u16)(8 + body.n),
		body.at, body.n);
	str_addn(&first, r.data.at, r.data.n);
	put_record(&first, SIMPLEPERF_RECORD_KERNEL_SYMBOL, (8 + body.n) >> 16, (u16)(8 + body.n),
		body.at, body.n);
	str_addn(&first, r.data.at, r.data.n);
	vec_fini(&r.starts);
	swapped = r.data;
	r.data = first;
	first = swapped;
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(reader_open(&reader, test_path("perf.data"), NULL, &err), 0);
	CHECK_EQ(reader.info.tracing_data.n, n);
	CHECK_EQ(reader.info.tracing_data.at[n - 1], 'f');
	read_all(&reader, &out, &damage);
	CHECK(!damage.reason);
	/* Of each record of theirs its first bytes, and all others. */
	CHECK_EQ(out.n, 2 * first.n + 2 * 65528);
	CHECK(!memcmp(out.at + 65528, first.at, first.n));
	CHECK(!memcmp(out.at + out.n - first.n, first.at, first.n));
	reader_close(&reader);
	str_fini(&body);
	str_fini(&first);
	str_fini(&out);
	recording_fini(&r);
}

TEST(dialect_of_the_other_byte_order_has_the_same_records)
{
	struct recording r = {0};
	struct str file = {0};
	struct reader_damage damage;
	struct reader reader;
	struct str out = {0};
	struct err err;
	size_t data;

	/* One event of words only: a layout that can be turned around by hand. */
	recording_event(&r, "e", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 1, 1);
	r.events.at[0].attr.flags = ATTR_SAMPLE_ID_ALL;
	for (u64 i = 0; i < 50; i++)
		recording_sample(&r, 0, PERF_RECORD_MISC_USER,
			&(struct sample){.ip = 0x1122334455667788 + i,
				.pid = 7,
				.tid = 0x01020304,
				.time = 1000 + i});
	recording_compose(&r, NULL, &file);
	data = recording_data_offset(&r);
	for (size_t i = 0; i < r.starts.n; i++) {
		size_t at = data + r.starts.at[i];

		swap_at(&file, at, 4);
		swap_at(&file, at + 4, 2);
		swap_at(&file, at + 6, 2);
		swap_at(&file, at + 8, 8);
		swap_at(&file, at + 16, 4);
		swap_at(&file, at + 20, 4);
		swap_at(&file, at + 24, 8);
	}
	/* The attr: sample_id_all is the 19th bit from the other end. */
	u64 attrs, ids;
	memcpy(&attrs, file.at + offsetof(struct layout_header, attrs), 8);
	for (size_t word = 8; word < 48; word += 8)
		if (word != 40)
			swap_at(&file, attrs + word, 8);
	swap_at(&file, attrs, 4);
	swap_at(&file, attrs + 4, 4);
	memset(file.at + attrs + 40, 0, 8);
	file.at[attrs + 40 + 18 / 8] = (char)(0x80 >> 18 % 8);
	memcpy(&ids, file.at + attrs + ATTR_SIZE_VER8, 8);
	swap_at(&file, ids, 8);
	swap_at(&file, attrs + ATTR_SIZE_VER8, 8);
	swap_at(&file, attrs + ATTR_SIZE_VER8 + 8, 8);
	for (size_t at = 0; at < sizeof(struct layout_header); at += 8)
		swap_at(&file, at, 8);
	test_write(test_path("perf.data"), file.at, file.n);
	if (reader_open(&reader, test_path("perf.data"), NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	CHECK(reader.is_foreign);
	CHECK_EQ(reader.events.at[0].attr.flags, ATTR_SAMPLE_ID_ALL);
	CHECK_EQ(reader.events.at[0].ids[0], 1);
	read_all(&reader, &out, &damage);
	CHECK(!damage.reason);
	CHECK_EQ(out.n, r.data.n);
	CHECK(!memcmp(out.at, r.data.at, out.n));
	reader_close(&reader);
	str_fini(&out);
	str_fini(&file);
	recording_fini(&r);
}

/* ---- cut anywhere ---- */

/* How many of the records end before a length. */
static u64 n_before(const struct recording *r, u64 length)
{
	u64 n = 0, data = recording_data_offset(r);

	for (size_t i = 0; i < r->starts.n; i++)
		n += data + (i + 1 < r->starts.n ? r->starts.at[i + 1] : r->data.n) <= length;
	return n;
}

static u64 ignore_state(void *ctx, const struct record *rec, const union record_body *body,
	u64 time)
{
	(void)ctx, (void)rec, (void)body, (void)time;
	return 0;
}

static u64 n_scanned(const char *path)
{
	struct session s;
	struct err err;
	u64 n = 0;

	CHECK_EQ(session_open(&s, path, NULL, &err), 0);
	CHECK_EQ(session_scan(&s, ignore_state, NULL, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(s.tally.n_by_type); i++)
		n += s.tally.n_by_type[i];
	session_close(&s);
	return n;
}

/* *ret_whole: the recording says that nothing is missing. */
static u64 n_streamed(const char *path, bool *ret_whole)
{
	struct session s;
	struct stream stream;
	struct stream_event e;
	struct err err;
	u64 n = 0;

	CHECK_EQ(session_open(&s, path, NULL, &err), 0);
	stream_init(&stream, &s);
	while (stream_next(&stream, &e, &err) > 0)
		n++;
	*ret_whole = !s.tally.damage.reason;
	/* What is missing is said with where and how much. */
	CHECK(*ret_whole || (s.tally.damage.bytes && s.tally.damage.offset));
	stream_fini(&stream);
	session_close(&s);
	return n;
}

static void check_all_cuts(struct recording *r, const struct file_info *info)
{
	const char *path = test_path("perf.data");
	u64 data = recording_data_offset(r), end = data + r->data.n;
	struct str file = {0};

	recording_compose(r, info, &file);
	test_write(path, file.at, file.n);
	for (u64 length = file.n; length-- > 0;) {
		struct session s;
		struct err err;
		bool is_whole;
		u64 n;

		CHECK_EQ(truncate(path, (off_t)length), 0);
		if (length < data) {
			CHECK_EQ(session_open(&s, path, NULL, &err), ERR_FORMAT);
			continue;
		}
		n = n_before(r, length);
		CHECK_EQ(n_scanned(path), n);
		CHECK_EQ(n_streamed(path, &is_whole), n);
		CHECK_EQ(is_whole, length >= end);
	}
	str_fini(&file);
}

TEST(dialects_cut_at_any_byte_give_all_records_before_the_cut)
{
	struct recording r = {0};
	struct file_info info;

	recording_example(&r, 25);
	recording_describe(&r, &info);
	check_all_cuts(&r, &info);
	file_info_fini(&info);
	recording_fini(&r);
}

TEST(dialects_cut_at_any_byte_without_sections_or_ids_give_all_records_before_the_cut)
{
	struct recording r = {0};

	recording_event(&r, "e", PERF_SAMPLE_IP | PERF_SAMPLE_RAW, 1, 0);
	for (u64 i = 0; i < 40; i++)
		recording_sample(&r, 0, 0,
			&(struct sample){.ip = i, .raw = {(const u8 *)"raw bytes 12", 12}});
	check_all_cuts(&r, NULL);
	recording_fini(&r);
}

TEST(dialects_cut_at_any_byte_in_pipe_mode_give_all_records_before_the_cut)
{
	static const u64 header[] = {LAYOUT_MAGIC_2, 16};
	const char *path = test_path("perf.data");
	struct recording r = {0};
	struct str file = {0};
	u64 ids[] = {1};
	struct record_header attr = {PERF_RECORD_HEADER_ATTR, 0,
		RECORD_HEADER_SIZE + ATTR_SIZE_VER8 + sizeof(ids)};
	u64 data = sizeof(header) + attr.size;

	recording_event(&r, "e", PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER, 1, 1);
	for (u64 i = 0; i < 40; i++)
		recording_sample(&r, 0, 0, &(struct sample){.id = 1, .ip = i, .time = 100 - i});
	str_addn(&file, header, sizeof(header));
	str_addn(&file, &attr, sizeof(attr));
	str_addn(&file, &r.events.at[0].attr, ATTR_SIZE_VER8);
	str_addn(&file, ids, sizeof(ids));
	str_addn(&file, r.data.at, r.data.n);
	test_write(path, file.at, file.n);
	for (u64 length = file.n; length-- > data;) {
		u64 each = r.starts.at[1], n = (length - data) / each;
		bool is_whole;

		CHECK_EQ(truncate(path, (off_t)length), 0);
		CHECK_EQ(n_scanned(path), n);
		CHECK_EQ(n_streamed(path, &is_whole), n);
		/* A pipe that ends behind a record may have been meant to. */
		CHECK_EQ(is_whole, (length - data) % each == 0);
	}
	str_fini(&file);
	recording_fini(&r);
}
