#include "file/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/packer.h"
#include "file/reader.h"
#include "file/resection.h"
#include "test.h"
#include "unit/recording.h"

enum { SAMPLE_BITS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER };

/* Two events, and records of many sizes to append. */
struct fixture {
	struct recording r;
	struct file_info info;
	struct writer w;
	const char *path;
};

static void fixture_init(struct fixture *f, u64 data_bytes, u16 largest)
{
	u8 *body = mem_zalloc(UINT16_MAX);
	u64 dice = 5;

	memset(f, 0, sizeof(*f));
	recording_event(&f->r, "one", SAMPLE_BITS, 10, 2);
	recording_event(&f->r, "two:u", SAMPLE_BITS, 20, 1);
	while (f->r.data.n < data_bytes) {
		u16 size = 8 * (1 + recording_below(&dice, largest / 8));

		/* What they hold tells one from the other. */
		memset(body, (int)f->r.starts.n, size);
		recording_raw(&f->r, 1000 + f->r.starts.n, 3, body, size);
	}
	mem_free(body);
	file_info_init(&f->info);
	f->info.host.hostname = "vm";
	f->info.version = "a test";
	vec_each(e, &f->r.events) {
		struct event *copy = event_add(&f->info.events, &e->attr, e->name);

		copy->ids = e->ids;
		copy->n_ids = e->n_ids;
	}
	f->path = test_path("perf.data");
}

static void fixture_fini(struct fixture *f)
{
	file_info_fini(&f->info);
	recording_fini(&f->r);
}

