#include "file/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mapped.h"
#include "test.h"
#include "unit/recording.h"
#include "unit/said.h"

enum {
	SAMPLE_BITS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_IDENTIFIER
};

struct fixture {
	struct recording r;
	struct file_info info;
	struct str file;
	u64 data_offset, data_end;
	const char *path;
};

static void fixture_init(struct fixture *f, u32 n_samples, bool has_sections)
{
	memset(f, 0, sizeof(*f));
	recording_example(&f->r, n_samples);
	recording_describe(&f->r, &f->info);
	recording_compose(&f->r, has_sections ? &f->info : NULL, &f->file);
	f->data_offset = recording_data_offset(&f->r);
	f->data_end = f->data_offset + f->r.data.n;
	f->path = test_path("perf.data");
	test_write(f->path, f->file.at, f->file.n);
}

static void fixture_fini(struct fixture *f)
{
	file_info_fini(&f->info);
	recording_fini(&f->r);
	str_fini(&f->file);
}

/* Where record i of the recording begins in the file; behind the last one, where the data ends. */
static u64 start_of(const struct fixture *f, size_t i)
{
	return i < f->r.starts.n ? f->data_offset + f->r.starts.at[i] : f->data_end;
}

static int open_quietly(struct reader *r, const char *path, struct err *err)
{
	memset(err, 0, sizeof(*err));
	return reader_open(r, path, NULL, err);
}

/* Walks all of the data; how many records it has. */
static size_t walk(struct reader *r, struct reader_damage *ret_damage)
{
	struct reader_cursor cursor;
	struct record rec;
	struct err err;
	size_t n = 0;
	int result;

	reader_cursor_init(&cursor, r, r->data_start, r->data_end);
	while ((result = reader_next(&cursor, &rec, &err)) > 0) {
		/* Every byte that is handed out can be read. */
		for (u16 i = 0; i < rec.size; i++)
			(void)*(const volatile u8 *)(rec.at + i);
		n++;
	}
	CHECK_EQ(result, 0);
	/* The end stays the end. */
	CHECK_EQ(reader_next(&cursor, &rec, &err), 0);
	*ret_damage = cursor.damage;
	reader_cursor_fini(&cursor);
	return n;
}

/* ---- whole files ---- */

TEST(reader_walks_every_record_with_its_offset_and_bytes)
{
	struct reader_cursor cursor;
	struct reader reader;
	struct record rec;
	struct fixture f;
	struct err err;
	size_t n = 0;

	fixture_init(&f, 200, true);
	CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
	CHECK_EQ(reader.data_start, f.data_offset);
	CHECK_EQ(reader.data_end, f.data_end);
	CHECK(!reader.is_unfinished);
	CHECK(!reader.is_cut);
	reader_cursor_init(&cursor, &reader, reader.data_start, reader.data_end);
	while (reader_next(&cursor, &rec, &err) > 0) {
		CHECK_EQ(rec.offset, start_of(&f, n));
		CHECK_EQ(rec.size, start_of(&f, n + 1) - start_of(&f, n));
		CHECK(!memcmp(rec.at, f.file.at + rec.offset, rec.size));
		CHECK_EQ(rec.type, load_u32(f.file.at + rec.offset));
		n++;
	}
	CHECK_EQ(n, f.r.starts.n);
	CHECK(!cursor.damage.reason);
	reader_cursor_fini(&cursor);
	reader_close(&reader);
	fixture_fini(&f);
}

TEST(reader_knows_events_ids_names_and_groups)
{
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 1, true);
	CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
	CHECK_EQ(reader.events.n, 2);
	CHECK_STR(reader.events.at[0].name, "cpu-clock");
	CHECK_STR(reader.events.at[1].name, "second:u");
	CHECK_EQ(reader.events.at[0].n_ids, 2);
	CHECK_EQ(reader.events.at[0].ids[1], 101);
	CHECK_EQ(reader.events.at[1].n_ids, 3);
	CHECK_EQ(reader.events.at[1].ids[2], 202);
	CHECK(!memcmp(&reader.events.at[1].attr, &f.r.events.at[1].attr,
		sizeof(struct event_attr)));
	CHECK_EQ(reader.events.at[0].n_members, 2);
	CHECK_EQ(reader.events.at[1].leader, 0);
	CHECK_EQ(reader.events.at[1].n_members, 0);
	CHECK_STR(reader.info.host.hostname, "vm");
	CHECK_EQ(reader.info.build_ids.n, 1);
	CHECK_EQ(reader.info.last_time, 500);
	reader_close(&reader);
	fixture_fini(&f);
}

