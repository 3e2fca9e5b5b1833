#include "test.h"

#include "event/abi.h"
#include "collect/record/reweigh.h"
#include "record/sample.h"

enum { WORDS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_STREAM_ID };

static void add_event(struct event_list *events, u64 sample_type)
{
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.sample_period = 1000,
		.sample_type = WORDS | sample_type};

	event_add(events, &attr, "cpu-clock");
}

static void add_sample(const struct event_list *events, u32 event, u64 stream_id, u64 time,
	struct str *out)
{
	struct record_header header = {.type = PERF_RECORD_SAMPLE};
	struct sample_format format;
	struct sample s = {.id = 100 * (event + 1ull),
		.stream_id = stream_id,
		.time = time,
		.period = 50};
	size_t start = out->n;

	sample_format_init(&format, &events->at[event].attr);
	str_addn(out, &header, sizeof(header));
	sample_encode(&format, &s, out);
	header.size = (u16)(out->n - start);
	memcpy(out->at + start, &header, sizeof(header));
}

/* The period of the k-th record. */
static u64 period_at(const struct event_list *events, const struct str *records, u32 event, u32 k)
{
	struct sample_format format;
	struct sample s = {0};
	struct record_header header;
	struct err err;
	size_t at = 0;

	for (;; at += header.size) {
		memcpy(&header, records->at + at, sizeof(header));
		if (!k--)
			break;
	}
	sample_format_init(&format, &events->at[event].attr);
	CHECK(!sample_decode(&format, (const u8 *)records->at + at + sizeof(header),
		header.size - sizeof(header), ~0ull, &s, &err));
	return s.period;
}

TEST(reweigh_gives_samples_of_a_counter_the_period_of_their_time)
{
	static const struct record_header round = {PERF_RECORD_FINISHED_ROUND, 0, sizeof(round)};
	struct event_list events = {0};
	struct str out = {0};
	struct reweigh r;

	add_event(&events, PERF_SAMPLE_PERIOD);
	reweigh_init(&r, &events);
	add_sample(&events, 0, 100, 10, &out);
	str_addn(&out, &round, sizeof(round));
	add_sample(&events, 0, 100, 20, &out);
	/* inherited: it tells what is right */
	add_sample(&events, 0, 107, 20, &out);
	reweigh_records(&r, (u8 *)out.at, out.n);
	CHECK_EQ(period_at(&events, &out, 0, 0), 50);
	reweigh_set(&r, 0, 100, 50, 400, 15);
	reweigh_records(&r, (u8 *)out.at, out.n);
	CHECK_EQ(period_at(&events, &out, 0, 0), 50);
	CHECK_EQ(period_at(&events, &out, 0, 2), 400);
	CHECK_EQ(period_at(&events, &out, 0, 3), 50);
	/* once more: what was in the rings is out of them */
	reweigh_set(&r, 0, 100, 50, 800, 18);
	reweigh_records(&r, (u8 *)out.at, out.n);
	CHECK_EQ(period_at(&events, &out, 0, 0), 400);
	CHECK_EQ(period_at(&events, &out, 0, 2), 800);
	reweigh_fini(&r);
	str_fini(&out);
	event_list_fini(&events);
}

TEST(reweigh_knows_the_samples_of_several_events_and_leaves_what_is_cut_off)
{
	struct event_list events = {0};
	struct str out = {0};
	struct reweigh r;

	add_event(&events, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_PERIOD);
	add_event(&events,
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
	reweigh_init(&r, &events);
	reweigh_set(&r, 1, 200, 50, 400, 0);
	add_sample(&events, 0, 100, 20, &out);
	add_sample(&events, 1, 200, 20, &out);
	add_sample(&events, 1, 207, 20, &out);
	add_sample(&events, 1, 200, 20, &out);
	/* the last one is not all there */
	reweigh_records(&r, (u8 *)out.at, out.n - 8);
	CHECK_EQ(period_at(&events, &out, 0, 0), 50);
	CHECK_EQ(period_at(&events, &out, 1, 1), 400);
	CHECK_EQ(period_at(&events, &out, 1, 2), 50);
	CHECK_EQ(period_at(&events, &out, 1, 3), 50);
	reweigh_fini(&r);
	str_fini(&out);
	event_list_fini(&events);
}