static void open_writer(struct fixture *f)
{
	struct err err;

	if (writer_open(&f->w, f->path, &f->r.events, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

/* Appends the bytes [from, to) of the records, as two runs that meet anywhere. */
static int append(struct fixture *f, u64 from, u64 to, u64 cut, struct err *err)
{
	struct iovec runs[2] = {{f->r.data.at + from, cut - from}, {f->r.data.at + cut, to - cut}};

	return writer_append(&f->w, runs, cut < to ? 2 : 1, err);
}

static u64 end_of(const struct fixture *f, size_t i)
{
	return i + 1 < f->r.starts.n ? f->r.starts.at[i + 1] : f->r.data.n;
}

/* The file at `path` can be read, and its records are the first ones of those made. How many bytes
 * of them there are. */
static u64 check_file(const struct fixture *f, const char *path, struct reader *ret_reader)
{
	struct reader_cursor cursor;
	struct reader reader;
	struct record rec;
	struct err err;
	u64 bytes = 0;

	if (reader_open(&reader, path, NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	reader_cursor_init(&cursor, &reader, reader.data_start, reader.data_end);
	while (reader_next(&cursor, &rec, &err) > 0) {
		CHECK(bytes + rec.size <= f->r.data.n);
		CHECK(!memcmp(rec.at, f->r.data.at + bytes, rec.size));
		bytes += rec.size;
	}
	CHECK(!cursor.damage.reason);
	CHECK_EQ(reader.data_end - reader.data_start, bytes);
	reader_cursor_fini(&cursor);
	if (ret_reader)
		*ret_reader = reader;
	else
		reader_close(&reader);
	return bytes;
}

static void check_events(const struct fixture *f, const struct reader *reader)
{
	CHECK_EQ(reader->events.n, f->r.events.n);
	for (size_t i = 0; i < reader->events.n; i++) {
		const struct event *e = &reader->events.at[i], *expected = &f->r.events.at[i];
		struct event_attr attr = expected->attr;

		attr.size = e->attr.size;
		CHECK(!memcmp(&e->attr, &attr, sizeof(attr)));
		CHECK_STR(e->name, expected->name);
		CHECK_EQ(e->n_ids, expected->n_ids);
		CHECK(!memcmp(e->ids, expected->ids, e->n_ids * 8));
	}
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	CHECK_EQ(lstat(path, &st), 0);
	return st;
}

static void check_content(const char *path, const char *expected)
{
	char buf[256] = {0};
	FILE *f = fopen(path, "r");

	CHECK(f);
	CHECK_EQ(fread(buf, 1, sizeof(buf) - 1, f), strlen(expected));
	CHECK_STR(buf, expected);
	fclose(f);
}

/* ---- what is in the file ---- */

/* Both forms of packed records, also of bytes that cannot be packed. */
TEST(writer_packs_records_in_either_form)
{
	for (int is_padded = 0; is_padded < 2; is_padded++) {
		struct reader_cursor cursor;
		struct packer packer;
		struct reader reader;
		struct fixture f;
		struct record rec;
		struct err err;
		u64 dice = 7, bytes = 0;

		fixture_init(&f, 400 << 10, 40000);
		for (size_t i = 0; i < f.r.starts.n; i++)
			for (u64 at = f.r.starts.at[i] + 8; at < end_of(&f, i); at++)
				f.r.data.at[at] = (char)recording_below(&dice, 256);
		open_writer(&f);
		CHECK_EQ(packer_init(&packer, PACKER_LEVEL, &err), 0);
		packer.is_padded = is_padded;
		f.info.has_compression = true;
		f.info.compression = writer_compression(&packer, PACKER_LEVEL);
		CHECK_EQ(writer_pack(&f.w, &packer, &f.info, &err), 0);
		CHECK_EQ(append(&f, 0, f.r.data.n, 100000, &err), 0);
		CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
		writer_close(&f.w, true);
		packer_fini(&packer);
		CHECK_EQ(reader_open(&reader, f.path, NULL, &err), 0);
		reader_cursor_init(&cursor, &reader, reader.data_start, reader.data_end);
		while (reader_next(&cursor, &rec, &err) > 0) {
			if (rec.type == PERF_RECORD_HEADER_FEATURE)
				continue;
			CHECK(!memcmp(rec.at, f.r.data.at + bytes, rec.size));
			bytes += rec.size;
		}
		CHECK(!cursor.damage.reason);
		CHECK_EQ(bytes, f.r.data.n);
		CHECK(is_padded ? cursor.n_packed2 > 6 && !cursor.n_packed
				: cursor.n_packed > 6 && !cursor.n_packed2);
		/* Each is as long as its successor needs to be aligned. */
		CHECK(!is_padded || (reader.data_end - reader.data_start) % 8 == 0);
		reader_cursor_fini(&cursor);
		reader_close(&reader);
		fixture_fini(&f);
	}
}

TEST(writer_makes_what_the_reader_reads)
{
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 300 << 10, 2000);
	open_writer(&f);
	CHECK_EQ(append(&f, 0, f.r.data.n, 1234, &err), 0);
	CHECK_EQ(writer_data_bytes(&f.w), f.r.data.n);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &reader), f.r.data.n);
	CHECK(!reader.is_unfinished && !reader.is_cut);
	check_events(&f, &reader);
	CHECK_STR(reader.info.host.hostname, "vm");
	CHECK_STR(reader.info.version, "a test");
	/* Nothing lies behind the last section. */
	CHECK_EQ(reader.sections[FEATURE_EVENT_DESC].offset +
			reader.sections[FEATURE_EVENT_DESC].size,
		reader.file_size);
	CHECK_EQ(reader.header.attr_size, ATTR_SIZE_VER8 + 16);
	reader_close(&reader);
	fixture_fini(&f);
}

TEST(writer_gives_attrs_the_size_that_the_largest_needs)
{
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 100, 80);
	f.r.events.at[1].attr.config4 = 9;
	f.info.events.at[1].attr.config4 = 9;
	open_writer(&f);
	CHECK_EQ(append(&f, 0, f.r.data.n, 8, &err), 0);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &reader), f.r.data.n);
	CHECK_EQ(reader.header.attr_size, ATTR_SIZE_VER9 + 16);
	CHECK_EQ(reader.events.at[0].attr.size, ATTR_SIZE_VER9);
	check_events(&f, &reader);
	reader_close(&reader);
	fixture_fini(&f);
}

TEST(writer_keeps_what_it_knows_of_attrs_that_are_larger)
{
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 100, 80);
	f.r.events.at[1].attr.size = sizeof(struct event_attr) + 8;
	open_writer(&f);
	CHECK_EQ(append(&f, 0, f.r.data.n, 8, &err), 0);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &reader), f.r.data.n);
	CHECK_EQ(reader.header.attr_size, sizeof(struct event_attr) + 16);
	CHECK_EQ(reader.events.at[1].attr.size, sizeof(struct event_attr));
	reader_close(&reader);
	fixture_fini(&f);
}

TEST(writer_appends_runs_that_meet_inside_a_record)
{
	for (u64 cut = 0; cut <= 96; cut += 8) {
		struct fixture f;
		struct err err;

		fixture_init(&f, 1000, 96);
		open_writer(&f);
		for (size_t i = 0; i + 2 < f.r.starts.n; i += 3)
			CHECK_EQ(append(&f, f.r.starts.at[i], end_of(&f, i + 2),
					 MIN(f.r.starts.at[i] + cut, end_of(&f, i + 2)), &err),
				0);
		CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
		writer_close(&f.w, true);
		CHECK_EQ(check_file(&f, f.path, NULL), writer_data_bytes(&f.w));
		fixture_fini(&f);
	}
}