TEST(reader_names_events_that_the_file_does_not_name)
{
	static const struct {
		struct event_attr attr;
		const char *name;
	} cases[] = {
		{{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK}, "cpu-clock"},
		{{.type = PERF_TYPE_HARDWARE,
			 .config = PERF_COUNT_HW_CPU_CYCLES,
			 .flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV},
			"cycles:u"},
		{{.type = PERF_TYPE_HARDWARE,
			 .config = PERF_COUNT_HW_CPU_CYCLES,
			 .flags = ATTR_EXCLUDE_USER},
			"cycles:kh"},
		{{.type = PERF_TYPE_HARDWARE, .flags = 2ULL << ATTR_PRECISE_SHIFT}, "cycles:pp"},
		{{.type = PERF_TYPE_HARDWARE,
			 .flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV |
				 3ULL << ATTR_PRECISE_SHIFT},
			"cycles:uppp"},
		{{.type = PERF_TYPE_RAW, .config = 0x1c2}, "raw 0x1c2"},
		{{.type = 77, .config = UINT64_MAX}, "type 77 config 0xffffffffffffffff"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct recording r = {0};
		struct reader reader;
		struct err err;

		recording_event(&r, "unused", SAMPLE_BITS, 1, 1);
		r.events.at[0].attr = cases[i].attr;
		r.events.at[0].attr.size = ATTR_SIZE_VER8;
		recording_write(&r, NULL, test_path("perf.data"));
		CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), 0);
		CHECK_STR(reader.events.at[0].name, cases[i].name);
		reader_close(&reader);
		recording_fini(&r);
	}
}

TEST(reader_takes_no_name_of_another_event)
{
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 1, true);
	str_clear(&f.file);
	f.info.events.at[0].attr.config = 77;
	f.info.events.at[1].name = "";
	/* A group that names events which are not there is no group. */
	f.info.groups.at[0].n_members = 3;
	recording_compose(&f.r, &f.info, &f.file);
	test_write(f.path, f.file.at, f.file.n);
	CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
	CHECK_STR(reader.events.at[0].name, "cpu-clock");
	CHECK_STR(reader.events.at[1].name, "cpu-clock");
	CHECK_EQ(reader.events.at[1].leader, 1);
	reader_close(&reader);
	fixture_fini(&f);
}

TEST(reader_takes_attrs_of_up_to_4096_bytes)
{
	static const u64 sizes[] = {ATTR_SIZE_VER0 + 16, ATTR_SIZE_VER9 + 16, 1000, 4096, 4104,
		8192};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct event_attr attr = {.type = PERF_TYPE_HARDWARE,
			.size = ATTR_SIZE_VER0,
			.sample_type = PERF_SAMPLE_IP};
		struct layout_header header = {.magic = LAYOUT_MAGIC_2,
			.size = sizeof(header),
			.attr_size = sizes[i],
			.attrs = {sizeof(header), 2 * sizes[i]},
			.data = {sizeof(header) + 2 * sizes[i], 8}};
		struct record_header round = {PERF_RECORD_FINISHED_ROUND, 0, sizeof(round)};
		struct str file = {0};
		struct reader reader;
		struct err err;

		str_addn(&file, &header, sizeof(header));
		for (unsigned k = 0; k < 2; k++) {
			str_addn(&file, &attr, ATTR_SIZE_VER0);
			str_fill(&file, '\0', sizes[i] - ATTR_SIZE_VER0);
		}
		str_addn(&file, &round, sizeof(round));
		test_write(test_path("perf.data"), file.at, file.n);
		if (sizes[i] > 4096) {
			CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), ERR_FORMAT);
			CHECK_HAS(err.msg, "not 80 to 4096");
		} else {
			CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), 0);
			CHECK_EQ(reader.events.n, 2);
			CHECK_STR(reader.events.at[1].name, "cycles");
			CHECK_EQ(reader.events.at[1].attr.size, ATTR_SIZE_VER0);
			reader_close(&reader);
		}
		str_fini(&file);
	}
}

TEST(reader_takes_version_1_files)
{
	struct reader_damage damage;
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 10, true);
	memcpy(f.file.at, "PERFFILE", 8);
	test_write(f.path, f.file.at, f.file.n);
	CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
	CHECK_EQ(walk(&reader, &damage), f.r.starts.n);
	CHECK(!damage.reason);
	reader_close(&reader);
	fixture_fini(&f);
}

