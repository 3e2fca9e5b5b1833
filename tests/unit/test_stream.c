#include "session/stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mapped.h"
#include "file/layout.h"
#include "session/spans.h"
#include "test.h"
#include "unit/recording.h"
#include "unit/said.h"

enum {
	SAMPLE_BITS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
};

static void add_sample(struct recording *r, u64 time, u64 ip)
{
	recording_sample(r, 0, PERF_RECORD_MISC_USER,
		&(struct sample){.id = 1, .ip = ip, .pid = 7, .tid = 7, .time = time});
}

static void add_round(struct recording *r)
{
	recording_raw(r, PERF_RECORD_FINISHED_ROUND, 0, NULL, 0);
}

/* "time time ..." of all samples as they are handed out; "|" for a round. */
static const char *walk(struct recording *r, struct stream_disorder *ret_disorder)
{
	static struct str text;
	const char *path = test_path("perf.data");
	struct session s;
	struct stream stream;
	struct stream_event e;
	struct err err;
	int result;

	recording_write(r, NULL, path);
	CHECK_EQ(session_open(&s, path, NULL, &err), 0);
	stream_init(&stream, &s);
	str_clear(&text);
	while ((result = stream_next(&stream, &e, &err)) > 0) {
		if (e.rec.type == PERF_RECORD_SAMPLE) {
			struct sample sample = {0};

			/* The bytes are those of this record still. */
			CHECK_EQ(sample_decode(&s.reader.formats.at[e.event],
					 e.rec.at + RECORD_HEADER_SIZE,
					 e.rec.size - RECORD_HEADER_SIZE, UINT64_MAX, &sample,
					 &err),
				0);
			CHECK_EQ(sample.time, e.time);
			CHECK_EQ(reader_stays(&s.reader, &e.rec),
				s.reader.parts.at[0].mapping.at != NULL);
			str_addf(&text, "%llu ", (unsigned long long)e.time);
		} else if (e.rec.type == PERF_RECORD_FINISHED_ROUND) {
			str_add(&text, "| ");
		} else {
			str_addf(&text, "%s@%llu ", record_type_name(e.rec.type),
				(unsigned long long)e.time);
		}
	}
	CHECK_EQ(result, 0);
	CHECK_EQ(stream_next(&stream, &e, &err), 0);
	*ret_disorder = stream.disorder;
	stream_fini(&stream);
	session_close(&s);
	return str_text(&text);
}

static void begin(struct recording *r)
{
	recording_event(r, "e", SAMPLE_BITS, 1, 1);
}

TEST(stream_hands_out_what_two_rounds_have_put_in_order)
{
	struct recording r = {0};
	struct stream_disorder d;

	begin(&r);
	/* One ring after the other in each round; the second round reaches back into the first. */
	add_sample(&r, 10, 1);
	add_sample(&r, 30, 2);
	add_sample(&r, 20, 3);
	add_round(&r);
	add_sample(&r, 40, 4);
	add_sample(&r, 25, 5);
	add_round(&r);
	add_sample(&r, 50, 6);
	CHECK_STR(walk(&r, &d), "| 10 20 25 30 | 40 50 ");
	CHECK_EQ(d.n_backwards, 2);
	CHECK_EQ(d.n_late, 0);
	CHECK_EQ(d.most_ns, 15);
	CHECK_EQ(d.n_rounds, 2);
	recording_fini(&r);
}

TEST(stream_without_rounds_is_put_in_order_at_its_end)
{
	struct recording r = {0};
	struct stream_disorder d;

	begin(&r);
	for (u64 time = 90; time; time -= 10)
		add_sample(&r, time, time);
	CHECK_STR(walk(&r, &d), "10 20 30 40 50 60 70 80 90 ");
	CHECK_EQ(d.n_backwards, 8);
	CHECK_EQ(d.most_ns, 80);
	/* The last sample of the file comes first: everything before it had to wait. */
	CHECK_EQ(d.most_bytes, r.starts.at[8] - r.starts.at[0]);
	CHECK_EQ(d.n_late, 0);
	recording_fini(&r);
}

