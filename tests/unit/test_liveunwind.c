#include "symbol/live/liveunwind.h"

#include <unistd.h>

#include "event/abi.h"
#include "record/regs.h"
#include "test.h"
#include "unit/caught.h"
#include "unit/recording.h"
#include "unwind/ending.h"

#if defined(__x86_64__)

enum {
	FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
	DUMPS = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	BEHIND = PERF_SAMPLE_DATA_SRC, /* a field that follows the dump */
	STACK = CAUGHT_STACK,
	WITH_DUMPS = 0, /* events */
	WITHOUT = 1,
};

static struct sample_words words_of(const u64 *words, u64 n)
{
	return (struct sample_words){(const u8 *)words, n};
}

/* ---- a recording, and the filter over it ---- */

struct fixture {
	struct recording recording;
	struct liveunwind unwind;
	struct str out;
};

static struct recording_who me(u64 time)
{
	return (struct recording_who){(u32)getpid(), (u32)getpid(), time};
}

static void fixture_init(struct fixture *f)
{
	struct find_places places = {.symfs = ""};
	struct event *e;

	memset(f, 0, sizeof(*f));
	recording_event(&f->recording, "with", FIELDS | DUMPS | BEHIND, 100, 1);
	recording_event(&f->recording, "without", FIELDS, 200, 1);
	e = &f->recording.events.at[WITH_DUMPS];
	e->attr.sample_regs_user = regs_for_callers(arch_of_host());
	e->attr.sample_stack_user = STACK;
	e->attr.flags |= ATTR_EXCLUDE_CALLCHAIN_USER;
	liveunwind_init(&f->unwind, &f->recording.events, &places, "x86_64");
}

static void fixture_fini(struct fixture *f)
{
	liveunwind_fini(&f->unwind);
	recording_fini(&f->recording);
	str_fini(&f->out);
}

static struct record nth(const struct fixture *f, size_t i)
{
	u64 start = f->recording.starts.at[i];

	return recording_view(f->recording.data.at + start, f->recording.data.n - start);
}

static void see(struct fixture *f, size_t from, size_t to, bool is_due)
{
	for (size_t i = from; i < to; i++) {
		struct record rec = nth(f, i);

		f->unwind.filter.see(f->unwind.filter.ctx, &rec, is_due);
	}
}

static void settle(struct fixture *f)
{
	f->unwind.filter.settle(f->unwind.filter.ctx);
}

/* What is written in the place of a record. */
static struct record take(struct fixture *f, size_t i)
{
	struct record rec = nth(f, i);

	str_clear(&f->out);
	f->unwind.filter.take(f->unwind.filter.ctx, &rec, &f->out);
	return recording_view(f->out.at, f->out.n);
}

static void add_maps(struct fixture *f, const struct caught *c, u64 time)
{
	for (size_t i = 0; i < c->n_code; i++) {
		const struct caught_code *code = &c->code[i];

		recording_mmap(&f->recording, PERF_RECORD_MISC_USER, me(time), code->start,
			code->end - code->start, code->pgoff, code->path);
	}
}

static const u64 both[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
	PERF_CONTEXT_USER, 0x1234, 0x5678};

/* With so many words of that chain: 3 are the kernel's part. */
static void add_sample_of(struct fixture *f, const struct caught *c, u64 time, u64 n_stack,
	size_t n)
{
	u64 room = align_up(MAX(n_stack, (u64)8), 8);
	const struct sample s = {.id = 100,
		.ip = c->regs[8],
		.pid = (u32)getpid(),
		.tid = (u32)getpid(),
		.time = time,
		.period = 7,
		.data_src = 0x1234567,
		.chain = words_of(both, n),
		.user_regs = {PERF_SAMPLE_REGS_ABI_64, words_of(c->regs, 20)},
		.user_stack = {{c->stack, (u32)room}, n_stack}};

	recording_sample(&f->recording, WITH_DUMPS, PERF_RECORD_MISC_KERNEL, &s);
}