TEST(writer_file_can_be_read_at_every_moment)
{
	struct fixture f;
	struct err err;
	u64 synced = 0;

	fixture_init(&f, 100 << 10, 4000);
	open_writer(&f);
	CHECK_EQ(check_file(&f, f.path, NULL), 0);
	for (size_t i = 0; i < f.r.starts.n; i++) {
		u64 from = f.r.starts.at[i], to = end_of(&f, i);

		CHECK_EQ(append(&f, from, to, from + 8, &err), 0);
		/* Before the first time it is an unfinished file, read to its end; then what was
		 * there at the last. */
		CHECK_EQ(check_file(&f, f.path, NULL), synced ? synced : to);
		if (i % 3 != 2)
			continue;
		CHECK_EQ(writer_sync(&f.w, &err), 0);
		synced = to;
		CHECK_EQ(check_file(&f, f.path, NULL), synced);
		/* Once more makes no difference. */
		CHECK_EQ(writer_sync(&f.w, &err), 0);
	}
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	CHECK_EQ(check_file(&f, f.path, NULL), f.r.data.n);
	writer_close(&f.w, true);
	fixture_fini(&f);
}

TEST(writer_foretells_what_is_known_for_the_case_that_it_never_ends)
{
	struct reader reader;
	struct fixture f;
	struct err err;
	u64 n;

	fixture_init(&f, 4096, 64);
	str_add(&f.info.tracing_data, "formats");
	open_writer(&f);
	CHECK_EQ(writer_foretell(&f.w, &f.info, &err), 0);
	n = end_of(&f, 9);
	CHECK_EQ(append(&f, 0, n, n, &err), 0);
	/* Whether its header was told of records or not. */
	for (unsigned is_told = 0; is_told < 2; is_told++) {
		CHECK_EQ(check_file(&f, f.path, &reader), n);
		CHECK_STR(reader.info.host.hostname, "vm");
		CHECK_STR(reader.events.at[1].name, "two:u");
		CHECK_STR(str_text(&reader.info.tracing_data), "formats");
		CHECK(reader.early.size > 0);
		reader_close(&reader);
		CHECK_EQ(writer_sync(&f.w, &err), 0);
	}
	/* What is written at the end holds alone. */
	f.info.host.hostname = "another";
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &reader), n);
	CHECK_STR(reader.info.host.hostname, "another");
	CHECK_EQ(reader.early.size, 0);
	reader_close(&reader);
	fixture_fini(&f);
}

/* Of what was foretold, nothing but the section is left, and everything else is zero. */
static void check_what_is_left(const struct fixture *f, unsigned id)
{
	const struct layout_section *early = &f->w.early, *left;
	struct reader reader;

	check_file(f, f->path, &reader);
	left = &reader.sections[id];
	CHECK(left->offset > early->offset &&
		left->offset + left->size <= early->offset + early->size);
	CHECK(reader_is_zero(&reader, early->offset, left->offset - early->offset));
	CHECK(reader_is_zero(&reader, left->offset + left->size,
		early->offset + early->size - (left->offset + left->size)));
	reader_close(&reader);
}

TEST(writer_repeats_no_section_that_is_as_it_was_foretold)
{
	struct file_info first, second, third;
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 4096, 64);
	open_writer(&f);
	file_info_init(&first);
	file_info_init(&second);
	file_info_init(&third);
	str_add(&first.tracing_data, "formats");
	first.host.hostname = "vm";
	str_add(&second.tracing_data, "formats");
	second.host.hostname = "another";
	third.host.hostname = "vm";
	CHECK_EQ(writer_foretell(&f.w, &first, &err), 0);
	CHECK_EQ(append(&f, 0, f.r.data.n, 8, &err), 0);
	/* One is the same, the other is not. */
	CHECK_EQ(writer_finish(&f.w, &second, &err), 0);
	check_what_is_left(&f, FEATURE_TRACING_DATA);
	/* Once more: what was taken away at first is written behind the records. */
	CHECK_EQ(writer_finish(&f.w, &third, &err), 0);
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &reader), f.r.data.n);
	CHECK_STR(reader.info.host.hostname, "vm");
	CHECK_EQ(reader.info.tracing_data.n, 0);
	CHECK(reader.sections[FEATURE_HOSTNAME].offset >= reader.data_end);
	CHECK(reader_is_zero(&reader, f.w.early.offset, f.w.early.size));
	reader_close(&reader);
	file_info_fini(&first);
	file_info_fini(&second);
	file_info_fini(&third);
	fixture_fini(&f);
}