TEST(stream_counts_what_comes_too_late_and_hands_it_out_all_the_same)
{
	struct recording r = {0};
	struct stream_disorder d;

	begin(&r);
	add_sample(&r, 100, 1);
	add_round(&r);
	add_sample(&r, 200, 2);
	add_round(&r);
	add_round(&r);
	/* 100 and 200 are gone. */
	add_sample(&r, 50, 3);
	add_sample(&r, 300, 4);
	CHECK_STR(walk(&r, &d), "| 100 | 200 | 50 300 ");
	CHECK_EQ(d.n_late, 1);
	CHECK_EQ(d.most_ns, 150);
	recording_fini(&r);
}

TEST(stream_notes_what_came_too_late_and_nothing_if_nothing_did)
{
	struct recording r = {0};
	struct session session;
	struct said said;
	struct stream stream;
	struct stream_event e;
	struct err err;

	said_init(&said, LOG_NOTE);
	begin(&r);
	add_sample(&r, 200, 2);
	add_round(&r);
	add_round(&r);
	add_sample(&r, 50, 3);
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(session_open(&session, test_path("perf.data"), &said.log, &err), 0);
	stream_init(&stream, &session);
	stream_note_disorder(&stream);
	CHECK_STR(str_text(&said.text), "");
	while (stream_next(&stream, &e, &err) > 0)
		;
	stream_note_disorder(&stream);
	CHECK_STR(str_text(&said.text),
		"note: 1 records came too late to be put in order, by up to 150 ns: they are left where they came\n");
	stream_fini(&stream);
	session_close(&session);
	said_fini(&said);
	recording_fini(&r);
}

TEST(stream_hands_out_at_once_what_has_no_time)
{
	struct recording r = {0};
	struct stream_disorder d;

	begin(&r);
	recording_comm(&r, 0, (struct recording_who){7, 7, 0}, "before");
	add_sample(&r, 20, 1);
	recording_comm(&r, 0, (struct recording_who){7, 7, 10}, "then");
	recording_comm(&r, 0, (struct recording_who){8, 8, 0}, "other");
	CHECK_STR(walk(&r, &d), "COMM@0 COMM@0 COMM@10 20 ");
	recording_fini(&r);
}

TEST(stream_keeps_the_order_of_the_file_where_times_are_equal)
{
	struct recording r = {0};
	struct stream_disorder d;

	begin(&r);
	recording_comm(&r, 0, (struct recording_who){7, 7, 5}, "a");
	add_sample(&r, 5, 1);
	recording_exit(&r, (struct recording_who){7, 7, 5});
	CHECK_STR(walk(&r, &d), "COMM@5 5 EXIT@5 ");
	CHECK_EQ(d.n_backwards, 0);
	recording_fini(&r);
}

TEST(stream_without_times_is_the_order_of_the_file)
{
	struct recording r = {0};
	struct session s;
	struct stream stream;
	struct stream_event e;
	struct err err;
	u64 last = 0;
	size_t n = 0;

	recording_event(&r, "e", PERF_SAMPLE_IP, 1, 1);
	for (u64 i = 0; i < 20; i++)
		recording_sample(&r, 0, 0, &(struct sample){.ip = i});
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(session_open(&s, test_path("perf.data"), NULL, &err), 0);
	stream_init(&stream, &s);
	for (; stream_next(&stream, &e, &err) > 0; n++) {
		CHECK_EQ(e.time, e.rec.offset);
		CHECK(e.time > last);
		last = e.time;
	}
	CHECK_EQ(n, 20);
	stream_fini(&stream);
	session_close(&s);
	recording_fini(&r);
}

