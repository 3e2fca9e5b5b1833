#include "record/sample.h"

#include "arch/arch.h"
#include "event/abi.h"
#include "test.h"
#include "unit/recording.h"

enum { N_BITS = 25 }; /* PERF_SAMPLE_IP .. PERF_SAMPLE_WEIGHT_STRUCT */

static const u64 trailer_bits[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};

/* ---- samples made up ---- */

struct dice {
	u64 state;
	struct arena arena; /* what the samples' views point into */
};

static u64 roll(struct dice *d, u64 limit)
{
	return recording_below(&d->state, limit);
}

/* Values with a taste for the extremes. */
static u64 any(struct dice *d)
{
	switch (roll(d, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	default:
		return recording_random(&d->state);
	}
}

static u8 *any_bytes(struct dice *d, size_t n)
{
	u8 *p = arena_alloc(&d->arena, n + 8);

	/* At any alignment: views are into records that may lie anywhere. */
	p += roll(d, 8);
	for (size_t i = 0; i < n; i++)
		p[i] = recording_random(&d->state);
	return p;
}

static struct sample_words any_words(struct dice *d, u64 n)
{
	return (struct sample_words){any_bytes(d, n * 8), n};
}

static struct sample_read any_read(struct dice *d, u64 format)
{
	u64 each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	struct sample_read r = {.n_values = format & PERF_FORMAT_GROUP ? roll(d, 5) : 1};
	u64 n_times = 0;
	u8 *words;

	if (format & PERF_FORMAT_GROUP) {
		r.values = any_words(d, r.n_values * each);
		r.time_enabled = format & PERF_FORMAT_TOTAL_TIME_ENABLED ? any(d) : 0;
		r.time_running = format & PERF_FORMAT_TOTAL_TIME_RUNNING ? any(d) : 0;
		return r;
	}
	/* One counter: the times stand between its value and the rest. */
	n_times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	words = any_bytes(d, (each + n_times) * 8);
	r.values = (struct sample_words){words, each + n_times};
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		r.time_enabled = load_u64(words + 8);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		r.time_running = load_u64(words + 8 * n_times);
	return r;
}

static struct sample_regs any_regs(struct dice *d, u64 mask)
{
	u64 abi = roll(d, 3);

	return (struct sample_regs){abi, any_words(d, abi ? __builtin_popcountll(mask) : 0)};
}

static struct sample_branches any_branches(struct dice *d, u64 type)
{
	struct sample_branches b = {.n = roll(d, 4)};

	b.hw_index = type & PERF_SAMPLE_BRANCH_HW_INDEX ? any(d) : 0;
	b.entries = any_bytes(d, b.n * 24);
	b.counters = type & PERF_SAMPLE_BRANCH_COUNTERS ? any_bytes(d, b.n * 8) : NULL;
	return b;
}

static struct sample_stack any_stack(struct dice *d)
{
	struct sample_stack s = {{NULL, 8 * roll(d, 6)}, 0};

	s.bytes.at = any_bytes(d, s.bytes.n);
	s.dyn_size = s.bytes.n ? roll(d, s.bytes.n + 1) : 0;
	return s;
}

static struct sample any_sample(struct dice *d, const struct event_attr *a)
{
	u64 type = a->sample_type;
	struct sample s = {0};

	s.id = type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? any(d) : 0;
	s.ip = type & PERF_SAMPLE_IP ? any(d) : 0;
	s.pid = type & PERF_SAMPLE_TID ? any(d) : 0;
	s.tid = type & PERF_SAMPLE_TID ? any(d) : 0;
	s.time = type & PERF_SAMPLE_TIME ? any(d) : 0;
	s.addr = type & PERF_SAMPLE_ADDR ? any(d) : 0;
	s.stream_id = type & PERF_SAMPLE_STREAM_ID ? any(d) : 0;
	s.cpu = type & PERF_SAMPLE_CPU ? any(d) : 0;
	s.cpu_reserved = type & PERF_SAMPLE_CPU ? any(d) : 0;
	s.period = type & PERF_SAMPLE_PERIOD ? any(d) : 0;
	if (type & PERF_SAMPLE_READ)
		s.read = any_read(d, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		s.chain = any_words(d, roll(d, 9));
	if (type & PERF_SAMPLE_RAW) {
		s.raw.n = roll(d, 40);
		s.raw.at = any_bytes(d, s.raw.n);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		s.branches = any_branches(d, a->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		s.user_regs = any_regs(d, a->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		s.user_stack = any_stack(d);
	s.weight = type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) ? any(d) : 0;
	s.data_src = type & PERF_SAMPLE_DATA_SRC ? any(d) : 0;
	s.transaction = type & PERF_SAMPLE_TRANSACTION ? any(d) : 0;
	if (type & PERF_SAMPLE_REGS_INTR)
		s.intr_regs = any_regs(d, a->sample_regs_intr);
	s.phys_addr = type & PERF_SAMPLE_PHYS_ADDR ? any(d) : 0;
	s.cgroup = type & PERF_SAMPLE_CGROUP ? any(d) : 0;
	s.data_page_size = type & PERF_SAMPLE_DATA_PAGE_SIZE ? any(d) : 0;
	s.code_page_size = type & PERF_SAMPLE_CODE_PAGE_SIZE ? any(d) : 0;
	if (type & PERF_SAMPLE_AUX) {
		s.aux.n = 8 * roll(d, 4);
		s.aux.at = any_bytes(d, s.aux.n);
	}
	return s;
}

static struct event_attr any_attr(struct dice *d, u64 sample_type)
{
	return (struct event_attr){.sample_type = sample_type,
		.read_format = roll(d, 32),
		.branch_sample_type = roll(d, 2) * PERF_SAMPLE_BRANCH_HW_INDEX +
			roll(d, 2) * PERF_SAMPLE_BRANCH_COUNTERS,
		.sample_regs_user = any(d),
		.sample_regs_intr = recording_random(&d->state) & recording_random(&d->state)};
}

/* ---- comparing ---- */

static bool same_bytes(const u8 *a, u64 n_a, const u8 *b, u64 n_b)
{
	return n_a == n_b && (!n_a || !memcmp(a, b, n_a));
}

static void check_equal(const struct sample *a, const struct sample *b)
{
	CHECK(a->id == b->id);
	CHECK(a->ip == b->ip);
	CHECK_EQ(a->pid, b->pid);
	CHECK_EQ(a->tid, b->tid);
	CHECK(a->time == b->time);
	CHECK(a->addr == b->addr);
	CHECK(a->stream_id == b->stream_id);
	CHECK_EQ(a->cpu, b->cpu);
	CHECK_EQ(a->cpu_reserved, b->cpu_reserved);
	CHECK(a->period == b->period);
	CHECK(a->read.time_enabled == b->read.time_enabled);
	CHECK(a->read.time_running == b->read.time_running);
	CHECK_EQ(a->read.n_values, b->read.n_values);
	CHECK(same_bytes(a->read.values.at, a->read.values.n * 8, b->read.values.at,
		b->read.values.n * 8));
	CHECK(same_bytes(a->chain.at, a->chain.n * 8, b->chain.at, b->chain.n * 8));
	CHECK(same_bytes(a->raw.at, a->raw.n, b->raw.at, b->raw.n));
	CHECK_EQ(a->branches.n, b->branches.n);
	CHECK(a->branches.hw_index == b->branches.hw_index);
	CHECK(same_bytes(a->branches.entries, a->branches.n * 24, b->branches.entries,
		b->branches.n * 24));
	CHECK_EQ(a->branches.counters != NULL, b->branches.counters != NULL);
	if (a->branches.counters)
		CHECK(same_bytes(a->branches.counters, a->branches.n * 8, b->branches.counters,
			b->branches.n * 8));
	CHECK_EQ(a->user_regs.abi, b->user_regs.abi);
	CHECK(same_bytes(a->user_regs.values.at, a->user_regs.values.n * 8, b->user_regs.values.at,
		b->user_regs.values.n * 8));
	CHECK(same_bytes(a->user_stack.bytes.at, a->user_stack.bytes.n, b->user_stack.bytes.at,
		b->user_stack.bytes.n));
	CHECK_EQ(a->user_stack.dyn_size, b->user_stack.dyn_size);
	CHECK(a->weight == b->weight);
	CHECK(a->data_src == b->data_src);
	CHECK(a->transaction == b->transaction);
	CHECK_EQ(a->intr_regs.abi, b->intr_regs.abi);
	CHECK(same_bytes(a->intr_regs.values.at, a->intr_regs.values.n * 8, b->intr_regs.values.at,
		b->intr_regs.values.n * 8));
	CHECK(a->phys_addr == b->phys_addr);
	CHECK(a->cgroup == b->cgroup);
	CHECK(a->data_page_size == b->data_page_size);
	CHECK(a->code_page_size == b->code_page_size);
	CHECK(same_bytes(a->aux.at, a->aux.n, b->aux.at, b->aux.n));
}

/* The padding behind raw bytes that end a body: a record that lacks it has lost nothing. */
static size_t spare_bytes(const struct sample_format *f, const struct sample *s)
{
	u64 behind_raw = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
		PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
		PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |
		PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |
		PERF_SAMPLE_AUX;

	if (!(f->type & PERF_SAMPLE_RAW) || f->type & behind_raw)
		return 0;
	return align_up(4 + s->raw.n, 8) - 4 - s->raw.n;
}

/* Encoding and decoding undo each other; a body that was cut anywhere is refused. */
static void check_sample(const struct event_attr *a, const struct sample *s)
{
	struct sample_format f;
	struct str body = {0}, again = {0};
	struct sample decoded = {0};
	struct err err;
	u8 *exact;

	sample_format_init(&f, a);
	CHECK_EQ(f.unknown, 0);
	sample_encode(&f, s, &body);
	CHECK_EQ(body.n % 8, 0);
	exact = recording_exact(body.at, body.n);
	if (sample_decode(&f, exact, body.n, f.type, &decoded, &err))
		test_failed(__FILE__, __LINE__, "sample_type 0x%llx: %s",
			(unsigned long long)f.type, err.msg);
	check_equal(s, &decoded);
	sample_encode(&f, &decoded, &again);
	CHECK(same_bytes((u8 *)body.at, body.n, (u8 *)again.at, again.n));
	for (size_t n = 0; n < body.n; n++) {
		u8 *cut = recording_exact(body.at, n);
		struct sample ignored = {0};
		int r = sample_decode(&f, cut, n, f.type, &ignored, &err);

		if (n < body.n - spare_bytes(&f, s) && r != ERR_FORMAT)
			test_failed(__FILE__, __LINE__,
				"sample_type 0x%llx: %zu of %zu bytes decode",
				(unsigned long long)f.type, n, body.n);
		free(cut);
	}
	free(exact);
	str_fini(&body);
	str_fini(&again);
}

TEST(sample_fields_alone_survive_the_way_there_and_back)
{
	struct dice d = {1};

	for (unsigned bit = 0; bit < N_BITS; bit++) {
		for (unsigned i = 0; i < 40; i++) {
			struct event_attr a = any_attr(&d, 1ULL << bit);
			struct sample s = any_sample(&d, &a);

			check_sample(&a, &s);
		}
	}
	arena_fini(&d.arena);
}

TEST(sample_fields_in_any_combination_survive_the_way_there_and_back)
{
	struct dice d = {2};

	for (unsigned i = 0; i < 600; i++) {
		struct event_attr a = any_attr(&d, recording_random(&d.state) % (1ULL << N_BITS));
		struct sample s = any_sample(&d, &a);

		check_sample(&a, &s);
	}
	for (unsigned i = 0; i < 50; i++) {
		struct event_attr a = any_attr(&d, (1ULL << N_BITS) - 1);
		struct sample s = any_sample(&d, &a);

		check_sample(&a, &s);
	}
	arena_fini(&d.arena);
}

TEST(sample_read_survives_in_all_its_formats)
{
	struct dice d = {3};

	for (u64 format = 0; format < 32; format++) {
		for (unsigned i = 0; i < 20; i++) {
			struct event_attr a = {.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CGROUP,
				.read_format = format};
			struct sample s = any_sample(&d, &a);

			check_sample(&a, &s);
		}
	}
	arena_fini(&d.arena);
}

/* ---- bytes written down by hand ---- */

static void put(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

static void decode(const struct event_attr *a, const struct str *body, struct sample *ret_sample)
{
	struct sample_format f;
	struct err err;

	memset(ret_sample, 0, sizeof(*ret_sample));
	sample_format_init(&f, a);
	if (sample_decode(&f, (const u8 *)body->at, body->n, f.type, ret_sample, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

/* Source: Linux kernel/events/core.c, perf_output_sample(), read from top to bottom. */
TEST(sample_fields_stand_in_the_kernels_order)
{
	struct event_attr a = {.sample_type = (1ULL << N_BITS) - 1,
		.read_format = PERF_FORMAT_ID,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 1ULL << 7 | 1ULL << 8,
		.sample_regs_intr = 1ULL << 63};
	struct str body = {0};
	struct sample s;

	put(&body, 101);                /* IDENTIFIER */
	put(&body, 102);                /* IP */
	put(&body, 104ULL << 32 | 103); /* pid, tid */
	put(&body, 105);                /* TIME */
	put(&body, 106);                /* ADDR */
	put(&body, 101);                /* ID */
	put(&body, 107);                /* STREAM_ID */
	put(&body, 109ULL << 32 | 108); /* cpu, res */
	put(&body, 110);                /* PERIOD */
	put(&body, 111);                /* READ: value */
	put(&body, 112);                /* its id */
	put(&body, 2);                  /* CALLCHAIN: n */
	put(&body, 113);
	put(&body, 114);
	put(&body, 0x7372717000000004ULL); /* RAW: u32 n, 4 bytes */
	put(&body, 1);                     /* BRANCH_STACK: n */
	put(&body, 115);                   /* hw index */
	put(&body, 116);                   /* from */
	put(&body, 117);                   /* to */
	put(&body, 118);                   /* flags */
	put(&body, 2);                     /* REGS_USER: abi */
	put(&body, 119);
	put(&body, 120);
	put(&body, 8); /* STACK_USER: size */
	put(&body, 121);
	put(&body, 5);   /* dyn_size */
	put(&body, 122); /* WEIGHT */
	put(&body, 123); /* DATA_SRC */
	put(&body, 124); /* TRANSACTION */
	put(&body, 1);   /* REGS_INTR: abi */
	put(&body, 125);
	put(&body, 126); /* PHYS_ADDR */
	put(&body, 127); /* CGROUP */
	put(&body, 128); /* DATA_PAGE_SIZE */
	put(&body, 129); /* CODE_PAGE_SIZE */
	put(&body, 8);   /* AUX: size */
	put(&body, 130);
	decode(&a, &body, &s);
	CHECK_EQ(s.id, 101);
	CHECK_EQ(s.ip, 102);
	CHECK_EQ(s.pid, 103);
	CHECK_EQ(s.tid, 104);
	CHECK_EQ(s.time, 105);
	CHECK_EQ(s.addr, 106);
	CHECK_EQ(s.stream_id, 107);
	CHECK_EQ(s.cpu, 108);
	CHECK_EQ(s.cpu_reserved, 109);
	CHECK_EQ(s.period, 110);
	CHECK_EQ(s.read.n_values, 1);
	CHECK_EQ(s.read.values.n, 2);
	CHECK_EQ(load_u64(s.read.values.at), 111);
	CHECK_EQ(load_u64(s.read.values.at + 8), 112);
	CHECK_EQ(s.chain.n, 2);
	CHECK_EQ(load_u64(s.chain.at), 113);
	CHECK_EQ(load_u64(s.chain.at + 8), 114);
	CHECK_EQ(s.raw.n, 4);
	CHECK(!memcmp(s.raw.at, "pqrs", 4));
	CHECK_EQ(s.branches.n, 1);
	CHECK_EQ(s.branches.hw_index, 115);
	CHECK_EQ(load_u64(s.branches.entries), 116);
	CHECK_EQ(load_u64(s.branches.entries + 8), 117);
	CHECK_EQ(load_u64(s.branches.entries + 16), 118);
	CHECK(!s.branches.counters);
	CHECK_EQ(s.user_regs.abi, 2);
	CHECK_EQ(s.user_regs.values.n, 2);
	CHECK_EQ(load_u64(s.user_regs.values.at), 119);
	CHECK_EQ(load_u64(s.user_regs.values.at + 8), 120);
	CHECK_EQ(s.user_stack.bytes.n, 8);
	CHECK_EQ(load_u64(s.user_stack.bytes.at), 121);
	CHECK_EQ(s.user_stack.dyn_size, 5);
	CHECK_EQ(s.weight, 122);
	CHECK_EQ(s.data_src, 123);
	CHECK_EQ(s.transaction, 124);
	CHECK_EQ(s.intr_regs.abi, 1);
	CHECK_EQ(s.intr_regs.values.n, 1);
	CHECK_EQ(load_u64(s.intr_regs.values.at), 125);
	CHECK_EQ(s.phys_addr, 126);
	CHECK_EQ(s.cgroup, 127);
	CHECK_EQ(s.data_page_size, 128);
	CHECK_EQ(s.code_page_size, 129);
	CHECK_EQ(s.aux.n, 8);
	CHECK_EQ(load_u64(s.aux.at), 130);
	str_fini(&body);
}

TEST(sample_read_of_one_counter_is_value_times_id_lost)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			PERF_FORMAT_ID | PERF_FORMAT_LOST};
	struct str body = {0};
	struct sample s;

	for (u64 v = 10; v < 15; v++)
		put(&body, v);
	decode(&a, &body, &s);
	CHECK_EQ(s.read.n_values, 1);
	CHECK_EQ(s.read.time_enabled, 11);
	CHECK_EQ(s.read.time_running, 12);
	CHECK_EQ(s.read.values.n, 5);
	CHECK_EQ(load_u64(s.read.values.at), 10);
	CHECK_EQ(load_u64(s.read.values.at + 24), 13);
	CHECK_EQ(load_u64(s.read.values.at + 32), 14);
	str_fini(&body);
}

TEST(sample_read_of_a_group_is_n_times_and_then_values)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_READ, .read_format = 31};
	struct str body = {0};
	struct sample s;

	put(&body, 2);
	for (u64 v = 10; v < 18; v++)
		put(&body, v);
	decode(&a, &body, &s);
	CHECK_EQ(s.read.n_values, 2);
	CHECK_EQ(s.read.time_enabled, 10);
	CHECK_EQ(s.read.time_running, 11);
	CHECK_EQ(s.read.values.n, 6);
	for (u64 i = 0; i < 6; i++)
		CHECK_EQ(load_u64(s.read.values.at + 8 * i), 12 + i);
	str_fini(&body);
}

TEST(sample_group_read_without_members_is_empty)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_READ, .read_format = PERF_FORMAT_GROUP};
	struct str body = {0};
	struct sample s;

	put(&body, 0);
	decode(&a, &body, &s);
	CHECK_EQ(s.read.n_values, 0);
	CHECK_EQ(s.read.values.n, 0);
	str_fini(&body);
}

TEST(sample_regs_of_abi_0_are_only_the_abi)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR,
		.sample_regs_user = UINT64_MAX,
		.sample_regs_intr = 0xff};
	struct str body = {0};
	struct sample s;

	put(&body, 0);
	put(&body, 0);
	decode(&a, &body, &s);
	CHECK_EQ(s.user_regs.abi, 0);
	CHECK_EQ(s.user_regs.values.n, 0);
	CHECK_EQ(s.intr_regs.values.n, 0);
	str_fini(&body);
}