TEST(writer_without_sections_makes_a_whole_file)
{
	struct file_info nothing;
	struct reader reader;
	struct fixture f;
	struct err err;

	fixture_init(&f, 5000, 100);
	open_writer(&f);
	CHECK_EQ(append(&f, 0, f.r.data.n, 8, &err), 0);
	file_info_init(&nothing);
	CHECK_EQ(writer_finish(&f.w, &nothing, &err), 0);
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &reader), f.r.data.n);
	CHECK_EQ(reader.file_size, reader.data_end);
	reader_close(&reader);
	file_info_fini(&nothing);
	fixture_fini(&f);
}

TEST(writer_gives_back_the_room_it_had_reserved)
{
	struct stat st;
	struct fixture f;
	struct err err;

	fixture_init(&f, 5000, 100);
	open_writer(&f);
	CHECK_EQ(append(&f, 0, f.r.data.n, 8, &err), 0);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, true);
	st = stat_of(f.path);
	CHECK(st.st_blocks * 512 < 64 << 10);
	fixture_fini(&f);
}

/* ---- what was there before ---- */

static void check_own(const char *path)
{
	struct stat st = stat_of(path);

	CHECK(S_ISREG(st.st_mode));
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK_EQ(st.st_uid, geteuid());
	CHECK_EQ(st.st_nlink, 1);
}

static void record_one(struct fixture *f, bool keep)
{
	struct err err;

	open_writer(f);
	check_own(f->path);
	CHECK_EQ(append(f, 0, f->r.data.n, 8, &err), 0);
	CHECK_EQ(writer_finish(&f->w, &f->info, &err), 0);
	writer_close(&f->w, keep);
	if (keep)
		CHECK_EQ(check_file(f, f->path, NULL), f->r.data.n);
}

TEST(writer_file_is_0600_whatever_the_umask)
{
	static const mode_t masks[] = {0, 022, 077};

	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		struct fixture f;

		fixture_init(&f, 100, 80);
		umask(masks[i]);
		record_one(&f, true);
		unlink(f.path);
		fixture_fini(&f);
	}
}

TEST(writer_moves_an_old_file_aside)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	test_write(f.path, "first", 5);
	record_one(&f, true);
	check_content(test_path("perf.data.old"), "first");
	/* And again: only the last one is kept. */
	test_write(f.path, "second", 6);
	CHECK_EQ(chmod(f.path, 0644), 0);
	record_one(&f, true);
	check_content(test_path("perf.data.old"), "second");
	CHECK_EQ(stat_of(test_path("perf.data.old")).st_mode & 07777, 0644);
	fixture_fini(&f);
}

TEST(writer_brings_the_old_file_back_if_nothing_was_recorded)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	test_write(f.path, "first", 5);
	record_one(&f, false);
	check_content(f.path, "first");
	CHECK(!exists(test_path("perf.data.old")));
	/* Where there was none, none remains. */
	unlink(f.path);
	record_one(&f, false);
	CHECK(!exists(f.path));
	CHECK(!exists(test_path("perf.data.old")));
	fixture_fini(&f);
}

TEST(writer_replaces_an_empty_file_of_somebody_else_by_its_own)
{
	struct fixture f;
	struct stat before;
	int fd;

	fixture_init(&f, 100, 80);
	test_write(f.path, "", 0);
	CHECK_EQ(chmod(f.path, 0666), 0);
	if (!geteuid())
		CHECK_EQ(chown(f.path, 65534, 65534), 0);
	before = stat_of(f.path);
	/* Who has it open must not see what is recorded. */
	fd = open(f.path, O_RDONLY);
	record_one(&f, true);
	CHECK(stat_of(f.path).st_ino != before.st_ino);
	CHECK_EQ(lseek(fd, 0, SEEK_END), 0);
	CHECK(!exists(test_path("perf.data.old")));
	close(fd);
	fixture_fini(&f);
}

TEST(writer_follows_no_link_to_a_file)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	test_write(test_path("victim"), "precious", 8);
	CHECK_EQ(symlink(test_path("victim"), f.path), 0);
	record_one(&f, true);
	check_content(test_path("victim"), "precious");
	CHECK(S_ISLNK(stat_of(test_path("perf.data.old")).st_mode));
	fixture_fini(&f);
}