static void check_random_rounds(u64 more_bits)
{
	for (u64 seed = 1; seed <= 30; seed++) {
		struct recording r = {0};
		struct stream_disorder d;
		u64 dice = seed, base = 1000, last = 0, n = 0;
		const char *p;

		recording_event(&r, "e", SAMPLE_BITS | more_bits, 1, 1);
		for (unsigned round = 0; round < 20; round++, base += 100) {
			u64 in_round = recording_below(&dice, 30);

			/* A round may reach back to the end of the one before, not further. */
			for (u64 i = 0; i < in_round; i++, n++)
				add_sample(&r, base - 99 + recording_below(&dice, 198), i);
			add_round(&r);
		}
		p = walk(&r, &d);
		for (; *p; p++) {
			u64 time;

			if (*p == '|' || *p == ' ')
				continue;
			time = strtoull(p, (char **)(void *)&p, 10);
			CHECK(time >= last);
			last = time;
			n--;
		}
		CHECK_EQ(n, 0);
		CHECK_EQ(d.n_late, 0);
		recording_fini(&r);
	}
}

TEST(stream_of_random_rounds_is_sorted_and_whole)
{
	check_random_rounds(0);
	/* one that is mapped: what waits is not copied */
	mapped_read_zeros();
	check_random_rounds(PERF_SAMPLE_STACK_USER);
}