TEST(sample_regs_of_a_sample_do_not_stay_for_the_next)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 1};
	struct str with = {0}, without = {0};
	struct sample_format f;
	struct sample s = {0};
	struct err err;

	put(&with, 2);
	put(&with, 7);
	put(&with, 8);
	put(&with, 0x1234);
	put(&with, 8);
	put(&without, 0);
	put(&without, 0);
	sample_format_init(&f, &a);
	CHECK_EQ(sample_decode(&f, (u8 *)with.at, with.n, f.type, &s, &err), 0);
	CHECK_EQ(s.user_regs.values.n, 1);
	CHECK_EQ(s.user_stack.bytes.n, 8);
	CHECK_EQ(s.user_stack.dyn_size, 8);
	CHECK_EQ(sample_decode(&f, (u8 *)without.at, without.n, f.type, &s, &err), 0);
	CHECK_EQ(s.user_regs.values.n, 0);
	CHECK_EQ(s.user_stack.bytes.n, 0);
	CHECK_EQ(s.user_stack.dyn_size, 0);
	str_fini(&with);
	str_fini(&without);
}

TEST(sample_stack_of_size_0_has_no_dyn_size)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP};
	struct str body = {0};
	struct sample s;

	put(&body, 0);
	put(&body, 77);
	decode(&a, &body, &s);
	CHECK_EQ(s.user_stack.bytes.n, 0);
	CHECK_EQ(s.user_stack.dyn_size, 0);
	CHECK_EQ(s.cgroup, 77);
	str_fini(&body);
}