static void add_sample(struct fixture *f, const struct caught *c, u64 time, u64 n_stack)
{
	add_sample_of(f, c, time, n_stack, 3);
}

/* The sample as who reads the file sees it; its chain without the ending. */
static struct sample decoded(const struct fixture *f, const struct record *rec,
	enum stack_ending *ret_ending)
{
	struct event_list written = {0};
	struct sample s = {0};
	struct str body = {0};
	struct sample_format format;
	struct err err;

	CHECK_EQ(rec->type, PERF_RECORD_SAMPLE);
	liveunwind_describe(&f->recording.events, &written);
	CHECK(!(written.at[WITH_DUMPS].attr.sample_type & DUMPS));
	CHECK_EQ(written.at[WITH_DUMPS].attr.sample_stack_user, STACK);
	CHECK_EQ(written.at[WITH_DUMPS].attr.flags & ATTR_EXCLUDE_CALLCHAIN_USER, 0);
	CHECK_EQ(written.at[WITHOUT].attr.sample_type, FIELDS);
	sample_format_init(&format, &written.at[WITH_DUMPS].attr);
	CHECK_EQ(sample_decode(&format, rec->at + RECORD_HEADER_SIZE,
			 rec->size - RECORD_HEADER_SIZE, UINT64_MAX, &s, &err),
		0);
	/* Nothing is behind it: no register, no byte of the stack. */
	sample_encode(&format, &s, &body);
	CHECK_EQ(body.n, rec->size - RECORD_HEADER_SIZE);
	str_fini(&body);
	CHECK(ending_take(&s.chain, ret_ending));
	event_list_fini(&written);
	return s;
}

static u64 word(const struct sample *s, u64 i)
{
	CHECK(i < s->chain.n);
	return load_u64(s->chain.at + 8 * i);
}

/* Whether the chain is the kernel's part, then this program's as far as the C library knows it. */
static void check_callers(const struct caught *c, const struct sample *s, u64 n)
{
	CHECK_EQ(word(s, 0), PERF_CONTEXT_KERNEL);
	CHECK_EQ(word(s, 2), 0xffffffff81000020);
	CHECK_EQ(word(s, 3), PERF_CONTEXT_USER);
	CHECK_EQ(word(s, 4), c->regs[8]);
	for (u64 i = 1; i < n; i++)
		CHECK_EQ(word(s, 4 + i), (u64)(uintptr_t)c->callers[i]);
}

/* ---- what comes out ---- */

TEST(liveunwind_writes_callers_in_the_place_of_registers_and_stack)
{
	const struct caught *c = caught();
	enum stack_ending ending;
	struct record rec;
	struct fixture f;
	struct sample s;

	fixture_init(&f);
	add_maps(&f, c, 10);
	add_sample(&f, c, 20, c->n_stack);
	see(&f, 0, c->n_code + 1, true);
	settle(&f);
	rec = take(&f, c->n_code);
	CHECK_EQ(rec.misc, PERF_RECORD_MISC_KERNEL);
	CHECK(rec.size < 1024);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_COMPLETE);
	CHECK_EQ(s.id, 100);
	CHECK_EQ(s.ip, c->regs[8]);
	CHECK_EQ(s.time, 20);
	CHECK_EQ(s.period, 7);
	CHECK_EQ(s.data_src, 0x1234567);
	check_callers(c, &s, (u64)c->n_callers);
	CHECK_EQ(f.unwind.n_samples, 1);
	CHECK_EQ(f.unwind.n_ended[STACK_COMPLETE], 1);
	fixture_fini(&f);
}

