#include "file/salvage.h"

#include "test.h"
#include "unit/recording.h"
#include "unit/said.h"

struct killed {
	struct recording r;
	struct str file;
	const char *path;
};

/* A recording whose recorder had told its header of the first n_told records when it was killed. */
static void killed_init(struct killed *k, u32 n_samples, size_t n_told)
{
	u64 told;

	memset(k, 0, sizeof(*k));
	recording_example(&k->r, n_samples);
	recording_compose(&k->r, NULL, &k->file);
	told = k->r.starts.at[n_told];
	memcpy(k->file.at + offsetof(struct layout_header, data.size), &told, sizeof(told));
	k->path = test_path("perf.data");
}

static void killed_fini(struct killed *k)
{
	recording_fini(&k->r);
	str_fini(&k->file);
}

/* How many records a reader finds; *ret_behind: how many of those are behind the header's end. */
static size_t count(const struct killed *k, u64 *ret_behind)
{
	struct reader reader;
	struct reader_cursor cursor;
	struct record rec;
	struct said said;
	struct err err;
	size_t n = 0;

	test_write(k->path, k->file.at, k->file.n);
	said_init(&said, LOG_NOTE);
	CHECK_EQ(reader_open(&reader, k->path, &said.log, &err), 0);
	reader_cursor_init(&cursor, &reader, reader.data_start, reader.data_end);
	while (reader_next(&cursor, &rec, &err) > 0)
		n++;
	CHECK(!cursor.damage.reason);
	*ret_behind = reader.n_behind;
	CHECK_EQ(said_count(&said, "note: "), reader.n_behind > 0);
	if (reader.n_behind)
		CHECK_HAS(str_text(&said.text), "was not finished by its recorder: ");
	reader_cursor_fini(&cursor);
	reader_close(&reader);
	said_fini(&said);
	return n;
}

TEST(salvage_keeps_the_records_behind_the_end_that_the_header_says)
{
	for (size_t n_told = 1; n_told < 20; n_told++) {
		struct killed k;
		u64 n_behind;

		killed_init(&k, 30, n_told);
		CHECK_EQ(count(&k, &n_behind), k.r.starts.n);
		CHECK_EQ(n_behind, k.r.starts.n - n_told);
		killed_fini(&k);
	}
}

TEST(salvage_keeps_more_than_its_buffer_holds)
{
	struct killed k;
	u64 n_behind;

	killed_init(&k, 20000, 5);
	CHECK(k.file.n > 512 << 10);
	CHECK_EQ(count(&k, &n_behind), k.r.starts.n);
	CHECK_EQ(n_behind, k.r.starts.n - 5);
	killed_fini(&k);
}

TEST(salvage_leaves_half_a_record_and_what_is_none)
{
	/* Zeros; text; a type that is none; a size that no record has. */
	static const u64 others[][2] = {{0, 0}, {0x6874207369206568, 0x646e6520},
		{(u64)16 << 48 | 77, 1}, {(u64)12 << 48 | PERF_RECORD_COMM, 1}};
	struct killed k;
	u64 n_behind;
	size_t n, whole;

	killed_init(&k, 30, 10);
	n = k.r.starts.n;
	whole = k.file.n;
	k.file.n -= 4;
	CHECK_EQ(count(&k, &n_behind), n - 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		k.file.n = whole;
		str_addn(&k.file, others[i], sizeof(others[i]));
		CHECK_EQ(count(&k, &n_behind), n);
		CHECK_EQ(n_behind, n - 10);
	}
	killed_fini(&k);
}

/* What another recorder wrote may have the shape of records, too: its samples are of other events. */
TEST(salvage_takes_no_records_of_events_that_are_not_the_files)
{
	struct killed k;
	u64 n_behind, id;
	size_t first = 0;

	killed_init(&k, 30, 10);
	for (size_t i = 10; !first && i < k.r.starts.n; i++) {
		struct record_header header;
		u64 at = recording_data_offset(&k.r) + k.r.starts.at[i];

		memcpy(&header, k.file.at + at, sizeof(header));
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		first = i;
		/* PERF_SAMPLE_IDENTIFIER is a sample's first word. */
		id = 999999;
		memcpy(k.file.at + at + sizeof(header), &id, sizeof(id));
	}
	CHECK(first > 0);
	CHECK_EQ(count(&k, &n_behind), first);
	CHECK_EQ(n_behind, first - 10);
	killed_fini(&k);
}

TEST(salvage_looks_for_nothing_behind_a_file_that_was_finished)
{
	struct layout_header header;
	struct file_info info;
	struct str tail = {0};
	struct killed k;
	u64 n_behind;

	killed_init(&k, 30, 10);
	recording_describe(&k.r, &info);
	/* A second recording's records behind the sections of a whole file. */
	str_addn(&tail, k.file.at + recording_data_offset(&k.r), k.r.data.n);
	str_clear(&k.file);
	recording_compose(&k.r, &info, &k.file);
	str_addn(&k.file, tail.at, tail.n);
	CHECK_EQ(count(&k, &n_behind), k.r.starts.n);
	CHECK_EQ(n_behind, 0);
	/* Ids behind the data were written by a recorder that came to its end. */
	str_clear(&k.file);
	recording_compose(&k.r, NULL, &k.file);
	memcpy(&header, k.file.at, sizeof(header));
	header.data.size = k.r.starts.at[10];
	header.attrs.offset = k.file.n;
	str_addn(&k.file, k.file.at + recording_data_offset(&k.r) - header.attrs.size,
		header.attrs.size);
	memcpy(k.file.at, &header, sizeof(header));
	CHECK_EQ(count(&k, &n_behind), 10);
	CHECK_EQ(n_behind, 0);
	str_fini(&tail);
	file_info_fini(&info);
	killed_fini(&k);
}