TEST(sample_stack_has_no_more_real_bytes_than_bytes)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_STACK_USER};
	struct str body = {0};
	struct sample s;

	put(&body, 8);
	put(&body, 1);
	put(&body, UINT64_MAX);
	decode(&a, &body, &s);
	CHECK_EQ(s.user_stack.dyn_size, 8);
	str_fini(&body);
}

TEST(sample_weight_and_weight_struct_share_one_word)
{
	static const u64 types[] = {PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT,
		PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct event_attr a = {.sample_type = types[i] | PERF_SAMPLE_DATA_SRC};
		struct str body = {0};
		struct sample s;

		put(&body, 0x0003000200000001ULL);
		put(&body, 9);
		decode(&a, &body, &s);
		CHECK_EQ(s.weight, 0x0003000200000001ULL);
		CHECK_EQ(s.data_src, 9);
		str_fini(&body);
	}
}

TEST(sample_branch_counters_stand_behind_the_entries)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_COUNTERS};
	struct str body = {0};
	struct sample s;

	put(&body, 2);
	put(&body, UINT64_MAX);
	for (u64 v = 1; v <= 8; v++)
		put(&body, v);
	put(&body, 99);
	decode(&a, &body, &s);
	CHECK_EQ(s.branches.n, 2);
	CHECK(s.branches.hw_index == UINT64_MAX);
	CHECK_EQ(load_u64(s.branches.entries + 24), 4);
	CHECK_EQ(load_u64(s.branches.counters), 7);
	CHECK_EQ(load_u64(s.branches.counters + 8), 8);
	CHECK_EQ(s.weight, 99);
	str_fini(&body);
}