/* Records up to the largest, in a file of many buffers: some lie across the edge of each. */
enum { READ, MAPPED_WHOLE, MAPPED_IN_PIECES };

static void check_whole_records(int how, size_t total)
{
	u64 dumps = how == READ ? 0 : PERF_SAMPLE_STACK_USER;
	struct recording r = {0};
	struct reader_cursor cursor;
	struct reader reader;
	struct record rec;
	struct err err;
	u8 *body = mem_alloc(UINT16_MAX);
	u64 dice = 3, offset;
	size_t n = 0;

	recording_event(&r, "e", SAMPLE_BITS | dumps, 1, 1);
	while (r.data.n < total) {
		u16 size = recording_below(&dice, 3) ? recording_below(&dice, 200)
						     : recording_below(&dice, UINT16_MAX - 8);

		memset(body, (int)r.starts.n, size);
		recording_raw(&r, 1000 + r.starts.n, 7, body, size);
	}
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), 0);
	CHECK_EQ(reader.parts.at[0].mapping.at != NULL, how != READ);
	if (how == MAPPED_IN_PIECES)
		mapping_fini(&reader.parts.at[0].mapping);
	offset = reader.data_start;
	reader_cursor_init(&cursor, &reader, reader.data_start, reader.data_end);
	CHECK_EQ(cursor.is_mapped, how != READ);
	while (reader_next(&cursor, &rec, &err) > 0) {
		CHECK_EQ(rec.type, 1000 + n);
		CHECK_EQ(rec.misc, 7);
		CHECK_EQ(rec.offset, offset);
		CHECK(!memcmp(rec.at, r.data.at + r.starts.at[n], rec.size));
		offset += rec.size;
		n++;
	}
	CHECK_EQ(n, r.starts.n);
	CHECK(!cursor.damage.reason);
	reader_cursor_fini(&cursor);
	reader_close(&reader);
	recording_fini(&r);
	mem_free(body);
}

TEST(reader_records_are_whole_across_its_buffers)
{
	check_whole_records(READ, 3 << 20);
}

TEST(reader_records_are_whole_where_the_file_is_mapped)
{
	mapped_read_zeros();
	check_whole_records(MAPPED_WHOLE, 3 << 20);
	check_whole_records(MAPPED_IN_PIECES, 33 << 20);
}

/* Whoever else writes to it: a mapped page that is gone would end this process. */
TEST(reader_of_a_mapped_file_that_is_cut_meanwhile_says_where_it_ends)
{
	u8 body[1000] = {0};

	mapped_read_zeros();
	for (int how = MAPPED_WHOLE; how <= MAPPED_IN_PIECES; how++) {
		struct reader_damage damage;
		struct recording r = {0};
		struct reader reader;
		struct err err;
		size_t n;
		int fd;

		recording_event(&r, "e", SAMPLE_BITS | PERF_SAMPLE_STACK_USER, 1, 1);
		while (r.data.n < 1 << 20)
			recording_raw(&r, 1000, 0, body, sizeof(body));
		recording_write(&r, NULL, test_path("perf.data"));
		CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), 0);
		if (how == MAPPED_IN_PIECES)
			mapping_fini(&reader.parts.at[0].mapping);
		fd = open(test_path("perf.data"), O_RDWR);
		CHECK_EQ(ftruncate(fd, 1 << 19), 0);
		close(fd);
		n = walk(&reader, &damage);
		CHECK(n > 500 && n < 530);
		CHECK(damage.reason);
		CHECK(damage.offset <= (1 << 19) + sizeof(body) + 8 &&
			damage.offset > (1 << 19) - 2000);
		reader_close(&reader);
		recording_fini(&r);
	}
}

