#include "session/session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mapped.h"
#include "machine/machine.h"
#include "test.h"
#include "unit/recording.h"

enum {
	SAMPLE_BITS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_IDENTIFIER,
	USER = PERF_RECORD_MISC_USER,
	WORKERS = 8,
};

struct fixture {
	struct recording r;
	struct session s;
	struct str states; /* "COMM name@time " ... as they were handed on */
};

static u64 add_state(void *ctx, const struct record *rec, const union record_body *body, u64 time)
{
	struct fixture *f = ctx;

	str_addf(&f->states, "%s", record_type_name(rec->type));
	if (rec->type == PERF_RECORD_COMM)
		str_addf(&f->states, ":%.*s", (int)body->comm.comm.n, body->comm.comm.at);
	if (rec->type == PERF_RECORD_MMAP2)
		str_addf(&f->states, ":%.*s", (int)body->mmap.path.n, body->mmap.path.at);
	if (rec->type == PERF_RECORD_FORK || rec->type == PERF_RECORD_EXIT)
		str_addf(&f->states, ":%u", body->task.tid);
	str_addf(&f->states, "@%llu ", (unsigned long long)time);
	return 0;
}

/* Writes, opens and scans what was put into f->r. */
static void scan(struct fixture *f)
{
	const char *path = test_path("perf.data");
	struct err err;

	recording_write(&f->r, NULL, path);
	if (session_open(&f->s, path, NULL, &err) || session_scan(&f->s, add_state, f, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

static void fixture_fini(struct fixture *f)
{
	session_close(&f->s);
	recording_fini(&f->r);
	str_fini(&f->states);
}

static struct recording_who who(u32 tid, u64 time)
{
	return (struct recording_who){tid, tid, time};
}

static void add_sample(struct recording *r, u32 event, u16 misc, u64 time, u64 period)
{
	struct sample s = {.id = r->events.at[event].ids[0],
		.ip = 0x1000 + time,
		.pid = 1,
		.tid = 2,
		.time = time,
		.cpu = 3,
		.addr = 4,
		.period = period};

	recording_sample(r, event, misc, &s);
}

/* ---- pass 1 ---- */

TEST(session_hands_state_on_in_the_order_of_time)
{
	struct fixture f = {0};

	recording_event(&f.r, "e", SAMPLE_BITS, 1, 1);
	recording_comm(&f.r, 0, who(1, 50), "c");
	recording_comm(&f.r, 0, who(1, 7), "a");
	recording_fork(&f.r, 1, 1, who(2, 8));
	add_sample(&f.r, 0, USER, 9, 1);
	recording_exit(&f.r, who(2, 1ULL << 60));
	recording_mmap(&f.r, USER, who(1, 20), 0x1000, 0x1000, 0, "/b");
	/* Synthesized records have no time: they tell of what was there before. */
	recording_comm(&f.r, 0, who(1, 0), "z");
	scan(&f);
	CHECK_STR(str_text(&f.states),
		"COMM:z@0 COMM:a@7 FORK:2@8 MMAP2:/b@20 COMM:c@50 EXIT:2@1152921504606846976 ");
	CHECK_EQ(f.s.tally.n_out_of_order, 3);
	CHECK(f.s.has_times);
	fixture_fini(&f);
}

TEST(session_keeps_the_files_order_at_equal_times)
{
	struct fixture f = {0};
	struct str expected = {0};
	u64 dice = 1;

	recording_event(&f.r, "e", SAMPLE_BITS, 1, 1);
	for (u64 time = 0; time < 6; time++) {
		for (u32 i = 0; i < 30; i++)
			str_addf(&expected, "COMM:%u.%u@%u ", (u32)time, i, (u32)time);
	}
	/* The times come mixed, the records of each in their order. */
	for (u32 next[6] = {0}, n = 0; n < 180;) {
		u64 time = recording_below(&dice, 6);
		char name[16];

		if (next[time] == 30)
			continue;
		snprintf(name, sizeof(name), "%u.%u", (u32)time, next[time]++);
		recording_comm(&f.r, 0, who(1, time), name);
		n++;
	}
	scan(&f);
	CHECK_STR(str_text(&f.states), str_text(&expected));
	str_fini(&expected);
	fixture_fini(&f);
}

TEST(session_without_times_keeps_the_files_order)
{
	struct fixture f = {0};
	struct str expected = {0};

	recording_event(&f.r, "e", PERF_SAMPLE_IP | PERF_SAMPLE_TID, 1, 1);
	recording_comm(&f.r, 0, who(1, 9), "first");
	recording_comm(&f.r, 0, who(1, 3), "second");
	recording_comm(&f.r, 0, who(1, 0), "third");
	scan(&f);
	CHECK(!f.s.has_times);
	str_addf(&expected, "COMM:first@%llu COMM:second@%llu COMM:third@%llu ",
		(unsigned long long)recording_data_offset(&f.r),
		(unsigned long long)(recording_data_offset(&f.r) + f.r.starts.at[1]),
		(unsigned long long)(recording_data_offset(&f.r) + f.r.starts.at[2]));
	CHECK_STR(str_text(&f.states), str_text(&expected));
	str_fini(&expected);
	fixture_fini(&f);
}

TEST(session_without_times_in_trailers_has_no_times)
{
	struct fixture f = {0};

	recording_event(&f.r, "e", SAMPLE_BITS, 1, 1);
	f.r.events.at[0].attr.flags = 0;
	recording_comm(&f.r, 0, who(1, 9), "first");
	recording_comm(&f.r, 0, who(1, 3), "second");
	scan(&f);
	CHECK(!f.s.has_times);
	CHECK_HAS(str_text(&f.states), "COMM:first@");
	CHECK(strstr(str_text(&f.states), "first") < strstr(str_text(&f.states), "second"));
	fixture_fini(&f);
}

static void add_words(struct recording *r, u32 type, const u64 *words, size_t n)
{
	recording_raw(r, type, 0, words, n * 8);
}

TEST(session_tally_counts_what_was_lost_and_throttled)
{
	struct fixture f = {0};
	union record_body lost = {.lost = {1, 0}};

	recording_event(&f.r, "e", SAMPLE_BITS, 1, 1);
	for (u64 n = 1; n <= 4; n++) {
		lost.lost.lost = n;
		recording_add(&f.r, PERF_RECORD_LOST, 0, &lost, who(1, n));
	}
	lost.lost.lost = 1ULL << 40;
	recording_add(&f.r, PERF_RECORD_LOST_SAMPLES, 0, &lost, who(1, 5));
	lost.lost.lost = 7;
	recording_add(&f.r, PERF_RECORD_LOST_SAMPLES, 0, &lost, who(1, 6));
	for (u32 i = 0; i < 3; i++)
		recording_add(&f.r, PERF_RECORD_THROTTLE, 0,
			&(union record_body){.throttle = {i, 1, 1}}, who(1, 7));
	recording_add(&f.r, PERF_RECORD_UNTHROTTLE, 0, &(union record_body){.throttle = {9, 1, 1}},
		who(1, 8));
	scan(&f);
	CHECK_EQ(f.s.tally.n_lost_records, 10);
	CHECK_EQ(f.s.tally.n_lost_samples, (1ULL << 40) + 7);
	CHECK_EQ(f.s.tally.n_throttled, 3);
	CHECK_EQ(f.s.tally.n_by_type[PERF_RECORD_LOST], 4);
	CHECK_EQ(f.s.tally.n_by_type[PERF_RECORD_LOST_SAMPLES], 2);
	CHECK_EQ(f.s.tally.n_by_type[PERF_RECORD_UNTHROTTLE], 1);
	CHECK_EQ(f.s.tally.n_undecoded, 0);
	CHECK_STR(str_text(&f.states), "");
	fixture_fini(&f);
}

TEST(session_tally_counts_every_type_known_or_not)
{
	static const u32 types[] = {0, 1, 8, 9, 23, 63, 65, 68, 71, 80, 82, 84, 85, 127, 128, 129,
		255, 32768, UINT32_MAX};
	struct fixture f = {0};
	u64 words[8] = {0}, n = 0;

	recording_event(&f.r, "e", PERF_SAMPLE_IP, 1, 1);
	f.r.events.at[0].attr.flags = 0;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		for (size_t k = 0; k <= i; k++)
			add_words(&f.r, types[i], words, ARRAY_SIZE(words));
	scan(&f);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i] && types[i] < 128)
			CHECK_EQ(f.s.tally.n_by_type[types[i]], i + 1);
	/* Types from 128 up share the first counter with a type that nobody has. */
	CHECK_EQ(f.s.tally.n_by_type[0], 1 + 15 + 16 + 17 + 18 + 19);
	for (size_t i = 0; i < ARRAY_SIZE(f.s.tally.n_by_type); i++)
		n += f.s.tally.n_by_type[i];
	CHECK_EQ(n, f.r.starts.n);
	CHECK_EQ(f.s.tally.n_samples, 4);
	fixture_fini(&f);
}

TEST(session_counts_side_records_whose_fields_do_not_fit)
{
	struct fixture f = {0};
	u64 words[2] = {0};

	recording_event(&f.r, "e", SAMPLE_BITS, 1, 1);
	recording_comm(&f.r, 0, who(1, 1), "good");
	add_words(&f.r, PERF_RECORD_COMM, NULL, 0);
	add_words(&f.r, PERF_RECORD_MMAP2, words, 2);
	add_words(&f.r, PERF_RECORD_FORK, words, 1);
	add_words(&f.r, PERF_RECORD_LOST, words, 1);
	add_words(&f.r, PERF_RECORD_LOST_SAMPLES, NULL, 0);
	recording_comm(&f.r, 0, who(1, 2), "too");
	scan(&f);
	CHECK_EQ(f.s.tally.n_undecoded, 5);
	CHECK_STR(str_text(&f.states), "COMM:good@1 COMM:too@2 ");
	fixture_fini(&f);
}

TEST(session_tells_whether_the_kernel_was_sampled)
{
	static const u16 modes[] = {PERF_RECORD_MISC_CPUMODE_UNKNOWN, USER,
		PERF_RECORD_MISC_HYPERVISOR, PERF_RECORD_MISC_GUEST_KERNEL,
		PERF_RECORD_MISC_GUEST_USER, PERF_RECORD_MISC_KERNEL,
		PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct fixture f = {0};

		recording_event(&f.r, "e", SAMPLE_BITS, 1, 1);
		add_sample(&f.r, 0, USER, 1, 1);
		add_sample(&f.r, 0, modes[i], 2, 1);
		add_sample(&f.r, 0, USER, 3, 1);
		scan(&f);
		CHECK_EQ(f.s.has_kernel_samples, i >= 5);
		fixture_fini(&f);
	}
}

/* Records of another event have another trailer: its id tells which. */
TEST(session_reads_times_from_the_trailer_of_each_records_event)
{
	struct fixture f = {0};
	struct sample_format format;
	struct sample trailer = {.id = 2, .pid = 7, .tid = 7, .time = 5, .cpu = 1, .stream_id = 9};
	union record_body body = {.comm = {7, 7, {(const u8 *)"second", 6}}};
	struct str whole = {0};

	recording_event(&f.r, "a", SAMPLE_BITS, 1, 1);
	recording_event(&f.r, "b", SAMPLE_BITS | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID, 2, 1);
	recording_comm(&f.r, 0, who(1, 10), "first");
	sample_format_init(&format, &f.r.events.at[1].attr);
	CHECK(record_encode(PERF_RECORD_COMM, 0, &body, 0, &whole));
	sample_encode_trailer(&format, &trailer, &whole);
	recording_raw(&f.r, PERF_RECORD_COMM, 0, whole.at + RECORD_HEADER_SIZE,
		whole.n - RECORD_HEADER_SIZE);
	scan(&f);
	CHECK_STR(str_text(&f.states), "COMM:second@5 COMM:first@10 ");
	str_fini(&whole);
	fixture_fini(&f);
}

/* ---- pass 2 ---- */

struct sums {
	u64 n, n_by_event[4], periods, ips, times, without_cpu, addresses;
	u64 mix; /* of all fields: the same for the same samples in any order */
};

static void count_sample(void *ctx, const struct session_sample *in)
{
	struct sums *sums = ctx;
	const struct sample *s = in->sample;

	sums->n++;
	sums->n_by_event[in->event]++;
	sums->periods += s->period;
	sums->ips += s->ip;
	sums->times += in->time;
	sums->without_cpu += s->cpu == (u32)-1;
	sums->addresses += s->addr;
	sums->mix += hash_mix(hash_mix(s->ip, in->time),
			     hash_mix(s->period, (u64)in->event << 32 | s->cpu)) ^
		hash_u64(in->rec->offset);
}

static int add_up(struct session *s, unsigned n_workers, struct sums *ret_sums)
{
	struct sums each[WORKERS] = {0}, all = {0};
	void *contexts[WORKERS];
	struct session_sink sink = {UINT64_MAX, count_sample, contexts};
	struct err err;
	int r;

	for (unsigned i = 0; i < WORKERS; i++)
		contexts[i] = &each[i];
	r = session_samples(s, n_workers, &sink, &err);
	for (unsigned i = 0; i < WORKERS; i++) {
		all.n += each[i].n;
		for (size_t e = 0; e < ARRAY_SIZE(all.n_by_event); e++)
			all.n_by_event[e] += each[i].n_by_event[e];
		all.periods += each[i].periods;
		all.ips += each[i].ips;
		all.times += each[i].times;
		all.without_cpu += each[i].without_cpu;
		all.addresses += each[i].addresses;
		all.mix += each[i].mix;
	}
	*ret_sums = all;
	return r;
}

TEST(session_sums_are_the_same_with_any_number_of_workers)
{
	struct fixture f = {0};
	struct sums expected = {0}, sums;
	u8 *noise = mem_zalloc(60000);
	u64 dice = 4, first = UINT64_MAX, last = 0;

	recording_event(&f.r, "a", SAMPLE_BITS, 10, 1);
	recording_event(&f.r, "b", SAMPLE_BITS | PERF_SAMPLE_CPU | PERF_SAMPLE_ADDR, 20, 1);
	recording_event(&f.r, "c", SAMPLE_BITS & ~PERF_SAMPLE_PERIOD, 30, 1);
	while (f.r.data.n < 6 << 20) {
		u64 time = 1 + recording_below(&dice, 1 << 30),
		    period = recording_below(&dice, 1000);
		u32 event = recording_below(&dice, 3);

		/* Some records are so large that they lie across the edges of pieces. */
		if (!recording_below(&dice, 400))
			recording_raw(&f.r, 200, 0, noise, recording_below(&dice, 7000) * 8);
		add_sample(&f.r, event, USER, time, period);
		expected.n++;
		expected.n_by_event[event]++;
		expected.periods += event == 2 ? 1002 : period;
		expected.ips += 0x1000 + time;
		expected.times += time;
		expected.without_cpu += event != 1;
		expected.addresses += event == 1 ? 4 : 0;
		first = MIN(first, time);
		last = MAX(last, time);
	}
	scan(&f);
	CHECK(f.s.pieces.n >= 6);
	CHECK_EQ(f.s.tally.n_samples, expected.n);
	for (unsigned n_workers = 1; n_workers <= WORKERS; n_workers++) {
		f.s.tally.first_time = f.s.tally.last_time = 0;
		CHECK_EQ(add_up(&f.s, n_workers, &sums), 0);
		if (n_workers == 1)
			expected.mix = sums.mix;
		CHECK(!memcmp(&sums, &expected, sizeof(sums)));
		CHECK_EQ(f.s.tally.first_time, first);
		CHECK_EQ(f.s.tally.last_time, last);
		CHECK_EQ(f.s.tally.n_undecoded, 0);
		CHECK_EQ(f.s.tally.n_foreign_id, 0);
	}
	mem_free(noise);
	fixture_fini(&f);
}

TEST(session_samples_without_a_period_or_cpu_get_the_attrs_and_none)
{
	struct fixture f = {0};
	struct sums sums;

	recording_event(&f.r, "a", PERF_SAMPLE_IP, 1, 1);
	f.r.events.at[0].attr.sample_period = 4242;
	for (u64 i = 0; i < 10; i++)
		add_sample(&f.r, 0, USER, i, 0);
	scan(&f);
	CHECK_EQ(add_up(&f.s, 2, &sums), 0);
	CHECK_EQ(sums.n, 10);
	CHECK_EQ(sums.periods, 42420);
	CHECK_EQ(sums.without_cpu, 10);
	/* The place in the file stands in for the time. */
	CHECK_EQ(sums.times, 10 * recording_data_offset(&f.r) + 16 * 45);
	CHECK_EQ(f.s.tally.first_time, 0);
	CHECK_EQ(f.s.tally.last_time, 0);
	fixture_fini(&f);
}

/* What one event's samples had must not show up in those of another that follow. */
TEST(session_samples_of_one_event_leave_nothing_for_another)
{
	struct fixture f = {0};
	struct sums sums;

	recording_event(&f.r, "with", SAMPLE_BITS | PERF_SAMPLE_CPU | PERF_SAMPLE_ADDR, 1, 1);
	recording_event(&f.r, "without", SAMPLE_BITS, 2, 1);
	for (u64 i = 0; i < 50; i++)
		add_sample(&f.r, i % 2, USER, 1 + i, 1);
	scan(&f);
	CHECK_EQ(add_up(&f.s, 1, &sums), 0);
	CHECK_EQ(sums.n, 50);
	CHECK_EQ(sums.without_cpu, 25);
	CHECK_EQ(sums.addresses, 25 * 4);
	fixture_fini(&f);
}

TEST(session_counts_samples_of_nobody_and_samples_that_do_not_fit)
{
	struct fixture f = {0};
	u64 words[] = {77, 1, 2, 3, 4}, mine[] = {1, 1};
	struct sums sums;

	recording_event(&f.r, "a", SAMPLE_BITS, 1, 1);
	recording_event(&f.r, "b", SAMPLE_BITS, 2, 1);
	add_sample(&f.r, 0, USER, 1, 1);
	add_sample(&f.r, 1, USER, 2, 1);
	for (u32 i = 0; i < 3; i++)
		add_words(&f.r, PERF_RECORD_SAMPLE, words, ARRAY_SIZE(words));
	for (u32 i = 0; i < 4; i++)
		add_words(&f.r, PERF_RECORD_SAMPLE, mine, ARRAY_SIZE(mine));
	/* Without room for an id it is nobody's. */
	add_words(&f.r, PERF_RECORD_SAMPLE, NULL, 0);
	scan(&f);
	CHECK_EQ(add_up(&f.s, 3, &sums), 0);
	CHECK_EQ(sums.n, 2);
	CHECK_EQ(f.s.tally.n_samples, 10);
	CHECK_EQ(f.s.tally.n_foreign_id, 4);
	CHECK_EQ(f.s.tally.n_undecoded, 4);
	/* In = handed on + counted. */
	CHECK_EQ(sums.n + f.s.tally.n_foreign_id + f.s.tally.n_undecoded, f.s.tally.n_samples);
	fixture_fini(&f);
}

TEST(session_reads_up_to_the_damage_and_says_where_it_is)
{
	struct fixture f = {0};
	struct record_header bad = {PERF_RECORD_SAMPLE, 0, 4};
	struct sums sums;

	recording_event(&f.r, "a", SAMPLE_BITS, 1, 1);
	for (u64 i = 0; i < 20; i++)
		add_sample(&f.r, 0, USER, 1 + i, 1);
	memcpy(f.r.data.at + f.r.starts.at[13], &bad, sizeof(bad));
	scan(&f);
	CHECK_EQ(f.s.tally.n_samples, 13);
	CHECK_EQ(f.s.tally.damage.offset, recording_data_offset(&f.r) + f.r.starts.at[13]);
	CHECK_EQ(f.s.tally.damage.bytes, f.r.data.n - f.r.starts.at[13]);
	CHECK(f.s.tally.damage.reason);
	CHECK_EQ(add_up(&f.s, 2, &sums), 0);
	CHECK_EQ(sums.n, 13);
	fixture_fini(&f);
}

TEST(session_of_no_records_has_no_samples)
{
	struct fixture f = {0};
	struct sums sums;

	recording_event(&f.r, "a", SAMPLE_BITS, 1, 1);
	scan(&f);
	CHECK_EQ(f.s.pieces.n, 0);
	CHECK_EQ(add_up(&f.s, 4, &sums), 0);
	CHECK_EQ(sums.n, 0);
	CHECK(!f.s.tally.damage.reason);
	fixture_fini(&f);
}

static void check_shrinking(u64 bits)
{
	struct fixture f = {0};
	struct sums sums;
	u64 cut;

	recording_event(&f.r, "a", SAMPLE_BITS | bits, 1, 1);
	for (u64 i = 0; i < 60000; i++)
		add_sample(&f.r, 0, USER, 1 + i, 1);
	scan(&f);
	CHECK(f.s.pieces.n > 2);
	CHECK(!f.s.tally.damage.reason);
	cut = f.s.pieces.at[1].offset + 20;
	CHECK_EQ(truncate(test_path("perf.data"), (off_t)cut), 0);
	CHECK_EQ(add_up(&f.s, 2, &sums), 0);
	CHECK(sums.n > 0 && sums.n < 60000);
	CHECK(f.s.tally.damage.reason);
	CHECK(f.s.tally.damage.offset + 100 > cut);
	fixture_fini(&f);
}

TEST(session_survives_a_file_that_shrinks_between_the_passes)
{
	check_shrinking(0);
	/* one that is mapped */
	mapped_read_zeros();
	check_shrinking(PERF_SAMPLE_STACK_USER);
}

/* A page in the middle of a copy of a stack has no record's beginning. */
TEST(session_says_that_a_mapped_page_could_not_be_read)
{
	enum { COPY = 40000 };
	u8 *copy = mem_zalloc(COPY);
	struct sample s = {.id = 1, .ip = 0x1000, .pid = 1, .tid = 2, .time = 1, .period = 1};
	struct fixture f = {0};
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct sums sums;
	u64 offset;
	u8 *page;
	int fd;

	mapped_read_zeros();
	recording_event(&f.r, "a", SAMPLE_BITS | PERF_SAMPLE_STACK_USER, 1, 1);
	s.user_stack = (struct sample_stack){{copy, COPY}, COPY};
	for (u64 i = 0; i < 20; i++)
		recording_sample(&f.r, 0, USER, &s);
	scan(&f);
	/* As where a disk cannot be read: behind the end of an empty file. */
	offset = align_up(recording_data_offset(&f.r) + f.r.starts.at[7] + 5000, size);
	page = (u8 *)(uintptr_t)f.s.reader.parts.at[0].mapping.at + offset;
	test_write(test_path("empty"), "", 0);
	fd = open(test_path("empty"), O_RDONLY);
	CHECK(mmap(page, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == page);
	close(fd);
	CHECK_EQ(add_up(&f.s, 2, &sums), 0);
	CHECK_EQ(sums.n, 20);
	/* Nobody has looked at it: nothing is wrong with what was read. */
	CHECK(!f.s.tally.damage.reason);
	CHECK_EQ(*(volatile u8 *)page, 0);
	CHECK_EQ(add_up(&f.s, 2, &sums), 0);
	CHECK(f.s.tally.damage.reason);
	CHECK_EQ(f.s.tally.damage.offset, offset);
	fixture_fini(&f);
	mem_free(copy);
}

/* A trace larger than a piece has no records in it that a piece could begin with. */
TEST(session_pieces_begin_behind_traces)
{
	enum { TRACE = 3 << 20 };
	struct fixture f = {0};
	u64 words[5] = {TRACE};
	struct sums sums;

	recording_event(&f.r, "a", SAMPLE_BITS, 1, 1);
	add_sample(&f.r, 0, USER, 1, 1);
	add_words(&f.r, PERF_RECORD_AUXTRACE, words, ARRAY_SIZE(words));
	str_fill(&f.r.data, '\x09', TRACE);
	for (u64 i = 0; i < 100; i++)
		add_sample(&f.r, 0, USER, 2 + i, 1);
	scan(&f);
	CHECK_EQ(f.s.pieces.n, 2);
	CHECK(!f.s.tally.damage.reason);
	for (unsigned n_workers = 1; n_workers <= 3; n_workers++) {
		CHECK_EQ(add_up(&f.s, n_workers, &sums), 0);
		CHECK_EQ(sums.n, 101);
	}
	fixture_fini(&f);
}

/* ---- into a machine ---- */

TEST(session_feeds_a_machine_whatever_the_order_in_the_file)
{
	const char *path = test_path("perf.data");
	struct recording r = {0};
	struct intern names = {0};
	struct session session;
	struct machine machine;
	struct thread_state state;
	struct err err;

	recording_event(&r, "a", SAMPLE_BITS, 1, 1);
	/* As rings are drained one CPU after the other: later ones first. */
	recording_comm(&r, PERF_RECORD_MISC_COMM_EXEC, who(2, 30), "child");
	recording_mmap(&r, USER, who(2, 31), 0x1000, 0x1000, 0, "/bin/child");
	recording_fork(&r, 1, 1, who(2, 20));
	recording_mmap(&r, USER, who(1, 10), 0x1000, 0x1000, 0, "/bin/parent");
	recording_comm(&r, 0, who(1, 5), "parent");
	recording_write(&r, NULL, path);
	CHECK_EQ(session_open(&session, path, NULL, &err), 0);
	CHECK_EQ(machine_scan(&machine, &session, &err), 0);
	machine_state_at(&machine, 2, 2, 25, &names, &state);
	CHECK_STR(state.comm, "parent");
	CHECK_STR(machine_find(state.user, 0x1000)->dso->name, "parent");
	machine_state_at(&machine, 2, 2, 31, &names, &state);
	CHECK_STR(state.comm, "child");
	CHECK_STR(machine_find(state.user, 0x1000)->dso->name, "child");
	machine_state_at(&machine, 1, 1, 31, &names, &state);
	CHECK_STR(machine_find(state.user, 0x1000)->dso->name, "parent");
	CHECK_EQ(session.tally.n_out_of_order, 3);
	machine_fini(&machine);
	session_close(&session);
	intern_fini(&names);
	recording_fini(&r);
}

/* ---- samples that read counters ---- */

enum { READS = SAMPLE_BITS | PERF_SAMPLE_READ };

/* A leader with two members: events 0 to 2, with the ids 1 and 2, 11 and 12, 21 and 22. */
static void add_group(struct recording *r, u64 flags)
{
	static const char *const names[] = {"leader", "first", "second"};

	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		recording_event(r, names[i], READS, 1 + i * 10, 2);
		r->events.at[i].attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		r->events.at[i].attr.flags |= flags;
	}
}

/* A sample of the leader's: what the counters with that last digit of their ids had counted. */
static void add_reading(struct recording *r, u32 digit, u32 tid, u64 time, const u64 values[3])
{
	u64 words[6];
	struct sample s =
		{.id = digit, .ip = 0x1000, .pid = 1, .tid = tid, .time = time, .period = 7};

	for (u32 i = 0; i < 3; i++) {
		words[2 * i] = values[i];
		words[2 * i + 1] = i * 10 + digit;
	}
	s.read = (struct sample_read){.values = {(const u8 *)words, 6}, .n_values = 3};
	recording_sample(r, 0, USER, &s);
}

#define READING(r, digit, tid, time, ...) \
	add_reading(r, digit, tid, time, (const u64[3]){__VA_ARGS__})

static void note_value(void *ctx, const struct session_sample *in)
{
	str_addf(ctx, "%s%llu:%u=%llu", in->is_next ? "+" : " ", (unsigned long long)in->time,
		in->event, (unsigned long long)in->sample->period);
	CHECK_EQ(in->taken_by, 0);
}

static void check_values(struct fixture *f, const char *expected)
{
	struct str said = {0};
	void *context = &said;
	struct session_sink sink = {PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD, note_value, &context};
	struct err err;

	scan(f);
	CHECK_EQ(session_samples(&f->s, 1, &sink, &err), 0);
	CHECK_STR(str_text(&said), expected);
	str_fini(&said);
}

TEST(session_each_value_that_a_sample_has_read_is_a_sample_of_that_counters_event)
{
	struct fixture f = {0};

	add_group(&f.r, 0);
	READING(&f.r, 1, 5, 10, 100, 3, 0);
	READING(&f.r, 2, 5, 20, 50, 0, 0);
	READING(&f.r, 1, 6, 30, 250, 3, 9);
	READING(&f.r, 2, 6, 40, 50, 0, 0);
	check_values(&f, " 10:0=100+10:1=3 20:0=50 30:0=150+30:2=9");
	/* The record that told nothing new is no sample. */
	CHECK_EQ(f.s.tally.n_samples, 5);
	CHECK_EQ(f.s.tally.n_by_type[PERF_RECORD_SAMPLE], 4);
	fixture_fini(&f);
}

TEST(session_counters_that_children_inherit_are_told_apart_by_thread)
{
	struct fixture f = {0};

	add_group(&f.r, ATTR_INHERIT);
	READING(&f.r, 1, 5, 10, 100, 3, 0);
	recording_fork(&f.r, 5, 5, who(6, 15));
	READING(&f.r, 1, 6, 20, 40, 1, 0);
	READING(&f.r, 1, 5, 30, 150, 3, 0);
	READING(&f.r, 1, 6, 40, 70, 2, 0);
	/* Another thread gets the same number, and counts more than the first had. */
	recording_exit(&f.r, who(6, 45));
	recording_fork(&f.r, 5, 5, who(6, 50));
	READING(&f.r, 1, 6, 60, 90, 0, 0);
	check_values(&f, " 10:0=100+10:1=3 20:0=40+20:1=1 30:0=50 40:0=30+40:1=1 60:0=90");
	fixture_fini(&f);
}

TEST(session_what_counters_counted_goes_by_time_not_by_the_files_order)
{
	struct fixture f = {0};

	add_group(&f.r, 0);
	/* As rings that are overwritten are read: the latest first. */
	READING(&f.r, 1, 5, 30, 300, 9, 0);
	READING(&f.r, 1, 5, 20, 200, 9, 0);
	READING(&f.r, 1, 5, 10, 100, 4, 0);
	check_values(&f, " 30:0=100 20:0=100+20:1=5 10:0=100+10:1=4");
	fixture_fini(&f);
}

TEST(session_a_counter_that_began_anew_has_counted_what_it_says)
{
	struct fixture f = {0};

	add_group(&f.r, 0);
	READING(&f.r, 1, 5, 10, 100, 3, 0);
	READING(&f.r, 1, 5, 20, 40, 3, 1);
	check_values(&f, " 10:0=100+10:1=3 20:0=40+20:2=1");
	fixture_fini(&f);
}

TEST(session_values_of_counters_that_the_file_does_not_describe_are_counted_as_foreign)
{
	struct fixture f = {0};

	add_group(&f.r, 0);
	f.r.events.at[2].n_ids = 1;
	READING(&f.r, 1, 5, 10, 100, 3, 0);
	READING(&f.r, 2, 5, 20, 40, 3, 8);
	/* By its own identifier this one is of no event at all. */
	READING(&f.r, 5, 5, 30, 40, 3, 0);
	check_values(&f, " 10:0=100+10:1=3 20:0=40+20:1=3");
	CHECK_EQ(f.s.tally.n_samples, 6);
	CHECK_EQ(f.s.tally.n_foreign_id, 2);
	fixture_fini(&f);
}

TEST(session_readings_are_the_same_with_any_number_of_workers)
{
	struct fixture f = {0};
	struct sums sums;
	u64 dice = 11, n = 0, periods = 0, values[3] = {0};
	u8 *noise = mem_zalloc(60000);

	add_group(&f.r, 0);
	recording_event(&f.r, "alone", SAMPLE_BITS, 31, 1);
	for (u64 time = 1; f.r.data.n < 5 << 20; time++) {
		if (!recording_below(&dice, 400))
			recording_raw(&f.r, 200, 0, noise, recording_below(&dice, 7000) * 8);
		if (!recording_below(&dice, 3)) {
			add_sample(&f.r, 3, USER, time, 1);
			n++;
			periods++;
			continue;
		}
		for (u32 i = 0; i < 3; i++) {
			u64 more = recording_below(&dice, 4);

			values[i] += more;
			n += more != 0;
			periods += more;
		}
		add_reading(&f.r, 1, 5, time, values);
	}
	scan(&f);
	CHECK(f.s.pieces.n > 4);
	CHECK_EQ(f.s.tally.n_samples, n);
	for (unsigned n_workers = 1; n_workers <= WORKERS; n_workers++) {
		CHECK_EQ(add_up(&f.s, n_workers, &sums), 0);
		CHECK_EQ(sums.n, n);
		CHECK_EQ(sums.periods, periods);
	}
	mem_free(noise);
	fixture_fini(&f);
}