/* What waits in a mapped file is looked at when the cursor is far behind it already. */
TEST(stream_says_that_a_mapped_page_of_what_waited_could_not_be_read)
{
	enum { COPY = 40000 };
	struct sample sample = {.id = 1, .ip = 1, .pid = 7, .tid = 7};
	size_t size = (size_t)sysconf(_SC_PAGESIZE), n = 0;
	u8 *copy = mem_zalloc(COPY);
	struct recording r = {0};
	struct stream_event e;
	struct stream stream;
	struct session s;
	struct err err;
	u64 offset;
	u8 *page;
	int fd;

	mapped_read_zeros();
	recording_event(&r, "e", SAMPLE_BITS | PERF_SAMPLE_STACK_USER, 1, 1);
	sample.user_stack = (struct sample_stack){{copy, COPY}, COPY};
	for (u64 i = 0; i < 20; i++) {
		sample.time = 100 - i;
		recording_sample(&r, 0, PERF_RECORD_MISC_USER, &sample);
	}
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(session_open(&s, test_path("perf.data"), NULL, &err), 0);
	/* As where a disk cannot be read: behind the end of an empty file. */
	offset = align_up(recording_data_offset(&r) + r.starts.at[7] + 5000, size);
	page = (u8 *)(uintptr_t)s.reader.parts.at[0].mapping.at + offset;
	test_write(test_path("empty"), "", 0);
	fd = open(test_path("empty"), O_RDONLY);
	CHECK(mmap(page, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == page);
	close(fd);
	stream_init(&stream, &s);
	while (stream_next(&stream, &e, &err) > 0) {
		CHECK(!s.tally.damage.reason);
		n += e.rec.type == PERF_RECORD_SAMPLE;
		if (e.rec.at < page && e.rec.at + e.rec.size > page)
			CHECK_EQ(*(volatile u8 *)page, 0);
	}
	CHECK_EQ(n, 20);
	CHECK(s.tally.damage.reason);
	CHECK_EQ(s.tally.damage.offset, offset);
	stream_fini(&stream);
	session_close(&s);
	recording_fini(&r);
	mem_free(copy);
}

/* ---- spans ---- */

static struct spans spans_of(const char *text, u64 first, u64 last)
{
	struct spans s = {0};
	struct err err;

	if (spans_parse(&s, text, first, last, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	return s;
}

TEST(spans_of_seconds_have_their_ends)
{
	struct spans s = spans_of("1.5,2", 0, 0);

	CHECK(!spans_have(&s, 1499999999) && spans_have(&s, 1500000000));
	CHECK(spans_have(&s, 2000000000) && !spans_have(&s, 2000000001));
	spans_fini(&s);
	s = spans_of("0.000000001,", 0, 0);
	CHECK(!spans_have(&s, 0) && spans_have(&s, 1) && spans_have(&s, UINT64_MAX));
	spans_fini(&s);
	s = spans_of(",3", 0, 0);
	CHECK(spans_have(&s, 0) && spans_have(&s, 3000000000) && !spans_have(&s, 3000000001));
	spans_fini(&s);
	CHECK(spans_have(&(struct spans){0}, 12345));
}

TEST(spans_of_parts_are_parts_of_the_recording)
{
	struct spans s = spans_of("10%-20%", 1000, 2000);

	CHECK(!spans_have(&s, 1099) && spans_have(&s, 1100));
	CHECK(spans_have(&s, 1200) && !spans_have(&s, 1201));
	spans_fini(&s);
	s = spans_of("10%/2,0%-1.5%", 1000, 2000);
	CHECK(spans_have(&s, 1150) && spans_have(&s, 1015) && !spans_have(&s, 1016));
	spans_fini(&s);
	s = spans_of("25%", 0, 400);
	CHECK(spans_have(&s, 100) && !spans_have(&s, 101));
	spans_fini(&s);
}

TEST(spans_that_make_no_sense_are_refused)
{
	static const char *const texts[] = {"", "x", "1,2,3", "2,1", "1-2", "10%-5%", "101%",
		"50%/3", "10%/0", "10%/", "10%x", "99999999999999999999,", "1.5.2,"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct spans s = {0};
		struct err err;

		CHECK_EQ(spans_parse(&s, texts[i], 1, 100, &err), ERR_INVAL);
		CHECK_HAS(err.msg, texts[i]);
		spans_fini(&s);
	}
}

TEST(spans_of_parts_need_to_know_when_the_recording_was)
{
	struct spans s = {0};
	struct err err;

	CHECK_EQ(spans_parse(&s, "10%", 0, 0, &err), ERR_UNSUPPORTED);
	spans_fini(&s);
}

/* ---- events that are described late ---- */

/* A pipe with an event, a sample, and another event behind which nothing stands. */
static void open_late(struct session *s)
{
	static const u64 header[] = {LAYOUT_MAGIC_2, 16};
	struct recording r = {0};
	struct str file = {0};
	struct record_header attr = {PERF_RECORD_HEADER_ATTR, 0,
		RECORD_HEADER_SIZE + ATTR_SIZE_VER8};
	struct err err;

	recording_event(&r, "e", PERF_SAMPLE_IP | PERF_SAMPLE_TIME, 1, 0);
	recording_sample(&r, 0, 0, &(struct sample){.ip = 1, .time = 7});
	str_addn(&file, header, sizeof(header));
	for (unsigned i = 0; i < 2; i++) {
		str_addn(&file, &attr, sizeof(attr));
		str_addn(&file, &r.events.at[0].attr, ATTR_SIZE_VER8);
		if (!i)
			str_addn(&file, r.data.at, r.data.n);
	}
	test_write(test_path("perf.data"), file.at, file.n);
	CHECK_EQ(session_open(s, test_path("perf.data"), NULL, &err), 0);
	str_fini(&file);
	recording_fini(&r);
}

TEST(stream_has_a_format_for_each_event_that_is_described_while_samples_wait)
{
	struct session s;
	struct stream stream;
	struct stream_event e;
	struct err err;
	unsigned n = 0;

	open_late(&s);
	stream_init(&stream, &s);
	while (stream_next(&stream, &e, &err) > 0)
		if (e.rec.type == PERF_RECORD_SAMPLE) {
			n++;
			CHECK_EQ(s.reader.events.n, 2);
			CHECK_EQ(s.reader.formats.n, 2);
		}
	CHECK_EQ(n, 1);
	stream_fini(&stream);
	session_close(&s);
}

static u64 nothing(void *ctx, const struct record *rec, const union record_body *body, u64 time)
{
	(void)ctx, (void)rec, (void)body, (void)time;
	return 0;
}

TEST(session_has_a_format_for_an_event_that_no_record_follows)
{
	struct session s;
	struct err err;

	open_late(&s);
	CHECK_EQ(session_scan(&s, nothing, NULL, &err), 0);
	CHECK_EQ(s.reader.events.n, 2);
	CHECK_EQ(s.reader.formats.n, 2);
	session_close(&s);
}