TEST(reader_cursor_stops_before_the_first_record_behind_its_part)
{
	struct reader_cursor cursor;
	struct reader reader;
	struct record rec;
	struct fixture f;
	struct err err;

	fixture_init(&f, 60, true);
	CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
	reader_cursor_init(&cursor, &reader, 0, 0);
	CHECK_EQ(reader_next(&cursor, &rec, &err), 0);
	for (size_t from = 0; from < f.r.starts.n; from++) {
		for (size_t to = from; to <= f.r.starts.n; to += 3) {
			reader_cursor_aim(&cursor, start_of(&f, from), start_of(&f, to));
			for (size_t i = from; i < to; i++) {
				CHECK_EQ(reader_next(&cursor, &rec, &err), 1);
				CHECK_EQ(rec.offset, start_of(&f, i));
				CHECK(!memcmp(rec.at, f.file.at + rec.offset, rec.size));
			}
			CHECK_EQ(reader_next(&cursor, &rec, &err), 0);
			CHECK(!cursor.damage.reason);
		}
		/* The part may end inside a record: it belongs to who begins it. */
		reader_cursor_aim(&cursor, start_of(&f, from), start_of(&f, from) + 1);
		CHECK_EQ(reader_next(&cursor, &rec, &err), 1);
		CHECK_EQ(rec.size, start_of(&f, from + 1) - start_of(&f, from));
		CHECK_EQ(reader_next(&cursor, &rec, &err), 0);
	}
	reader_cursor_fini(&cursor);
	reader_close(&reader);
	fixture_fini(&f);
}

/* ---- traces behind AUXTRACE records ---- */

static void add_auxtrace(struct recording *r, u64 size)
{
	u64 body[5] = {size};

	recording_raw(r, PERF_RECORD_AUXTRACE, 0, body, sizeof(body));
}

TEST(reader_hops_over_traces)
{
	struct recording r = {0};
	struct reader_damage damage;
	struct reader reader;
	struct err err;

	recording_event(&r, "e", SAMPLE_BITS, 1, 1);
	recording_comm(&r, 0, (struct recording_who){1, 1, 1}, "a");
	add_auxtrace(&r, 1000);
	/* It looks like anything but records. */
	str_fill(&r.data, '\0', 1000);
	recording_comm(&r, 0, (struct recording_who){1, 1, 2}, "b");
	add_auxtrace(&r, 0);
	/* One too short to say how long its trace is has none. */
	recording_raw(&r, PERF_RECORD_AUXTRACE, 0, NULL, 0);
	recording_comm(&r, 0, (struct recording_who){1, 1, 3}, "c");
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), 0);
	CHECK_EQ(walk(&reader, &damage), 6);
	CHECK(!damage.reason);
	reader_close(&reader);
	recording_fini(&r);
}

TEST(reader_says_where_a_trace_is_cut)
{
	static const u64 sizes[] = {17, 1 << 20, 1ULL << 32, 1ULL << 63, UINT64_MAX - 100,
		UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct recording r = {0};
		struct reader_damage damage;
		struct reader reader;
		struct err err;

		recording_event(&r, "e", SAMPLE_BITS, 1, 1);
		recording_comm(&r, 0, (struct recording_who){1, 1, 1}, "a");
		add_auxtrace(&r, sizes[i]);
		str_fill(&r.data, 'x', 16);
		recording_write(&r, NULL, test_path("perf.data"));
		CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), 0);
		/* The record itself is whole. */
		CHECK_EQ(walk(&reader, &damage), 2);
		CHECK_STR(damage.reason, "the file ends inside a trace");
		CHECK_EQ(damage.offset, reader.data_end - 16);
		CHECK_EQ(damage.bytes, 16);
		reader_close(&reader);
		recording_fini(&r);
	}
}

/* ---- files that are cut ---- */

/* What a file of which only n bytes are left must look like. */
static void check_cut(const struct fixture *f, u64 n)
{
	u64 attrs_end = sizeof(struct layout_header) + 5 * 8 + 2 * (ATTR_SIZE_VER8 + 16);
	struct reader_damage damage;
	struct reader reader;
	struct err err;
	size_t whole = 0, n_records;
	int r = open_quietly(&reader, f->path, &err);

	if (n < attrs_end) {
		CHECK_EQ(r, ERR_FORMAT);
		CHECK_HAS(err.msg, f->path);
		return;
	}
	CHECK_EQ(r, 0);
	while (start_of(f, whole + 1) <= MIN(n, f->data_end) && whole < f->r.starts.n)
		whole++;
	n_records = walk(&reader, &damage);
	CHECK_EQ(n_records, whole);
	CHECK_EQ(reader.is_cut, n < f->file.n);
	if (n >= f->data_end || n == start_of(f, whole)) {
		CHECK(!damage.reason);
	} else {
		CHECK_STR(damage.reason, "the file ends inside a record");
		CHECK_EQ(damage.offset, start_of(f, whole));
		CHECK_EQ(damage.bytes, n - start_of(f, whole));
	}
	reader_close(&reader);
}