TEST(liveunwind_says_when_the_stack_goes_on_above_the_dump)
{
	const struct caught *c = caught();
	enum stack_ending ending;
	struct record rec;
	struct fixture f;
	struct sample s;

	fixture_init(&f);
	add_maps(&f, c, 10);
	/* what lies above ends before the outermost frames */
	add_sample(&f, c, 20, 512);
	see(&f, 0, c->n_code + 1, true);
	settle(&f);
	rec = take(&f, c->n_code);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_DUMP_TOO_SMALL);
	check_callers(c, &s, s.chain.n - 4);
	CHECK(s.chain.n - 4 < (u64)c->n_callers);
	fixture_fini(&f);
}

TEST(liveunwind_that_is_late_leaves_the_kernels_callers_where_there_are_some)
{
	const struct caught *c = caught();
	struct sample_format format;
	enum stack_ending ending;
	struct record rec;
	struct fixture f;
	struct sample s = {0};
	struct err err;

	fixture_init(&f);
	add_maps(&f, c, 10);
	add_sample_of(&f, c, 20, c->n_stack, 6);
	add_sample(&f, c, 20, c->n_stack);
	see(&f, 0, c->n_code + 2, true);
	settle(&f);
	f.unwind.filter.hurry(f.unwind.filter.ctx, true);
	rec = take(&f, c->n_code);
	format = f.unwind.written[WITH_DUMPS];
	CHECK_EQ(sample_decode(&format, rec.at + RECORD_HEADER_SIZE, rec.size - RECORD_HEADER_SIZE,
			 UINT64_MAX, &s, &err),
		0);
	CHECK_EQ(s.chain.n, 6);
	CHECK_EQ(word(&s, 5), 0x5678);
	CHECK_EQ(f.unwind.n_hurried, 1);
	CHECK_EQ(f.unwind.n_samples, 0);
	/* One that has none is walked nevertheless, and all are when there is time again. */
	rec = take(&f, c->n_code + 1);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_COMPLETE);
	f.unwind.filter.hurry(f.unwind.filter.ctx, false);
	rec = take(&f, c->n_code);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_COMPLETE);
	check_callers(c, &s, (u64)c->n_callers);
	CHECK_EQ(f.unwind.n_hurried, 1);
	fixture_fini(&f);
}

TEST(liveunwind_knows_a_map_from_another_ring_that_is_taken_later)
{
	const struct caught *c = caught();
	enum stack_ending ending;
	struct record rec;
	struct fixture f;
	struct sample s;

	fixture_init(&f);
	/* The sample's ring is looked at first; the maps' came to theirs behind the end of the round. */
	add_sample(&f, c, 20, c->n_stack);
	add_maps(&f, c, 10);
	see(&f, 0, 1, true);
	see(&f, 1, 1 + c->n_code, false);
	settle(&f);
	rec = take(&f, 0);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_COMPLETE);
	check_callers(c, &s, (u64)c->n_callers);
	/* In the next round they are written as they are, and do not count twice. */
	settle(&f);
	for (size_t i = 1; i <= c->n_code; i++) {
		struct record map = nth(&f, i);

		rec = take(&f, i);
		CHECK_EQ(rec.size, map.size);
		CHECK(!memcmp(rec.at, map.at, map.size));
	}
	CHECK_EQ(f.unwind.machine.newest_processes.n, 1);
	CHECK_EQ(f.unwind.machine.newest_processes.at[0]->n_mmaps, c->n_code);
	fixture_fini(&f);
}

TEST(liveunwind_lets_a_map_wait_that_is_of_later_than_the_round)
{
	const struct caught *c = caught();
	enum stack_ending ending;
	struct record rec;
	struct fixture f;
	struct sample s;

	fixture_init(&f);
	add_sample(&f, c, 20, c->n_stack);
	add_sample(&f, c, 40, c->n_stack);
	add_maps(&f, c, 30);
	see(&f, 0, 1, true);
	see(&f, 2, 2 + c->n_code, false);
	settle(&f);
	rec = take(&f, 0);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_NO_MAP);
	CHECK_EQ(s.chain.n, 5);
	/* The round that has a record of that time. */
	see(&f, 1, 2, true);
	settle(&f);
	rec = take(&f, 1);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_COMPLETE);
	check_callers(c, &s, (u64)c->n_callers);
	fixture_fini(&f);
}