TEST(sample_raw_bytes_are_padded_together_with_their_size)
{
	for (u32 n = 0; n <= 20; n++) {
		struct event_attr a = {.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_CGROUP};
		struct str body = {0};
		struct sample s;

		str_addn(&body, &n, 4);
		str_fill(&body, 'r', n);
		str_fill(&body, '\0', align_up(4 + n, 8) - 4 - n);
		put(&body, 55);
		decode(&a, &body, &s);
		CHECK_EQ(s.raw.n, n);
		CHECK_EQ(s.cgroup, 55);
		str_fini(&body);
	}
}

/* ---- hostile counts ---- */

static void check_refused(const struct event_attr *a, const struct str *body, const char *field)
{
	u8 *exact = recording_exact(body->at, body->n);
	struct sample s = {0};
	struct sample_format f;
	struct err err;

	sample_format_init(&f, a);
	CHECK_EQ(sample_decode(&f, exact, body->n, f.type, &s, &err), ERR_FORMAT);
	CHECK_HAS(err.msg, field);
	free(exact);
}

TEST(sample_with_a_count_that_does_not_fit_is_refused)
{
	/* Times 8, 16 and 24 these wrap around 2^64 to small numbers. */
	static const u64 counts[] = {9, 1ULL << 32, 1ULL << 60, (1ULL << 60) + 1, 1ULL << 61,
		(1ULL << 61) + 1, 1ULL << 62, 1ULL << 63, (1ULL << 63) + 1, 0x0aaaaaaaaaaaaaabULL,
		UINT64_MAX / 24 + 1, UINT64_MAX / 24 + 2, 0x5555555555555556ULL, UINT64_MAX - 7,
		UINT64_MAX};
	static const struct {
		struct event_attr attr;
		const char *field;
		size_t before; /* words in front of the count */
	} cases[] = {
		{{.sample_type = PERF_SAMPLE_CALLCHAIN}, "CALLCHAIN", 0},
		{{.sample_type = PERF_SAMPLE_BRANCH_STACK}, "BRANCH_STACK", 0},
		{{.sample_type = PERF_SAMPLE_BRANCH_STACK,
			 .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX},
			"BRANCH_STACK", 0},
		{{.sample_type = PERF_SAMPLE_BRANCH_STACK,
			 .branch_sample_type = PERF_SAMPLE_BRANCH_COUNTERS},
			"BRANCH_STACK", 0},
		{{.sample_type = PERF_SAMPLE_READ, .read_format = PERF_FORMAT_GROUP}, "READ", 0},
		{{.sample_type = PERF_SAMPLE_READ, .read_format = 31}, "READ", 0},
		{{.sample_type = PERF_SAMPLE_READ,
			 .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID},
			"READ", 0},
		{{.sample_type = PERF_SAMPLE_AUX}, "AUX", 0},
		{{.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN}, "CALLCHAIN", 1},
	};

	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
			struct str body = {0};

			str_fill(&body, 'x', cases[c].before * 8);
			put(&body, counts[i]);
			/* Eight bytes are fewer than nine, eight words fewer than nine words. */
			str_fill(&body, 'x', cases[c].attr.sample_type == PERF_SAMPLE_AUX ? 8 : 64);
			check_refused(&cases[c].attr, &body, cases[c].field);
			str_fini(&body);
		}
	}
}

