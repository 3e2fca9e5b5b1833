#include "profile/gather/timeline.h"

#include "event/abi.h"
#include "profile/gather/gather.h"
#include "test.h"
#include "unit/recording.h"

/* ---- the module ---- */

static void add(struct timeline *t, u32 tid, const char *comm, struct timeline_sample sample)
{
	timeline_add(t, &(struct timeline_thread){7, tid, comm}, &sample);
}

static u32 no_event(const void *ctx, u32 row)
{
	(void)ctx;
	(void)row;
	return 0;
}

static u32 row_as_event(const void *ctx, u32 row)
{
	(void)ctx;
	return row;
}

static const char *text_of(const struct timeline *t)
{
	static struct str text;

	str_clear(&text);
	vec_each(s, &t->at)
		str_addf(&text, "%llu %s/%u cpu%d row %u: %u %llu\n", (unsigned long long)s->time,
			t->threads.at[s->thread].comm, t->threads.at[s->thread].tid, (s32)s->cpu,
			s->row, s->n, (unsigned long long)s->period);
	return str_text(&text);
}

TEST(timeline_joins_those_of_workers_in_the_order_of_time)
{
	struct timeline *a = timeline_new(1), *b = timeline_new(1);
	char comm[] = "one";

	add(a, 1, comm, (struct timeline_sample){.time = 30, .period = 5, .row = 2});
	add(a, 1, comm, (struct timeline_sample){.time = 10, .period = 6, .row = 1, .cpu = 3});
	comm[0] = 'O'; /* Names are copied. */
	add(b, 1, "one", (struct timeline_sample){.time = 20, .period = 7, .row = 0});
	add(b, 2, "two", (struct timeline_sample){.time = 20, .period = 8, .row = 1, .cpu = -1});
	add(b, 1, "new", (struct timeline_sample){.time = 40, .period = 9, .row = 1});
	add(b, 1, "new", (struct timeline_sample){.time = 40, .period = 3, .row = 0});
	timeline_merge(a, b, 10);
	timeline_sort(a, row_as_event, NULL);
	CHECK_EQ(a->threads.n, 3);
	CHECK_STR(text_of(a),
		"10 one/1 cpu3 row 1: 1 6\n"
		"20 one/1 cpu0 row 10: 1 7\n"
		"20 two/2 cpu-1 row 11: 1 8\n"
		"30 one/1 cpu0 row 2: 1 5\n"
		"40 new/1 cpu0 row 10: 1 3\n"
		"40 new/1 cpu0 row 11: 1 9\n");
	CHECK_EQ(timeline_find(a, 0), 0);
	CHECK_EQ(timeline_find(a, 20), 1);
	CHECK_EQ(timeline_find(a, 21), 3);
	CHECK_EQ(timeline_find(a, 41), 6);
	timeline_free(a);
	timeline_free(b);
}

TEST(timeline_drops_samples_of_rows_that_are_gone)
{
	const u32 rows[] = {TABLE_NONE, 0, TABLE_NONE, 1};
	struct timeline *t = timeline_new(1);

	for (u32 i = 0; i < 8; i++)
		add(t, 1, "one", (struct timeline_sample){.time = i, .row = i % 4, .period = i});
	timeline_move(t, rows);
	timeline_sort(t, no_event, NULL);
	CHECK_STR(text_of(t),
		"1 one/1 cpu0 row 0: 1 1\n"
		"3 one/1 cpu0 row 1: 1 3\n"
		"5 one/1 cpu0 row 0: 1 5\n"
		"7 one/1 cpu0 row 1: 1 7\n");
	timeline_free(t);
}

TEST(timeline_keeps_one_of_so_many_samples_which_stands_for_them)
{
	enum { N = 100000, MOST = 10000 };
	const u32 every = timeline_every(N, MOST);
	struct timeline *t = timeline_new(every);
	u64 n = 0, early = 0;

	CHECK_EQ(every, 10);
	CHECK_EQ(timeline_every(MOST, MOST), 1);
	CHECK_EQ(timeline_every(0, MOST), 1);
	for (u64 time = 0; time < N; time++)
		if (timeline_wants(t, 1, time * 1000))
			add(t, 1, "one", (struct timeline_sample){.time = time, .period = 3});
	vec_each(s, &t->at) {
		CHECK(s->n == 10 && s->period == 30);
		n += s->n;
		early += s->time < N / 2 ? s->n : 0;
	}
	/* Within five standard deviations of what chance gives. */
	CHECK(n > N * 95 / 100 && n < N * 105 / 100);
	CHECK(early > N * 46 / 100 && early < N * 54 / 100);
	timeline_free(t);
}

