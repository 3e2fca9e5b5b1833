#include "record/formats.h"

#include "test.h"
#include "unit/recording.h"

enum { BASE = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME };

/* The event of a sample of event `as` whose id is `id`. */
static u32 event_of_sample(const struct formats *f, u32 as, u64 id)
{
	struct sample s = {.id = id,
		.ip = 1,
		.pid = 2,
		.tid = 3,
		.time = 4,
		.period = 5,
		.cpu = 6,
		.addr = 7};
	struct record_header header = {PERF_RECORD_SAMPLE, 0, 0};
	struct str whole = {0};
	struct record rec;
	u8 *exact;
	u32 event;

	str_addn(&whole, &header, sizeof(header));
	sample_encode(&f->at[as], &s, &whole);
	exact = recording_exact(whole.at, whole.n);
	rec = (struct record){.type = PERF_RECORD_SAMPLE, .size = whole.n, .at = exact};
	event = formats_event(f, &rec);
	free(exact);
	str_fini(&whole);
	return event;
}

/* The event of a COMM record whose trailer, in the format of event `as`, has that id. */
static u32 event_of_comm(const struct formats *f, u32 as, u64 id)
{
	struct sample s = {.id = id, .pid = 2, .tid = 3, .time = 4, .stream_id = 8, .cpu = 6};
	union record_body body = {.comm = {2, 3, {(const u8 *)"comm", 4}}};
	struct str whole = {0};
	struct record rec;
	u8 *exact;
	u32 event;

	CHECK(record_encode(PERF_RECORD_COMM, 0, &body, 0, &whole));
	sample_encode_trailer(&f->at[as], &s, &whole);
	exact = recording_exact(whole.at, whole.n);
	rec = (struct record){.type = PERF_RECORD_COMM, .size = whole.n, .at = exact};
	event = formats_event(f, &rec);
	free(exact);
	str_fini(&whole);
	return event;
}

TEST(formats_of_one_event_give_every_record_to_it)
{
	static const u64 types[] = {BASE, BASE | PERF_SAMPLE_ID, BASE | PERF_SAMPLE_IDENTIFIER, 0};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct recording r = {0};
		struct formats f;

		recording_event(&r, "a", types[i], 100, 2);
		formats_init(&f, &r.events);
		CHECK_EQ(f.n, 1);
		CHECK(!f.has_ids);
		CHECK_EQ(event_of_sample(&f, 0, 100), 0);
		CHECK_EQ(event_of_sample(&f, 0, 999), 0);
		CHECK_EQ(event_of_comm(&f, 0, 999), 0);
		formats_fini(&f);
		recording_fini(&r);
	}
}

static void check_two_events(u64 type_a, u64 type_b)
{
	struct recording r = {0};
	struct formats f;

	recording_event(&r, "a", type_a, 100, 3);
	recording_event(&r, "b", type_b, 200, 1);
	formats_init(&f, &r.events);
	CHECK(f.has_ids);
	CHECK_EQ(f.n_ids, 4);
	for (u64 id = 100; id < 103; id++) {
		CHECK_EQ(event_of_sample(&f, 0, id), 0);
		CHECK_EQ(event_of_comm(&f, 0, id), 0);
	}
	CHECK_EQ(event_of_sample(&f, 1, 200), 1);
	CHECK_EQ(event_of_comm(&f, 1, 200), 1);
	/* Nobody's. */
	CHECK_EQ(event_of_sample(&f, 0, 99), TABLE_NONE);
	CHECK_EQ(event_of_sample(&f, 1, 103), TABLE_NONE);
	CHECK_EQ(event_of_comm(&f, 0, UINT64_MAX), TABLE_NONE);
	/* What was synthesized concerns the session. */
	CHECK_EQ(event_of_sample(&f, 0, 0), 0);
	CHECK_EQ(event_of_comm(&f, 0, 0), 0);
	formats_fini(&f);
	recording_fini(&r);
}

TEST(formats_of_several_events_are_told_apart_by_identifier)
{
	check_two_events(BASE | PERF_SAMPLE_IDENTIFIER, BASE | PERF_SAMPLE_IDENTIFIER);
}

TEST(formats_of_different_samples_are_told_apart_by_identifier)
{
	check_two_events(BASE | PERF_SAMPLE_IDENTIFIER,
		BASE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR);
	check_two_events(PERF_SAMPLE_IDENTIFIER,
		BASE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
			PERF_SAMPLE_CALLCHAIN);
}