TEST(sample_with_a_stack_that_does_not_fit_is_refused)
{
	static const u64 sizes[] = {57, 64, 72, 1ULL << 32, (1ULL << 32) + 8, 1ULL << 63,
		UINT64_MAX - 7, UINT64_MAX};
	struct event_attr a = {.sample_type = PERF_SAMPLE_STACK_USER};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct str body = {0};

		put(&body, sizes[i]);
		/* 56 bytes and the number of real ones would fit. */
		str_fill(&body, 'x', 64);
		check_refused(&a, &body, "STACK_USER");
		str_fini(&body);
	}
}

TEST(sample_with_raw_bytes_that_do_not_fit_is_refused)
{
	static const u32 sizes[] = {13, 16, 0x7fffffff, 0x80000000, 0xfffffff8, 0xfffffffc,
		0xffffffff};
	struct event_attr a = {.sample_type = PERF_SAMPLE_RAW};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct str body = {0};

		str_addn(&body, &sizes[i], 4);
		str_fill(&body, 'x', 12);
		check_refused(&a, &body, "RAW");
		str_fini(&body);
	}
}

TEST(sample_with_registers_that_do_not_fit_is_refused)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_REGS_USER,
		.sample_regs_user = UINT64_MAX};
	struct event_attr b = {.sample_type = PERF_SAMPLE_REGS_INTR, .sample_regs_intr = 7};
	struct str body = {0};

	put(&body, UINT64_MAX);
	str_fill(&body, 'x', 63 * 8);
	check_refused(&a, &body, "REGS_USER");
	str_cut(&body, 24);
	check_refused(&b, &body, "REGS_INTR");
	str_fini(&body);
}