/* ---- in the pass that counts ---- */

enum {
	FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	USER = PERF_RECORD_MISC_USER,
};

struct reading {
	struct trace trace;
	struct profile profile;
};

/* Reads n samples of two threads, not in the order of time, at addresses that repeat. */
static void read_some(struct reading *r, u64 fields, u32 n, struct gather_options options)
{
	struct recording recording = {0};
	struct err err;

	*r = (struct reading){0};
	recording_event(&recording, "cycles", fields, 100, 1);
	recording_event(&recording, "faults", fields, 200, 1);
	recording_comm(&recording, 0, (struct recording_who){10, 10, 0}, "ten");
	recording_mmap(&recording, USER, (struct recording_who){10, 10, 0}, 0x1000, 0x10000, 0,
		"/nonexistent/ten");
	for (u32 i = 0; i < n; i++) {
		const struct sample sample = {.id = i % 3 ? 100 : 200,
			.ip = 0x1000 + i * 7 % 1000,
			.pid = 10,
			.tid = 10 + i % 2,
			.time = 1000 + (i ^ 5),
			.cpu = i % 4,
			.period = 1 + i % 10};

		recording_sample(&recording, !(i % 3), USER, &sample);
	}
	recording_scan(&recording, &r->trace);
	CHECK(!gather(&r->trace, &options, &r->profile, &err));
}

static void reading_fini(struct reading *r)
{
	profile_fini(&r->profile);
	trace_close(&r->trace);
}

/* The samples of each row sum to its counts, and stand in the order of time. */
static void check_sums(const struct profile *p)
{
	u64 *n_samples = mem_zalloc((p->rows.n + 1) * sizeof(u64));
	u64 *periods = mem_zalloc((p->rows.n + 1) * sizeof(u64)), before = 0;

	vec_each(s, &p->timeline->at) {
		CHECK(s->row < p->rows.n && s->time >= before);
		before = s->time;
		n_samples[s->row] += s->n;
		periods[s->row] += s->period;
	}
	for (size_t i = 0; i < p->rows.n; i++)
		CHECK(n_samples[i] == p->rows.at[i].n_samples &&
			periods[i] == p->rows.at[i].period);
	mem_free(n_samples);
	mem_free(periods);
}

static bool is_odd_address(void *profile, size_t row)
{
	const struct profile *p = profile;

	return p->frames.at[p->rows.at[row].frame].address & 1;
}

TEST(timeline_of_a_recording_sums_to_its_rows_however_many_workers_read_it)
{
	/* More than one piece of the file. */
	enum { N = 60000 };
	struct timeline_sample *alone = NULL;

	for (unsigned n_workers = 1; n_workers <= 4; n_workers += 3) {
		struct reading r;

		read_some(&r, FIELDS, N,
			(struct gather_options){.n_workers = n_workers, .count.timeline_most = N});
		CHECK_EQ(r.profile.timeline->at.n, N);
		CHECK_EQ(r.profile.timeline->threads.n, 2);
		check_sums(&r.profile);
		for (size_t i = 0; alone && i < N; i++) {
			const struct timeline_sample *s = &r.profile.timeline->at.at[i];

			CHECK(s->time == alone[i].time && s->cpu == alone[i].cpu &&
				s->period == alone[i].period);
		}
		if (!alone) {
			alone = mem_alloc(N * sizeof(*alone));
			memcpy(alone, r.profile.timeline->at.at, N * sizeof(*alone));
		}
		profile_keep_rows(&r.profile, is_odd_address, &r.profile);
		CHECK_EQ(r.profile.timeline->at.n, N / 2);
		check_sums(&r.profile);
		reading_fini(&r);
	}
	mem_free(alone);
}

TEST(timeline_of_a_recording_without_times_is_empty_and_counts_its_samples)
{
	struct reading r;

	read_some(&r, FIELDS & ~PERF_SAMPLE_TIME, 100,
		(struct gather_options){.n_workers = 1, .count.timeline_most = TIMELINE_MOST});
	CHECK_EQ(r.profile.timeline->at.n, 0);
	CHECK_EQ(r.profile.timeline->n_timeless, 100);
	reading_fini(&r);
	read_some(&r, FIELDS, 100, (struct gather_options){.n_workers = 1});
	CHECK(!r.profile.timeline);
	reading_fini(&r);
}