TEST(formats_of_several_events_are_told_apart_by_id_at_the_same_place)
{
	check_two_events(BASE | PERF_SAMPLE_ID, BASE | PERF_SAMPLE_ID);
	/* Behind the id they may differ: in samples by fields that trailers do not have. */
	check_two_events(BASE | PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD,
		BASE | PERF_SAMPLE_ID | PERF_SAMPLE_CALLCHAIN);
	check_two_events(BASE | PERF_SAMPLE_ID | PERF_SAMPLE_CPU,
		BASE | PERF_SAMPLE_ID | PERF_SAMPLE_CPU);
}

TEST(formats_whose_ids_are_not_at_one_place_tell_events_by_each_ones_own)
{
	static const u64 types[][2] = {
		/* another place from the start */
		{BASE | PERF_SAMPLE_ID, BASE | PERF_SAMPLE_ID | PERF_SAMPLE_ADDR},
		{BASE | PERF_SAMPLE_ID | PERF_SAMPLE_ADDR, BASE | PERF_SAMPLE_ID},
		/* as many bytes */
		{BASE | PERF_SAMPLE_ID, BASE | PERF_SAMPLE_IDENTIFIER},
		{BASE | PERF_SAMPLE_IDENTIFIER, BASE | PERF_SAMPLE_ID},
		/* the same from the start, another from the end */
		{BASE | PERF_SAMPLE_ID, BASE | PERF_SAMPLE_ID | PERF_SAMPLE_CPU},
		/* one without: by the number of bytes */
		{BASE | PERF_SAMPLE_ID, BASE},
		{BASE, BASE | PERF_SAMPLE_IDENTIFIER},
		{BASE, BASE | PERF_SAMPLE_PERIOD},
		{BASE, BASE | PERF_SAMPLE_CALLCHAIN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct recording r = {0};
		struct formats f;

		recording_event(&r, "a", types[i][0], 100, 1);
		recording_event(&r, "b", types[i][1], 200, 1);
		formats_init(&f, &r.events);
		CHECK(!f.has_ids && formats_are_mixed(&f) && !formats_are_untold(&f));
		CHECK_EQ(event_of_sample(&f, 0, 100), 0);
		CHECK_EQ(event_of_sample(&f, 1, 200), 1);
		CHECK_EQ(event_of_comm(&f, 0, 100), 0);
		formats_fini(&f);
		recording_fini(&r);
	}
}

TEST(formats_without_ids_give_samples_that_may_be_of_several_to_nobody)
{
	struct recording r = {0};
	struct formats f;

	/* As many bytes, other fields. */
	recording_event(&r, "a", BASE | PERF_SAMPLE_ADDR, 100, 1);
	recording_event(&r, "b", BASE | PERF_SAMPLE_CPU, 200, 1);
	recording_event(&r, "c", BASE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CPU, 300, 1);
	formats_init(&f, &r.events);
	CHECK(formats_are_mixed(&f));
	CHECK_EQ(event_of_sample(&f, 0, 0), TABLE_NONE);
	CHECK_EQ(event_of_sample(&f, 1, 0), TABLE_NONE);
	CHECK_EQ(event_of_sample(&f, 2, 0), 2);
	formats_fini(&f);
	recording_fini(&r);
}

TEST(formats_without_ids_and_of_one_kind_give_all_to_the_first)
{
	struct recording r = {0};
	struct formats f;

	recording_event(&r, "a", BASE, 100, 1);
	recording_event(&r, "b", BASE, 200, 1);
	formats_init(&f, &r.events);
	CHECK(formats_are_untold(&f) && !formats_are_mixed(&f));
	CHECK_EQ(event_of_sample(&f, 1, 200), 0);
	CHECK_EQ(event_of_comm(&f, 1, 200), 0);
	formats_fini(&f);
	recording_fini(&r);
}

TEST(formats_look_for_no_id_in_records_that_are_too_short)
{
	struct recording r = {0};
	struct formats f;

	recording_event(&r, "a", BASE | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, 100, 1);
	recording_event(&r, "b", BASE | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, 200, 1);
	formats_init(&f, &r.events);
	CHECK_EQ(f.id_from_start, 24);
	CHECK_EQ(f.id_from_end, 16);
	for (u16 size = RECORD_HEADER_SIZE; size <= 48; size++) {
		u8 *exact = memset(mem_alloc(size), 0x11, size);
		struct record rec = {.type = PERF_RECORD_SAMPLE, .size = size, .at = exact};

		/* A sample without its id belongs to nobody; another record to the session. */
		CHECK_EQ(formats_event(&f, &rec), TABLE_NONE);
		rec.type = PERF_RECORD_FINISHED_ROUND;
		CHECK_EQ(formats_event(&f, &rec), size < 8 + 16 ? 0 : TABLE_NONE);
		mem_free(exact);
	}
	formats_fini(&f);
	recording_fini(&r);
}

TEST(formats_give_other_records_to_the_first_event_without_trailers)
{
	struct recording r = {0};
	struct formats f;
	u64 words[4] = {0};
	struct record rec = {.type = PERF_RECORD_COMM, .size = sizeof(words), .at = (u8 *)words};

	recording_event(&r, "a", BASE | PERF_SAMPLE_IDENTIFIER, 100, 1);
	recording_event(&r, "b", BASE | PERF_SAMPLE_IDENTIFIER, 200, 1);
	r.events.at[0].attr.flags = r.events.at[1].attr.flags = 0;
	formats_init(&f, &r.events);
	CHECK(f.has_ids);
	CHECK_EQ(f.time_in_all, 0);
	words[3] = 200;
	CHECK_EQ(formats_event(&f, &rec), 0);
	CHECK_EQ(event_of_sample(&f, 1, 200), 1);
	formats_fini(&f);
	recording_fini(&r);
}

TEST(formats_know_whether_all_records_carry_times)
{
	struct recording r = {0};
	struct formats f;

	recording_event(&r, "a", BASE | PERF_SAMPLE_IDENTIFIER, 1, 1);
	recording_event(&r, "b", BASE | PERF_SAMPLE_IDENTIFIER, 2, 1);
	formats_init(&f, &r.events);
	CHECK(f.time_in_all);
	formats_fini(&f);

	r.events.at[1].attr.sample_type &= ~(u64)PERF_SAMPLE_TIME;
	formats_init(&f, &r.events);
	CHECK(!f.time_in_all);
	formats_fini(&f);

	r.events.at[1].attr.sample_type |= PERF_SAMPLE_TIME;
	r.events.at[1].attr.flags &= ~ATTR_SAMPLE_ID_ALL;
	formats_init(&f, &r.events);
	CHECK(!f.time_in_all);
	formats_fini(&f);
	recording_fini(&r);
}

TEST(formats_find_each_of_very_many_ids)
{
	enum { EVENTS = 40, IDS = 500 };
	struct recording r = {0};
	struct formats f;

	for (u64 i = 0; i < EVENTS; i++)
		recording_event(&r, "e", PERF_SAMPLE_IDENTIFIER, 1 + i * 0x100000000ULL, IDS);
	formats_init(&f, &r.events);
	CHECK_EQ(f.n_ids, EVENTS * IDS);
	for (u64 i = 0; i < EVENTS; i++)
		for (u64 k = 0; k < IDS; k++)
			CHECK_EQ(event_of_sample(&f, i, 1 + i * 0x100000000ULL + k), i);
	CHECK_EQ(event_of_sample(&f, 0, 1 + IDS), TABLE_NONE);
	formats_fini(&f);
	recording_fini(&r);
}

/* When what lies there was written. */
static const char *time_of(const struct formats *f, const struct str *bytes)
{
	static char text[64];
	struct record rec = recording_view(bytes->at, bytes->n);

	snprintf(text, sizeof(text), "%llu",
		(unsigned long long)formats_time(f, &rec, formats_event(f, &rec)));
	return text;
}

TEST(formats_tell_the_time_of_samples_and_of_other_records)
{
	struct recording r = {0};
	struct formats f;

	recording_event(&r, "a", BASE | PERF_SAMPLE_IDENTIFIER, 1, 1);
	recording_event(&r, "b", BASE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR, 2, 1);
	formats_init(&f, &r.events);
	recording_sample(&r, 1, 0, &(struct sample){.id = 2, .time = 71});
	CHECK_STR(time_of(&f, &r.data), "71");
	str_clear(&r.data);
	/* Of an event that nobody knows: where it is in the first one's. */
	recording_sample(&r, 0, 0, &(struct sample){.id = 9, .time = 72});
	CHECK_STR(time_of(&f, &r.data), "72");
	str_clear(&r.data);
	recording_comm(&r, 0, (struct recording_who){7, 7, 73}, "name");
	CHECK_STR(time_of(&f, &r.data), "73");
	str_clear(&r.data);
	recording_comm(&r, 0, (struct recording_who){7, 7, UINT64_MAX}, "name");
	CHECK_STR(time_of(&f, &r.data), "0");
	str_clear(&r.data);
	recording_raw(&r, PERF_RECORD_FINISHED_ROUND, 0, "12345678901234567890123456789012", 32);
	CHECK_STR(time_of(&f, &r.data), "0");
	str_clear(&r.data);
	recording_raw(&r, PERF_RECORD_SAMPLE, 0, "short", 5);
	CHECK_STR(time_of(&f, &r.data), "0");
	formats_fini(&f);
	recording_fini(&r);
}