TEST(writer_follows_no_link_to_an_empty_file)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	test_write(test_path("victim"), "", 0);
	CHECK_EQ(symlink(test_path("victim"), f.path), 0);
	record_one(&f, true);
	CHECK_EQ(stat_of(test_path("victim")).st_size, 0);
	fixture_fini(&f);
}

TEST(writer_follows_no_link_to_nowhere)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	CHECK_EQ(symlink(test_path("made through the link"), f.path), 0);
	record_one(&f, true);
	CHECK(!exists(test_path("made through the link")));
	/* Without a recording the link comes back. */
	unlink(f.path);
	CHECK_EQ(symlink("nowhere", f.path), 0);
	record_one(&f, false);
	CHECK(S_ISLNK(stat_of(f.path).st_mode));
	fixture_fini(&f);
}

TEST(writer_follows_no_link_at_the_name_of_the_old_file)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	test_write(f.path, "first", 5);
	test_write(test_path("victim"), "precious", 8);
	CHECK_EQ(symlink(test_path("victim"), test_path("perf.data.old")), 0);
	record_one(&f, true);
	check_content(test_path("victim"), "precious");
	check_content(test_path("perf.data.old"), "first");
	CHECK(S_ISREG(stat_of(test_path("perf.data.old")).st_mode));
	fixture_fini(&f);
}

static void check_refused(struct fixture *f, int code, const char *part)
{
	struct err err;

	CHECK_EQ(writer_open(&f->w, f->path, &f->r.events, &err), code);
	CHECK_HAS(err.msg, part);
	CHECK_HAS(err.msg, f->path);
	CHECK(f->w.fd < 0);
}

TEST(writer_refuses_what_is_no_file)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct fixture f;
	int fd;

	fixture_init(&f, 100, 80);
	CHECK_EQ(mkdir(f.path, 0700), 0);
	check_refused(&f, ERR_INVAL, "is a directory");
	CHECK(S_ISDIR(stat_of(f.path).st_mode));
	CHECK_EQ(rmdir(f.path), 0);
	/* Nobody reads from the FIFO: it must not wait for one. */
	CHECK_EQ(mkfifo(f.path, 0600), 0);
	check_refused(&f, ERR_INVAL, "is a FIFO");
	CHECK(S_ISFIFO(stat_of(f.path).st_mode));
	CHECK_EQ(unlink(f.path), 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", f.path);
	CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	check_refused(&f, ERR_INVAL, "is not a regular file");
	close(fd);
	CHECK_EQ(unlink(f.path), 0);
	/* Like /dev/stdout, which all programs of a machine need. */
	CHECK_EQ(symlink("/dev/full", f.path), 0);
	check_refused(&f, ERR_INVAL, "is not a regular file");
	CHECK(S_ISLNK(stat_of(f.path).st_mode));
	f.path = test_path("no/such/folder");
	check_refused(&f, ERR_NOENT, "creating");
	test_write(test_path("file"), "x", 1);
	f.path = test_path("file/perf.data");
	check_refused(&f, ERR_NOENT, "Not a directory");
	fixture_fini(&f);
}

TEST(writer_leaves_all_as_it_was_when_the_old_file_cannot_be_moved)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	test_write(f.path, "first", 5);
	CHECK_EQ(mkdir(test_path("perf.data.old"), 0700), 0);
	check_refused(&f, ERR_SYS, "perf.data.old'");
	check_content(f.path, "first");
	CHECK(S_ISDIR(stat_of(test_path("perf.data.old")).st_mode));
	fixture_fini(&f);
}

/* ---- devices ---- */

TEST(writer_takes_dev_null_and_keeps_it)
{
	struct stat before = stat_of("/dev/null"), after;
	struct fixture f;
	struct err err;

	fixture_init(&f, 10000, 80);
	f.path = "/dev/null";
	open_writer(&f);
	CHECK(!f.w.is_file);
	CHECK_EQ(append(&f, 0, f.r.data.n, 800, &err), 0);
	CHECK_EQ(writer_sync(&f.w, &err), 0);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, false);
	after = stat_of("/dev/null");
	CHECK_EQ(before.st_ino, after.st_ino);
	CHECK(S_ISCHR(after.st_mode));
	CHECK(!exists("/dev/null.old"));
	fixture_fini(&f);
}