TEST(reader_reads_what_is_left_of_a_file_cut_at_any_byte)
{
	struct fixture f;

	fixture_init(&f, 60, true);
	/* The sections are cut too: more than 4 KiB in all. */
	CHECK(f.file.n > 4096);
	for (u64 n = f.file.n; n > 0; n--) {
		CHECK_EQ(truncate(f.path, n), 0);
		/* The table of sections is missing, or one of them lies outside: both are damage
		 * behind the records. */
		if (n == f.file.n || n <= f.data_end)
			check_cut(&f, n);
		else {
			struct reader_damage damage;
			struct reader reader;
			struct err err;

			CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
			CHECK_EQ(walk(&reader, &damage), f.r.starts.n);
			CHECK(!damage.reason);
			reader_close(&reader);
		}
	}
	CHECK_EQ(truncate(f.path, 0), 0);
	check_cut(&f, 0);
	fixture_fini(&f);
}

TEST(reader_says_where_a_long_file_is_cut)
{
	struct fixture f;
	int fd;

	fixture_init(&f, 700, true);
	fd = open(f.path, O_RDWR);
	for (size_t i = f.r.starts.n; i-- > 0;) {
		for (int more = 1; more >= -1; more--) {
			CHECK_EQ(ftruncate(fd, start_of(&f, i) + more), 0);
			check_cut(&f, start_of(&f, i) + more);
		}
	}
	close(fd);
	fixture_fini(&f);
}

TEST(reader_ends_at_a_record_shorter_than_its_header)
{
	for (u16 size = 0; size < RECORD_HEADER_SIZE; size++) {
		struct reader_damage damage;
		struct reader reader;
		struct fixture f;
		struct err err;

		fixture_init(&f, 30, true);
		memcpy(f.file.at + start_of(&f, 11) + 6, &size, 2);
		test_write(f.path, f.file.at, f.file.n);
		CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
		CHECK_EQ(walk(&reader, &damage), 11);
		CHECK_STR(damage.reason, "a record claims to be shorter than its header");
		CHECK_EQ(damage.offset, start_of(&f, 11));
		CHECK_EQ(damage.bytes, f.data_end - start_of(&f, 11));
		/* The sections do not suffer. */
		CHECK_STR(reader.info.host.hostname, "vm");
		reader_close(&reader);
		fixture_fini(&f);
	}
}

TEST(reader_walks_an_unfinished_file_to_its_end)
{
	struct said said;
	struct reader_damage damage;
	struct reader reader;
	struct fixture f;
	struct err err;
	u64 none = 0, half[3];

	fixture_init(&f, 30, false);
	memcpy(f.file.at + offsetof(struct layout_header, data.size), &none, 8);
	test_write(f.path, f.file.at, f.file.n);
	said_init(&said, LOG_NOTE);
	CHECK_EQ(reader_open(&reader, f.path, &said.log, &err), 0);
	CHECK(reader.is_unfinished);
	CHECK_EQ(walk(&reader, &damage), f.r.starts.n);
	CHECK(!damage.reason);
	CHECK_HAS(str_text(&said.text), "was not finished by its recorder");
	reader_close(&reader);
	said_fini(&said);
	/* Half a record behind the last whole one. */
	memcpy(half, f.file.at + start_of(&f, 1), sizeof(half));
	str_addn(&f.file, half, 20);
	test_write(f.path, f.file.at, f.file.n);
	CHECK_EQ(open_quietly(&reader, f.path, &err), 0);
	CHECK_EQ(walk(&reader, &damage), f.r.starts.n);
	CHECK_EQ(damage.offset, f.data_end);
	CHECK_EQ(damage.bytes, 20);
	reader_close(&reader);
	fixture_fini(&f);
}

