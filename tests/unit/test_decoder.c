#include "session/decoder.h"

#include "session/stream.h"
#include "test.h"
#include "unit/recording.h"

enum { BASE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME };

static const char *said(const struct sample *s)
{
	static char text[128];

	if (!s)
		return "-";
	snprintf(text, sizeof(text), "ip %llx cpu %d period %llu addr %llx",
		(unsigned long long)s->ip, (int)s->cpu, (unsigned long long)s->period,
		(unsigned long long)s->addr);
	return text;
}

TEST(decoder_gives_samples_of_several_events_without_mixing_their_fields)
{
	static const char *const expected[] = {
		"ip 1 cpu -1 period 1000 addr 0",
		"ip 2 cpu 3 period 77 addr a2",
		"ip 3 cpu -1 period 1000 addr 0",
		"ip 4 cpu 0 period 78 addr a4",
		"-",
		"-",
		"ip 5 cpu -1 period 1000 addr 0",
	};
	struct recording r = {0};
	struct session_tally tally = {0};
	struct session session;
	struct stream stream;
	struct stream_event e;
	struct decoder d;
	struct err err;

	recording_event(&r, "fixed", BASE, 1, 1);
	recording_event(&r, "more", BASE | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR,
		2, 1);
	recording_sample(&r, 0, 0, &(struct sample){.id = 1, .ip = 1, .time = 1});
	recording_sample(&r, 1, 0,
		&(struct sample){.id = 2,
			.ip = 2,
			.cpu = 3,
			.period = 77,
			.addr = 0xa2,
			.time = 2});
	recording_sample(&r, 0, 0, &(struct sample){.id = 1, .ip = 3, .time = 3});
	recording_sample(&r, 1, 0,
		&(struct sample){.id = 2, .ip = 4, .period = 78, .addr = 0xa4, .time = 4});
	recording_sample(&r, 0, 0, &(struct sample){.id = 9, .ip = 4, .time = 5});
	/* Its event is known, and its time, but not more. */
	recording_raw(&r, PERF_RECORD_SAMPLE, 0,
		"\2\0\0\0\0\0\0\0"
		"\1\0\0\0\0\0\0\0"
		"\1\0\0\0\1\0\0\0"
		"\6\0\0\0\0\0\0\0",
		32);
	recording_sample(&r, 0, 0, &(struct sample){.id = 1, .ip = 5, .time = 7});
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(session_open(&session, test_path("perf.data"), NULL, &err), 0);
	decoder_init(&d, &session, UINT64_MAX, &tally);
	stream_init(&stream, &session);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		CHECK_EQ(stream_next(&stream, &e, &err), 1);
		CHECK_STR(said(decoder_next(&d, &e.rec, e.event)), expected[i]);
	}
	CHECK_EQ(stream_next(&stream, &e, &err), 0);
	CHECK_EQ(tally.n_foreign_id, 1);
	CHECK_EQ(tally.n_undecoded, 1);
	stream_fini(&stream);
	session_close(&session);
	recording_fini(&r);
}