/* ---- what is not asked for ---- */

TEST(sample_decode_looks_no_further_than_the_last_field_wanted)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
			PERF_SAMPLE_PERIOD | PERF_SAMPLE_STACK_USER};
	struct sample_format f;
	struct sample s = {0};
	struct str body = {0};
	struct err err;
	u8 *exact;

	put(&body, 1);
	put(&body, 2);
	put(&body, 1);
	put(&body, 3);
	sample_format_init(&f, &a);
	exact = recording_exact(body.at, body.n);
	CHECK_EQ(sample_decode(&f, exact, body.n, 0, &s, &err), 0);
	CHECK_EQ(sample_decode(&f, exact, body.n, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, &s, &err),
		0);
	CHECK_EQ(s.ip, 1);
	CHECK_EQ(s.period, 2);
	CHECK_EQ(s.chain.n, 1);
	/* What the samples do not have cannot be missing. */
	CHECK_EQ(sample_decode(&f, exact, body.n, PERF_SAMPLE_AUX | PERF_SAMPLE_TIME, &s, &err), 0);
	CHECK_EQ(sample_decode(&f, exact, body.n, PERF_SAMPLE_STACK_USER, &s, &err), ERR_FORMAT);
	CHECK_STR(err.msg, "a sample of 32 bytes ends inside its field STACK_USER");
	/* Even with fewer bytes than the fields of fixed size need, those that are there are read.
	 */
	free(exact);
	exact = recording_exact(body.at, 8);
	s = (struct sample){0};
	CHECK_EQ(sample_decode(&f, exact, 8, PERF_SAMPLE_IP, &s, &err), 0);
	CHECK_EQ(s.ip, 1);
	CHECK_EQ(sample_decode(&f, exact, 8, PERF_SAMPLE_PERIOD, &s, &err), ERR_FORMAT);
	CHECK_EQ(sample_decode(&f, exact, 0, 0, &s, &err), 0);
	free(exact);
	str_fini(&body);
}