/* perf writes the bits of its sections first and the sections last. */
TEST(reader_says_what_makes_no_sense_in_a_header)
{
	static const struct {
		size_t at;
		u64 value, second;
		const char *said;
	} cases[] = {
		{offsetof(struct layout_header, size), INT64_MAX, 0, "the header says it has"},
		{offsetof(struct layout_header, event_types), 111, 144, "the event names"},
		{offsetof(struct layout_header, event_types), 112, 145, "the event names"},
		{offsetof(struct layout_header, event_types), 1ULL << 40, 144, "the event names"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool has_second = cases[i].second;
		struct reader reader;
		struct said said;
		struct fixture f;
		struct err err;

		fixture_init(&f, 3, false);
		memcpy(f.file.at + cases[i].at, &cases[i].value, 8);
		if (has_second)
			memcpy(f.file.at + cases[i].at + 8, &cases[i].second, 8);
		test_write(f.path, f.file.at, f.file.n);
		said_init(&said, LOG_NOTE);
		CHECK_EQ(reader_open(&reader, f.path, &said.log, &err), 0);
		CHECK_EQ(said_count(&said, "warn: "), 1);
		CHECK_HAS(str_text(&said.text), cases[i].said);
		reader_close(&reader);
		said_fini(&said);
		fixture_fini(&f);
	}
}

TEST(reader_looks_for_no_sections_in_a_file_that_is_unfinished_or_cut)
{
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		struct layout_header header;
		struct said said;
		struct reader reader;
		struct fixture f;
		struct err err;

		fixture_init(&f, 30, false);
		memcpy(&header, f.file.at, sizeof(header));
		layout_set_feature(&header, FEATURE_HOSTNAME);
		layout_set_feature(&header, FEATURE_CMDLINE);
		header.data.size = is_cut ? header.data.size + 8 : 0;
		memcpy(f.file.at, &header, sizeof(header));
		test_write(f.path, f.file.at, f.file.n);
		said_init(&said, LOG_NOTE);
		CHECK_EQ(reader_open(&reader, f.path, &said.log, &err), 0);
		CHECK_EQ(said_count(&said, "warn: "), 1);
		CHECK_HAS(str_text(&said.text), is_cut ? "is cut off" : "was not finished");
		CHECK(!reader.info.host.hostname);
		reader_close(&reader);
		said_fini(&said);
		fixture_fini(&f);
	}
}

TEST(reader_of_a_recording_without_records_has_none)
{
	struct recording r = {0};
	struct said said;
	struct reader_damage damage;
	struct reader reader;
	struct err err;

	recording_event(&r, "e", SAMPLE_BITS, 1, 1);
	recording_write(&r, NULL, test_path("perf.data"));
	said_init(&said, LOG_NOTE);
	CHECK_EQ(reader_open(&reader, test_path("perf.data"), &said.log, &err), 0);
	CHECK_EQ(walk(&reader, &damage), 0);
	CHECK(!damage.reason);
	CHECK_STR(str_text(&said.text), "");
	reader_close(&reader);
	said_fini(&said);
	recording_fini(&r);
}

TEST(reader_says_that_a_file_is_cut_and_how_much_is_there)
{
	struct said said;
	struct reader reader;
	struct fixture f;
	struct err err;
	char expected[64];

	fixture_init(&f, 30, true);
	CHECK_EQ(truncate(f.path, f.data_offset + 100), 0);
	said_init(&said, LOG_NOTE);
	CHECK_EQ(reader_open(&reader, f.path, &said.log, &err), 0);
	snprintf(expected, sizeof(expected), "is cut off: 100 of %zu bytes of records are there",
		f.r.data.n);
	CHECK_HAS(str_text(&said.text), expected);
	reader_close(&reader);
	said_fini(&said);
	fixture_fini(&f);
}

/* ---- sections ---- */

static struct layout_section *table_of(struct fixture *f)
{
	return (struct layout_section *)(void *)(f->file.at + f->data_end);
}