/* How many files are open for unwinding. */
static u32 n_open(const struct fixture *f)
{
	u32 n = 0;

	for (size_t i = 0; i < f->unwind.callers.n_dsos; i++)
		n += f->unwind.callers.dsos[i] != NULL;
	return n;
}

/* A program of its own file, which runs for a moment and is sampled once. Returns the sample's position. */
static size_t add_program(struct fixture *f, const struct caught *c, u32 pid, u64 time)
{
	struct recording_who who = {pid, pid, time};
	u64 ip = 0x400010, regs[24];
	char path[64];
	struct sample s = {.id = 100, .ip = ip, .pid = pid, .tid = pid, .time = time + 3, .period = 7};
	size_t n = f->recording.starts.n;

	memcpy(regs, c->regs, sizeof(regs));
	regs[8] = ip;
	s.user_regs = (struct sample_regs){PERF_SAMPLE_REGS_ABI_64, words_of(regs, 20)};
	s.user_stack = (struct sample_stack){{c->stack, 64}, 64};
	recording_fork(&f->recording, (u32)getpid(), (u32)getpid(), who);
	snprintf(path, sizeof(path), "/gone/program-%u", pid);
	recording_mmap(&f->recording, PERF_RECORD_MISC_USER, (struct recording_who){pid, pid, time + 2},
		0x400000, 0x1000, 0, path);
	recording_sample(&f->recording, WITH_DUMPS, PERF_RECORD_MISC_USER, &s);
	recording_exit(&f->recording, (struct recording_who){pid, pid, time + 4});
	return n + 2;
}

TEST(liveunwind_closes_the_files_of_programs_that_have_ended)
{
	enum { PROGRAMS = 4000, MS = 10000000 };
	const struct caught *c = caught();
	enum stack_ending ending;
	u32 most = 0, first_pid = (u32)getpid() + 1;
	struct record rec;
	struct fixture f;
	struct sample s;

	fixture_init(&f);
	add_maps(&f, c, 0);
	see(&f, 0, c->n_code, false);
	for (u32 i = 0; i < PROGRAMS; i++) {
		size_t from = f.recording.starts.n;
		size_t at = add_program(&f, c, first_pid + i, (u64)(i + 1) * MS);

		see(&f, from, f.recording.starts.n, true);
		settle(&f);
		rec = take(&f, at);
		decoded(&f, &rec, &ending);
		most = MAX(most, n_open(&f));
	}
	CHECK(most < PROGRAMS / 4);
	/* Who goes on is walked as before. */
	add_sample(&f, c, (u64)(PROGRAMS + 1) * MS, c->n_stack);
	rec = take(&f, f.recording.starts.n - 1);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_COMPLETE);
	check_callers(c, &s, (u64)c->n_callers);
	fixture_fini(&f);
}

TEST(liveunwind_begins_with_what_was_there_before)
{
	const struct caught *c = caught();
	enum stack_ending ending;
	struct record rec;
	struct fixture f;
	struct sample s;

	fixture_init(&f);
	add_maps(&f, c, 0);
	add_sample(&f, c, 20, c->n_stack);
	/* The last record is cut off: what is whole counts. */
	liveunwind_begin(&f.unwind, f.recording.data.at,
		f.recording.starts.at[c->n_code] + RECORD_HEADER_SIZE + 4);
	rec = take(&f, c->n_code);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_COMPLETE);
	check_callers(c, &s, (u64)c->n_callers);
	fixture_fini(&f);
}