TEST(sample_decode_leaves_members_without_a_field_alone)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_IP};
	struct sample s = {.cpu = (u32)-1, .period = 5, .chain.n = 3};
	struct sample_format f;
	struct str body = {0};
	struct err err;

	put(&body, 1);
	sample_format_init(&f, &a);
	CHECK_EQ(sample_decode(&f, (u8 *)body.at, body.n, UINT64_MAX, &s, &err), 0);
	CHECK_EQ(s.ip, 1);
	CHECK_EQ(s.cpu, (u32)-1);
	CHECK_EQ(s.period, 5);
	CHECK_EQ(s.chain.n, 3);
	str_fini(&body);
}

TEST(sample_format_names_the_bits_it_does_not_know)
{
	struct event_attr a = {
		.sample_type = PERF_SAMPLE_IP | 1ULL << 25 | 1ULL << 31 | 1ULL << 63};
	struct sample_format f;
	struct sample s = {0};
	struct str body = {0};
	struct err err;

	sample_format_init(&f, &a);
	CHECK(f.unknown == (1ULL << 25 | 1ULL << 31 | 1ULL << 63));
	/* Their fields would come behind all that is known. */
	put(&body, 1);
	put(&body, 2);
	CHECK_EQ(sample_decode(&f, (u8 *)body.at, body.n, UINT64_MAX, &s, &err), 0);
	CHECK_EQ(s.ip, 1);
	str_fini(&body);
}

TEST(sample_without_any_field_is_empty)
{
	struct event_attr a = {.sample_type = 0};
	struct sample_format f;
	struct sample s = {0};
	struct err err;
	u32 from_start, from_end;
	u8 *exact = recording_exact("", 0);

	sample_format_init(&f, &a);
	CHECK_EQ(sample_decode(&f, exact, 0, UINT64_MAX, &s, &err), 0);
	CHECK(!sample_id_place(&f, &from_start, &from_end));
	free(exact);
}

TEST(sample_text_shows_every_field)
{
	struct event_attr a = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			PERF_SAMPLE_STACK_USER | PERF_SAMPLE_READ};
	u64 chain[] = {PERF_CONTEXT_USER, 0x401000}, value = 77;
	struct sample s = {.ip = 0x401000,
		.pid = 1,
		.tid = 2,
		.time = 3000000001,
		.cpu = 5,
		.chain = {(u8 *)chain, 2},
		.raw = {(u8 *)"abcd", 4},
		.read = {.n_values = 1, .values = {(u8 *)&value, 1}},
		.user_stack = {{(u8 *)chain, 16}, 9}};
	struct sample_format f;
	struct str text = {0};

	sample_format_init(&f, &a);
	sample_add_text(&f, &s, arch_of_host(), &text);
	CHECK_STR(str_text(&text),
		"IP 0x401000\n"
		"TID 1/2\n"
		"TIME 3000000001\n"
		"CPU 5\n"
		"READ n 1 enabled 0 running 0: 4d\n"
		"CALLCHAIN n 2: fffffffffffffe00 401000\n"
		"RAW 4 bytes\n"
		"STACK_USER 16 bytes, 9 real\n");
	str_fini(&text);
}

/* ---- trailers ---- */

/* The kernel's struct perf_event_header__output_id_sample(): TID, TIME, ID, STREAM_ID, CPU,
 * IDENTIFIER. */