TEST(reader_skips_a_section_outside_the_file_and_reads_the_others)
{
	static const struct layout_section places[] = {{1 << 30, 8}, {0, 1 << 30}, {UINT64_MAX, 1},
		{UINT64_MAX - 3, 8}, {8, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct said said;
		struct reader reader;
		struct fixture f;
		struct err err;

		fixture_init(&f, 5, true);
		/* The first one is BUILD_ID, the second HOSTNAME. */
		memcpy(table_of(&f), &places[i], sizeof(places[i]));
		test_write(f.path, f.file.at, f.file.n);
		said_init(&said, LOG_NOTE);
		CHECK_EQ(reader_open(&reader, f.path, &said.log, &err), 0);
		CHECK_HAS(str_text(&said.text), "section BUILD_ID");
		CHECK_HAS(str_text(&said.text), "is outside the file");
		CHECK_EQ(reader.info.build_ids.n, 0);
		CHECK_STR(reader.info.host.hostname, "vm");
		CHECK_STR(reader.events.at[1].name, "second:u");
		reader_close(&reader);
		said_fini(&said);
		fixture_fini(&f);
	}
}

TEST(reader_says_which_section_is_damaged_and_reads_the_others)
{
	struct said said;
	struct reader reader;
	struct fixture f;
	struct err err;
	u32 huge = 0x7fffffff;
	u64 hostname;

	fixture_init(&f, 5, true);
	memcpy(&hostname, (u8 *)table_of(&f) + sizeof(struct layout_section), 8);
	memcpy(f.file.at + hostname, &huge, 4);
	test_write(f.path, f.file.at, f.file.n);
	said_init(&said, LOG_NOTE);
	CHECK_EQ(reader_open(&reader, f.path, &said.log, &err), 0);
	CHECK_HAS(str_text(&said.text), "feature section HOSTNAME at offset 0x");
	CHECK(!reader.info.host.hostname);
	CHECK_STR(reader.info.version, "hand-made");
	reader_close(&reader);
	said_fini(&said);
	fixture_fini(&f);
}

TEST(reader_reads_past_sections_it_does_not_know)
{
	static const unsigned ids[] = {40, 200, 240, 255};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct layout_section mine;
		struct layout_header header;
		struct said said;
		struct reader reader;
		struct fixture f;
		struct err err;
		size_t n = 0;

		fixture_init(&f, 5, true);
		memcpy(&header, f.file.at, sizeof(header));
		for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
			n += layout_has_feature(&header, id);
		layout_set_feature(&header, ids[i]);
		mine = (struct layout_section){f.file.n + sizeof(mine), 10};
		/* One more line in the table moves all sections behind it. */
		for (size_t k = 0; k < n; k++) {
			struct layout_section *at = table_of(&f) + k, s;

			memcpy(&s, at, sizeof(s));
			s.offset += sizeof(mine);
			memcpy(at, &s, sizeof(s));
		}
		str_fill(&f.file, '?', sizeof(mine) + 10);
		memmove(table_of(&f) + n + 1, table_of(&f) + n,
			mine.offset - f.data_end - (n + 1) * sizeof(mine));
		memcpy(table_of(&f) + n, &mine, sizeof(mine));
		memcpy(f.file.at, &header, sizeof(header));
		test_write(f.path, f.file.at, f.file.n);
		said_init(&said, LOG_NOTE);
		CHECK_EQ(reader_open(&reader, f.path, &said.log, &err), 0);
		CHECK_STR(str_text(&said.text), "");
		CHECK_STR(reader.info.host.hostname, "vm");
		CHECK_EQ(reader.info.build_ids.n, 1);
		CHECK_EQ(reader.sections[ids[i]].size, 10);
		reader_close(&reader);
		said_fini(&said);
		fixture_fini(&f);
	}
}

/* ---- what is no perf.data file ---- */

static void check_refused(const char *path, int code, const char *part)
{
	struct reader reader;
	struct err err;

	CHECK_EQ(open_quietly(&reader, path, &err), code);
	CHECK_HAS(err.msg, part);
}

TEST(reader_refuses_what_is_no_perf_data_file_and_says_what_it_is)
{
	const char *path = test_path("file");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	check_refused(test_path("missing"), ERR_NOENT, "missing");
	check_refused(test_dir(), ERR_NOENT, "is a directory: opening the recording");
	check_refused("/dev/null", ERR_UNSUPPORTED, "neither a file nor a pipe");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", test_path("socket"));
	CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	check_refused(test_path("socket"), ERR_SYS, "socket");
	close(fd);
	test_write(path, "", 0);
	check_refused(path, ERR_FORMAT, "is empty");
	test_write(path, "PERFILE2", 8);
	check_refused(path, ERR_FORMAT, "8 bytes: too few for a perf.data header");
	test_write(path, "\x7f\x45LF\x1b[2J............", 20);
	check_refused(path, ERR_FORMAT,
		"it starts with '\\x7fELF\\x1b[2J........', expected 'PERFILE2'");
	test_write(path, "2ELIFREP........", 16);
	check_refused(path, ERR_FORMAT, "has 16 bytes, but its header alone needs 104");
	test_write(path, "PERFILE2\x10\0\0\0\0\0\0\0", 16);
	check_refused(path, ERR_FORMAT, "no event is described at its beginning");
	test_write(path, "PERFILE2\x68\0\0\0\0\0\0\0", 16);
	check_refused(path, ERR_FORMAT, "has 16 bytes, but its header alone needs 104");
}