TEST(writer_of_dev_full_says_that_there_is_no_space)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	f.path = "/dev/full";
	if (!exists(f.path))
		SKIP("no /dev/full");
	check_refused(&f, ERR_LIMIT, "no space left on the device");
	CHECK(S_ISCHR(stat_of("/dev/full").st_mode));
	fixture_fini(&f);
}

/* ---- full disks ---- */

/* A file system seen by this process only, and a path in it. */
static const char *mount_disk(const char *type, const char *options)
{
	const char *dir = test_path("disk");

	CHECK_EQ(mkdir(dir, 0700), 0);
	if (unshare(CLONE_NEWNS))
		SKIP("a mount namespace: %s", strerror(errno));
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		SKIP("making mounts private: %s", strerror(errno));
	if (mount(type, dir, type, 0, options))
		SKIP("mounting a %s: %s", type, strerror(errno));
	return test_path("disk/perf.data");
}

static const char *small_disk(size_t kib)
{
	char options[32];

	snprintf(options, sizeof(options), "size=%zuk", kib);
	return mount_disk("tmpfs", options);
}

/* Appends until it is refused; the bytes that were offered before that went well. */
static u64 append_until_full(struct fixture *f, u64 step, struct err *ret_err)
{
	size_t i = 0;

	while (i < f->r.starts.n) {
		u64 from = f->r.starts.at[i], to = from;

		while (i < f->r.starts.n && to - from < step)
			to = end_of(f, i++);
		if (append(f, from, to, from + (to - from) / 16 * 8, ret_err))
			return from;
	}
	test_failed(__FILE__, __LINE__, "%zu bytes of records were not enough", f->r.data.n);
}

static u64 records_up_to(const struct fixture *f, u64 bytes)
{
	size_t i = 0;

	while (i < f->r.starts.n && end_of(f, i) <= bytes)
		i++;
	return i ? end_of(f, i - 1) : 0;
}

/* All that was taken is there, in whole records, with sections; little of the disk was left unused.
 */
static void check_full(struct fixture *f, u64 taken, u64 room)
{
	struct reader reader;
	struct err err;
	u64 kept = writer_data_bytes(&f->w);

	CHECK(f->w.is_full);
	CHECK(kept >= taken);
	CHECK_EQ(records_up_to(f, kept), kept);
	CHECK(f->w.data_end + f->w.reserve <= f->w.reserved_end);
	/* What the sections may need stays free, and less than a block and a record. */
	CHECK(kept + (40 << 10) + 4096 + 2048 >= room);
	CHECK_EQ(writer_sync(&f->w, &err), 0);
	CHECK_EQ(check_file(f, f->path, NULL), kept);
	CHECK_EQ(writer_finish(&f->w, &f->info, &err), 0);
	writer_close(&f->w, true);
	CHECK_EQ(check_file(f, f->path, &reader), kept);
	CHECK(!reader.is_unfinished && !reader.is_cut);
	CHECK(reader.file_size <= room);
	CHECK_STR(reader.info.host.hostname, "vm");
	check_events(f, &reader);
	reader_close(&reader);
}

static void fill_disk(size_t kib, u64 step)
{
	struct fixture f;
	struct err err;
	u64 taken;

	fixture_init(&f, kib * 1024 * 2, 2000);
	f.path = small_disk(kib);
	open_writer(&f);
	taken = append_until_full(&f, step, &err);
	CHECK_EQ(err.code, ERR_LIMIT);
	CHECK_EQ(err.sys, ENOSPC);
	CHECK_HAS(err.msg, "no space left on the device after ");
	CHECK_HAS(err.msg, f.path);
	check_full(&f, taken, kib << 10);
	fixture_fini(&f);
}

TEST(writer_on_a_full_disk_of_64_kib_keeps_whole_records_and_sections)
{
	fill_disk(64, 1);
}

TEST(writer_on_a_full_disk_of_128_kib_keeps_whole_records_and_sections)
{
	fill_disk(128, 5000);
}

TEST(writer_on_a_full_disk_keeps_what_fits_of_a_large_round)
{
	fill_disk(256, 400 << 10);
}

TEST(writer_on_a_full_disk_uses_the_room_for_records_to_the_last)
{
	const char *path = small_disk(128);

	for (u32 n_ids = 0; n_ids < 6; n_ids++) {
		struct fixture f;
		struct err err;
		u64 room;

		/* Records have 16 or 24 bytes; the number of ids shifts where the data begins. */
		fixture_init(&f, 256 << 10, 16);
		recording_event(&f.r, "three", SAMPLE_BITS, 30, n_ids);
		f.path = path;
		open_writer(&f);
		append_until_full(&f, 1000, &err);
		room = f.w.reserved_end - f.w.reserve - f.w.data_end;
		CHECK(f.w.data_end + f.w.reserve <= f.w.reserved_end);
		CHECK(room < 24);
		writer_close(&f.w, false);
		fixture_fini(&f);
	}
}