TEST(liveunwind_cuts_chains_as_their_event_says)
{
	const struct caught *c = caught();
	enum stack_ending ending;
	struct record rec;
	struct fixture f;
	struct sample s;

	fixture_init(&f);
	f.recording.events.at[WITH_DUMPS].own.max_stack = 4;
	add_maps(&f, c, 10);
	add_sample(&f, c, 20, c->n_stack);
	see(&f, 0, c->n_code + 1, true);
	settle(&f);
	rec = take(&f, c->n_code);
	s = decoded(&f, &rec, &ending);
	CHECK_EQ(ending, STACK_TOO_DEEP);
	/* two addresses of the kernel's, two of the user's, the markers before them */
	CHECK_EQ(s.chain.n, 6);
	check_callers(c, &s, 2);
	fixture_fini(&f);
}

/* ---- what does not change ---- */

TEST(liveunwind_hands_on_all_other_records_as_they_are)
{
	static const u64 chain[] = {PERF_CONTEXT_USER, 0x1000};
	const struct sample other = {.id = 200,
		.ip = 0x1000,
		.pid = 5,
		.tid = 5,
		.time = 9,
		.chain = words_of(chain, 2)};
	u64 random = 1;
	struct fixture f;

	fixture_init(&f);
	recording_sample(&f.recording, WITHOUT, PERF_RECORD_MISC_USER, &other);
	recording_comm(&f.recording, 0, me(1), "name");
	recording_exit(&f.recording, me(2));
	/* Types that nobody knows, types that are damaged. */
	for (u32 type = 0; type < 120; type++) {
		u64 body[12];

		if (type == PERF_RECORD_SAMPLE)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(body); i++)
			body[i] = recording_random(&random);
		recording_raw(&f.recording, type, (u16)type, body, type % 13 * 8);
	}
	see(&f, 0, f.recording.starts.n, true);
	settle(&f);
	for (size_t i = 0; i < f.recording.starts.n; i++) {
		struct record before = nth(&f, i), after = take(&f, i);

		CHECK_EQ(after.size, before.size);
		CHECK_EQ(f.out.n, before.size);
		CHECK(!memcmp(after.at, before.at, before.size));
	}
	fixture_fini(&f);
}

TEST(liveunwind_counts_a_sample_that_cannot_be_read_as_lost)
{
	static const u64 body[] = {100, 0x1000, 5};
	union record_body lost;
	struct record rec;
	struct fixture f;
	struct err err;

	fixture_init(&f);
	recording_raw(&f.recording, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body, sizeof(body));
	see(&f, 0, 1, true);
	settle(&f);
	rec = take(&f, 0);
	CHECK_EQ(rec.type, PERF_RECORD_LOST_SAMPLES);
	CHECK_EQ(record_decode(&rec, f.unwind.formats.at[0].trailer, &lost, &err), 1);
	CHECK_EQ(lost.lost.lost, 1);
	CHECK_EQ(f.unwind.n_unreadable, 1);
	fixture_fini(&f);
}

TEST(liveunwind_leaves_samples_of_the_kernels_threads_to_the_kernel)
{
	static const u64 kernel[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010};
	const struct sample s = {.id = 100,
		.ip = kernel[1],
		.time = 20,
		.chain = words_of(kernel, ARRAY_SIZE(kernel))};
	enum stack_ending ending;
	struct sample_words chain;
	struct sample found = {0};
	struct fixture f;
	struct record rec;
	struct err err;

	fixture_init(&f);
	recording_sample(&f.recording, WITH_DUMPS, PERF_RECORD_MISC_KERNEL, &s);
	see(&f, 0, 1, true);
	settle(&f);
	rec = take(&f, 0);
	CHECK_EQ(sample_decode(&f.unwind.written[0], rec.at + RECORD_HEADER_SIZE,
			 rec.size - RECORD_HEADER_SIZE, UINT64_MAX, &found, &err),
		0);
	chain = found.chain;
	CHECK(!ending_take(&chain, &ending));
	CHECK_EQ(chain.n, 2);
	CHECK_EQ(f.unwind.n_samples, 0);
	fixture_fini(&f);
}

#endif