TEST(reader_refuses_a_file_it_may_not_read)
{
	const char *path = test_path("secret");
	struct reader reader;
	struct err err;

	test_write(path, "PERFILE2", 8);
	CHECK_EQ(chmod(path, 0), 0);
	CHECK_EQ(chmod(test_dir(), 0755), 0);
	if (!geteuid() && setuid(65534))
		SKIP("cannot become another user: %s", strerror(errno));
	/* Else the leak checker may not look at this process any more. */
	CHECK_EQ(prctl(PR_SET_DUMPABLE, 1), 0);
	CHECK_EQ(open_quietly(&reader, path, &err), ERR_PERM);
	CHECK_HAS(err.msg, "secret': Permission denied");
}

/* ---- hostile files ---- */

/* Opens, walks and closes; only crashes, hangs and wrong codes count. */
static void survive(const char *path)
{
	struct reader_damage damage;
	struct reader reader;
	struct err err;
	int r = open_quietly(&reader, path, &err);

	if (r) {
		CHECK(r == ERR_FORMAT || r == ERR_UNSUPPORTED);
		CHECK_HAS(err.msg, path);
		return;
	}
	walk(&reader, &damage);
	CHECK(reader.data_start <= reader.data_end && reader.data_end <= reader.file_size);
	CHECK(!damage.reason || damage.offset + damage.bytes == reader.data_end);
	reader_close(&reader);
}

/* Writes over a file in place: to truncate it each time would make some file systems flush it each
 * time. */
static void write_over(int fd, const struct str *bytes)
{
	CHECK_EQ(pwrite(fd, bytes->at, bytes->n, 0), bytes->n);
}

TEST(reader_survives_every_number_of_the_header_being_wrong)
{
	static const u64 values[] = {0, 1, 8, 16, 79, 104, 4097, 1ULL << 32, 1ULL << 63,
		UINT64_MAX - 7, UINT64_MAX};
	struct fixture f;
	int fd;

	fixture_init(&f, 20, true);
	fd = open(f.path, O_WRONLY);
	/* The header, the ids, the attrs and where their ids are. */
	for (u64 at = 0; at < f.data_offset; at += 8) {
		u64 kept = load_u64(f.file.at + at);

		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			memcpy(f.file.at + at, &values[i], 8);
			write_over(fd, &f.file);
			survive(f.path);
		}
		memcpy(f.file.at + at, &kept, 8);
	}
	close(fd);
	fixture_fini(&f);
}

TEST(reader_survives_random_damage)
{
	struct fixture f;
	struct str hurt = {0};
	u64 dice = 77;
	int fd;

	fixture_init(&f, 60, true);
	fd = open(f.path, O_WRONLY);
	for (unsigned round = 0; round < 1500; round++) {
		str_clear(&hurt);
		str_addn(&hurt, f.file.at, f.file.n);
		for (u64 n = 1 + recording_below(&dice, 6); n; n--) {
			u64 at = recording_below(&dice, recording_below(&dice, 2) ? 400 : hurt.n);

			hurt.at[at] = recording_below(&dice, 3) ? (char)recording_random(&dice)
								: (char)0xff;
		}
		write_over(fd, &hurt);
		survive(f.path);
	}
	close(fd);
	str_fini(&hurt);
	fixture_fini(&f);
}

/* Every event may name the same part of the file as its ids: all of it, thousands of times. */
TEST(reader_allocates_no_more_ids_than_the_file_can_hold)
{
	enum { EVENTS = 2000, ROOM = 512 << 10 };
	struct recording r = {0};
	struct str file = {0};
	struct layout_section all;
	struct layout_header header;
	struct reader reader;
	struct err err;

	for (u32 i = 0; i < EVENTS; i++)
		recording_event(&r, "e", SAMPLE_BITS, 1, 0);
	recording_compose(&r, NULL, &file);
	str_fill(&file, 'x', ROOM);
	all = (struct layout_section){0, file.n / 8 * 8};
	memcpy(&header, file.at, sizeof(header));
	for (u32 i = 0; i < EVENTS; i++)
		memcpy(file.at + header.attrs.offset + (i + 1) * header.attr_size - sizeof(all),
			&all, sizeof(all));
	test_write(test_path("perf.data"), file.at, file.n);
	CHECK_EQ(open_quietly(&reader, test_path("perf.data"), &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "ids");
	str_fini(&file);
	recording_fini(&r);
}