TEST(writer_on_a_full_disk_goes_on_refusing)
{
	struct fixture f;
	struct err err;
	u64 kept;

	fixture_init(&f, 256 << 10, 2000);
	f.path = small_disk(128);
	open_writer(&f);
	append_until_full(&f, 1, &err);
	kept = writer_data_bytes(&f.w);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(append(&f, kept, f.r.data.n, kept + 8, &err), ERR_LIMIT);
	CHECK_EQ(writer_data_bytes(&f.w), records_up_to(&f, writer_data_bytes(&f.w)));
	check_full(&f, kept, 128 << 10);
	fixture_fini(&f);
}

TEST(writer_that_has_no_room_at_all_brings_the_old_file_back)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	f.path = small_disk(24);
	test_write(f.path, "first", 5);
	check_refused(&f, ERR_LIMIT, "no space left on the device");
	check_content(f.path, "first");
	CHECK(!exists(test_path("disk/perf.data.old")));
	fixture_fini(&f);
}

/* Sections larger than what was set aside: the records are worth more than they. */
TEST(writer_on_a_full_disk_gives_up_sections_that_are_too_large)
{
	struct reader reader;
	struct fixture f;
	struct err err;
	u64 kept;

	fixture_init(&f, 256 << 10, 2000);
	str_fill(&f.info.tracing_data, 't', 100 << 10);
	f.path = small_disk(128);
	open_writer(&f);
	append_until_full(&f, 1, &err);
	kept = writer_data_bytes(&f.w);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "no space left");
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &reader), kept);
	CHECK_EQ(reader.file_size, reader.data_end);
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		CHECK(!layout_has_feature(&reader.header, id));
	CHECK_EQ(reader.events.n, 2);
	reader_close(&reader);
	fixture_fini(&f);
}

static void limit_file_size(u64 bytes)
{
	struct rlimit limit = {bytes, bytes};

	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void fill_limit(struct fixture *f, u64 bytes)
{
	struct err err;
	u64 taken;

	open_writer(f);
	taken = append_until_full(f, 3000, &err);
	CHECK_EQ(err.code, ERR_LIMIT);
	CHECK_EQ(err.sys, EFBIG);
	CHECK_HAS(err.msg, "the limit on file sizes (ulimit -f) is reached after ");
	CHECK_HAS(err.msg, "(ulimit -f)");
	check_full(f, taken, bytes);
}

/* In a process of its own: a limit can only be lowered. */
static void fill_limit_in_child(u64 bytes)
{
	int status;

	if (!fork()) {
		struct fixture f;

		fixture_init(&f, 512 << 10, 2000);
		limit_file_size(bytes);
		fill_limit(&f, bytes);
		fixture_fini(&f);
		exit(0);
	}
	CHECK(wait(&status) > 0);
	CHECK_EQ(status, 0);
}

TEST(writer_at_the_limit_of_file_sizes_keeps_whole_records_and_sections)
{
	static const u64 limits[] = {256 << 10, 100000, 123457};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		fill_limit_in_child(limits[i]);
}

TEST(writer_at_the_limit_of_file_sizes_in_memory_keeps_whole_records_and_sections)
{
	struct fixture f;

	fixture_init(&f, 512 << 10, 2000);
	f.path = small_disk(4096);
	limit_file_size(200 << 10);
	fill_limit(&f, 200 << 10);
	fixture_fini(&f);
}

/* Where room cannot be reserved, what arrived before the limit is cut back to whole records. */
TEST(writer_without_fallocate_keeps_whole_records)
{
	static const u64 limits[] = {100000, 100003, 100100, 101000};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct reader reader;
		struct fixture f;
		struct err err;
		u64 taken;

		fixture_init(&f, 512 << 10, 2000);
		str_fill(&f.info.tracing_data, 't', 4000);
		f.path = i ? test_path("disk/perf.data") : mount_disk("ramfs", NULL);
		limit_file_size(limits[ARRAY_SIZE(limits) - 1 - i]);
		open_writer(&f);
		taken = append_until_full(&f, 3000, &err);
		CHECK(!f.w.can_reserve);
		CHECK_EQ(err.sys, EFBIG);
		CHECK(writer_data_bytes(&f.w) >= taken);
		CHECK_EQ(records_up_to(&f, writer_data_bytes(&f.w)), writer_data_bytes(&f.w));
		/* For sections there is no room left. */
		CHECK_EQ(writer_finish(&f.w, &f.info, &err), ERR_LIMIT);
		writer_close(&f.w, true);
		CHECK_EQ(check_file(&f, f.path, &reader), writer_data_bytes(&f.w));
		CHECK(!reader.is_cut && !reader.is_unfinished);
		reader_close(&reader);
		fixture_fini(&f);
	}
}