static void put_trailer(u64 type, const struct sample *s, struct str *out)
{
	if (type & PERF_SAMPLE_TID)
		put(out, (u64)s->tid << 32 | s->pid);
	if (type & PERF_SAMPLE_TIME)
		put(out, s->time);
	if (type & PERF_SAMPLE_ID)
		put(out, s->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(out, s->stream_id);
	if (type & PERF_SAMPLE_CPU)
		put(out, (u64)s->cpu_reserved << 32 | s->cpu);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(out, s->id);
}

static void check_trailer(struct dice *d, const struct event_attr *a)
{
	struct sample s = any_sample(d, a), decoded;
	struct str expected = {0}, encoded = {0}, whole = {0};
	struct record_header header = {PERF_RECORD_COMM, 0, 0};
	u32 from_start, from_end;
	struct sample_format f;
	struct record rec;
	u8 *exact;

	sample_format_init(&f, a);
	put_trailer(a->sample_type, &s, &expected);
	sample_encode_trailer(&f, &s, &encoded);
	CHECK_EQ(f.trailer, expected.n);
	CHECK(same_bytes((u8 *)expected.at, expected.n, (u8 *)encoded.at, encoded.n));
	str_addn(&whole, &header, sizeof(header));
	str_fill(&whole, 'b', 8 * roll(d, 3));
	str_addn(&whole, encoded.at, encoded.n);
	exact = recording_exact(whole.at, whole.n);
	rec = (struct record){.type = PERF_RECORD_COMM, .size = whole.n, .at = exact};
	CHECK(sample_decode_trailer(&f, &rec, &decoded));
	CHECK_EQ(decoded.pid, a->sample_type & PERF_SAMPLE_TID ? s.pid : 0);
	CHECK_EQ(decoded.tid, a->sample_type & PERF_SAMPLE_TID ? s.tid : 0);
	CHECK(decoded.time == (a->sample_type & PERF_SAMPLE_TIME ? s.time : 0));
	CHECK(decoded.id ==
		(a->sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? s.id : 0));
	CHECK(decoded.stream_id == (a->sample_type & PERF_SAMPLE_STREAM_ID ? s.stream_id : 0));
	CHECK_EQ(decoded.cpu, a->sample_type & PERF_SAMPLE_CPU ? s.cpu : 0);
	CHECK_EQ(decoded.ip, 0);
	CHECK_EQ(sample_id_place(&f, &from_start, &from_end),
		(a->sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)) != 0);
	if (a->sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		CHECK(load_u64(exact + whole.n - from_end) == s.id);
	/* A record too small for the trailer has none. */
	for (int size = RECORD_HEADER_SIZE; size < RECORD_HEADER_SIZE + f.trailer; size++) {
		rec.size = size;
		CHECK(!sample_decode_trailer(&f, &rec, &decoded));
	}
	free(exact);
	str_fini(&expected);
	str_fini(&encoded);
	str_fini(&whole);
}

TEST(sample_trailers_of_all_subsets_are_as_the_kernel_writes_them)
{
	struct dice d = {4};

	for (unsigned subset = 0; subset < 64; subset++) {
		for (unsigned i = 0; i < 20; i++) {
			/* What else the samples have leaves no trace in trailers. */
			u64 others = recording_random(&d.state) & ((1ULL << N_BITS) - 1);
			struct event_attr a;

			for (size_t k = 0; k < ARRAY_SIZE(trailer_bits); k++) {
				others &= ~trailer_bits[k];
				others |= subset >> k & 1 ? trailer_bits[k] : 0;
			}
			a = any_attr(&d, others);
			a.flags = ATTR_SAMPLE_ID_ALL | ATTR_DISABLED;
			check_trailer(&d, &a);
		}
	}
	arena_fini(&d.arena);
}

TEST(sample_trailers_are_empty_without_sample_id_all)
{
	struct event_attr a = {.sample_type = (1ULL << N_BITS) - 1, .flags = ~ATTR_SAMPLE_ID_ALL};
	struct record_header header = {PERF_RECORD_COMM, 0, sizeof(header)};
	struct record rec = recording_view(&header, sizeof(header));
	struct sample s = {.id = 5, .pid = 6};
	struct sample_format f;
	struct str out = {0};

	sample_format_init(&f, &a);
	CHECK_EQ(f.trailer, 0);
	sample_encode_trailer(&f, &s, &out);
	CHECK_EQ(out.n, 0);
	CHECK(sample_decode_trailer(&f, &rec, &s));
	CHECK_EQ(s.id, 0);
	CHECK_EQ(s.pid, 0);
	str_fini(&out);
}

TEST(sample_id_place_is_where_encode_puts_the_id)
{
	struct dice d = {5};

	for (unsigned i = 0; i < 3000; i++) {
		struct event_attr a =
			any_attr(&d, recording_random(&d.state) & ((1ULL << N_BITS) - 1));
		struct sample s;
		struct sample_format f;
		struct str body = {0}, trailer = {0};
		u32 from_start = 0, from_end = 0;

		a.flags = ATTR_SAMPLE_ID_ALL;
		s = any_sample(&d, &a);
		/* A value that nothing else has. */
		s.id = 0x1d1d1d1d1d1d1d1dULL;
		sample_format_init(&f, &a);
		sample_encode(&f, &s, &body);
		sample_encode_trailer(&f, &s, &trailer);
		if (sample_id_place(&f, &from_start, &from_end)) {
			CHECK(from_start + 8 <= body.n);
			CHECK(load_u64(body.at + from_start) == s.id);
			CHECK(from_end >= 8 && from_end <= trailer.n);
			CHECK(load_u64(trailer.at + trailer.n - from_end) == s.id);
		} else {
			CHECK(!(a.sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)));
		}
		str_fini(&body);
		str_fini(&trailer);
	}
	arena_fini(&d.arena);
}