TEST(writer_under_a_limit_that_not_even_its_start_fits_brings_the_old_file_back)
{
	struct fixture f;

	fixture_init(&f, 100, 80);
	test_write(f.path, "first", 5);
	limit_file_size(300);
	check_refused(&f, ERR_LIMIT, "the limit on file sizes (ulimit -f) is reached");
	check_content(f.path, "first");
	fixture_fini(&f);
}

/* ---- ids that come later ---- */

static void check_ids(const char *path)
{
	struct reader r;
	struct err err;

	if (reader_open(&r, path, NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	CHECK_EQ(r.events.n, 2);
	CHECK_EQ(r.events.at[0].n_ids, 4);
	for (u64 i = 0; i < 4; i++)
		CHECK_EQ(r.events.at[0].ids[i], 100 + i);
	CHECK_EQ(r.events.at[1].n_ids, 1);
	CHECK_STR(r.info.host.hostname, "vm");
	reader_close(&r);
}

TEST(writer_with_room_for_ids_that_were_foreseen_writes_them_at_once)
{
	u64 ids[5] = {100, 101, 102, 103, 104};
	struct fixture f;
	struct reader r;
	struct err err;

	fixture_init(&f, 1000, 64);
	f.r.events.at[0].n_more_ids = 4 - f.r.events.at[0].n_ids;
	open_writer(&f);
	CHECK_EQ(append(&f, 0, f.r.data.n, f.r.data.n, &err), 0);
	f.r.events.at[0].ids = ids;
	f.r.events.at[0].n_ids = 4;
	writer_change_ids(&f.w, &f.r.events);
	CHECK_EQ(writer_sync(&f.w, &err), 0);
	/* Whoever kills us now leaves a file that names all samples. */
	CHECK_EQ(reader_open(&r, f.path, NULL, &err), 0);
	CHECK_EQ(r.events.at[0].n_ids, 4);
	CHECK_EQ(r.events.at[0].ids[3], 103);
	CHECK_EQ(r.events.at[1].n_ids, 1);
	reader_close(&r);
	/* More than foreseen go behind the sections. */
	f.r.events.at[0].n_ids = 5;
	writer_change_ids(&f.w, &f.r.events);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, true);
	CHECK_EQ(check_file(&f, f.path, &r), writer_data_bytes(&f.w));
	CHECK_EQ(r.events.at[0].n_ids, 5);
	CHECK_EQ(r.events.at[0].ids[4], 104);
	/* What was there before is nobody's, and does not look as if it were. */
	CHECK(reader_is_zero(&r, sizeof(r.header), r.header.attrs.offset - sizeof(r.header)));
	CHECK(!reader_is_zero(&r, 0, 8));
	reader_close(&r);
	fixture_fini(&f);
}

TEST(writer_knows_the_ids_that_events_got_behind_the_start_and_copies_keep_them)
{
	u64 ids[4] = {100, 101, 102, 103};
	struct str section = {0};
	struct fresh copy;
	struct reader r;
	struct fixture f;
	struct err err;

	fixture_init(&f, 1000, 64);
	open_writer(&f);
	CHECK_EQ(append(&f, 0, f.r.data.n, f.r.data.n, &err), 0);
	f.r.events.at[0].ids = ids;
	f.r.events.at[0].n_ids = 4;
	writer_change_ids(&f.w, &f.r.events);
	CHECK_EQ(writer_finish(&f.w, &f.info, &err), 0);
	writer_close(&f.w, true);
	check_ids(f.path);
	/* With one section more between the records and them. */
	CHECK_EQ(reader_open(&r, f.path, NULL, &err), 0);
	CHECK_EQ(fresh_init(&copy, test_path("copy"), false, &err), 0);
	str_fill(&section, 'x', 1000);
	CHECK_EQ(resection_write(&r, 250, &section, &copy, &err), 0);
	reader_close(&r);
	check_ids(test_path("copy"));
	str_fini(&section);
	fixture_fini(&f);
}
