/*
 * pace.h on kernels and processors that these tests make up: the executable defines
 * perf_event_open(2) itself. What is asked for is noted, a counter is a file whose bytes the test
 * chooses, and so is its ring: all that a PMU with branch stacks would do.
 */
#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/types.h"
#include "collect/counter/counter.h"
#include "event/abi.h"
#include "record/record.h"
#include "pace.h"
#include "test.h"

enum { CALLS_MAX = 64, PAGES_MAX = 3 };

static struct {
	struct event_attr attr;
	pid_t pid;
	int cpu, group_fd, fd;
	unsigned long flags;
} calls[CALLS_MAX];
static size_t n_calls;

/* What this kernel refuses. */
static u64 unknown_read_format;
static unsigned precise_max = 3;
static size_t n_counters; /* events of a group that fit on the PMU; 0: any number */

static struct pace_error err;

int perf_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags)
{
	size_t i = n_calls++;

	CHECK(i < CALLS_MAX);
	memset(&calls[i].attr, 0, sizeof(calls[i].attr));
	memcpy(&calls[i].attr, attr, attr->size);
	calls[i].pid = pid;
	calls[i].cpu = cpu;
	calls[i].group_fd = group_fd;
	calls[i].flags = flags;
	calls[i].fd = -1;
	errno = EOPNOTSUPP;
	if (attr_precise(attr) > precise_max)
		return -1;
	errno = EINVAL;
	if (attr->read_format & unknown_read_format ||
		(n_counters && group_fd >= 0 && n_calls > n_counters))
		return -1;
	calls[i].fd = memfd_create("counter", MFD_CLOEXEC);
	CHECK(calls[i].fd >= 0);
	CHECK_EQ(ftruncate(calls[i].fd, PAGES_MAX * sysconf(_SC_PAGESIZE)), 0);
	return calls[i].fd;
}

static void say(int fd, const u64 *words, size_t n_words)
{
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(pwrite(fd, words, n_words * 8, 0), n_words * 8);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
}

/* ---- what is asked for ---- */

enum {
	TIMES_AND_ID =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID,
};

TEST(api_asks_for_no_more_than_it_needs)
{
	struct pace_counter *c = pace_counter_open("instructions:u", 0, -1, &err);
	const struct event_attr *a = &calls[0].attr;

	CHECK(c && n_calls == 1);
	CHECK_EQ(a->type, PERF_TYPE_HARDWARE);
	CHECK_EQ(a->config, PERF_COUNT_HW_INSTRUCTIONS);
	/* The kernel of 2.6.31 knows this size. */
	CHECK_EQ(a->size, ATTR_SIZE_VER0);
	CHECK_EQ(a->read_format, TIMES_AND_ID);
	CHECK_EQ(a->flags & ATTR_DISABLED, ATTR_DISABLED);
	CHECK_EQ(a->flags & (ATTR_INHERIT | ATTR_PINNED | ATTR_EXCLUSIVE | ATTR_ENABLE_ON_EXEC), 0);
	CHECK_EQ(a->sample_period, 0);
	CHECK_EQ(a->sample_type, 0);
	CHECK(calls[0].pid == 0 && calls[0].cpu == -1 && calls[0].group_fd == -1);
	CHECK_EQ(calls[0].flags, PERF_FLAG_FD_CLOEXEC);
	pace_counter_close(c);
}

TEST(api_turns_each_flag_into_its_bit)
{
	static const struct {
		unsigned flag;
		u64 on, off;
	} rows[] = {
		{PACE_ENABLED, 0, ATTR_DISABLED},
		{PACE_ENABLE_ON_EXEC, ATTR_DISABLED | ATTR_ENABLE_ON_EXEC, 0},
		{PACE_INHERIT, ATTR_INHERIT, ATTR_INHERIT_STAT},
		{PACE_INHERIT | PACE_INHERIT_STAT, ATTR_INHERIT | ATTR_INHERIT_STAT, 0},
		{PACE_PINNED, ATTR_PINNED, ATTR_EXCLUSIVE},
		{PACE_EXCLUSIVE, ATTR_EXCLUSIVE, ATTR_PINNED},
		{PACE_SIDE_BAND,
			ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_TASK | ATTR_SAMPLE_ID_ALL,
			ATTR_WRITE_BACKWARD},
		{PACE_KEEP_LATEST, ATTR_WRITE_BACKWARD, ATTR_MMAP},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pace_options options = {.flags = rows[i].flag, .period = 1000};
		struct pace_counter *c = pace_counter_open_with("cycles:u", -1, 3, &options, &err);

		CHECK(c);
		CHECK_EQ(calls[i].attr.flags & rows[i].on, rows[i].on);
		CHECK_EQ(calls[i].attr.flags & rows[i].off, 0);
		CHECK(calls[i].pid == -1 && calls[i].cpu == 3);
		pace_counter_close(c);
	}
}

TEST(api_turns_sampling_into_the_attr)
{
	struct pace_options options = {.frequency = 4000,
		.sample = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branches = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
		.wakeup_samples = 12};
	struct pace_counter *c = pace_counter_open_with("branch-misses:u", 0, -1, &options, &err);
	const struct event_attr *a = &calls[0].attr;

	CHECK(c);
	CHECK_EQ(a->sample_period, 4000);
	CHECK(a->flags & ATTR_FREQ && a->flags & ATTR_EXCLUDE_KERNEL);
	CHECK_EQ(a->sample_type, options.sample);
	CHECK_EQ(a->branch_sample_type, options.branches);
	CHECK_EQ(a->wakeup_events, 12);
	CHECK(!(a->flags & ATTR_WATERMARK));
	CHECK_EQ(a->read_format, TIMES_AND_ID | PERF_FORMAT_LOST);
	pace_counter_close(c);

	options = (struct pace_options){.period = 1, .wakeup_bytes = 4096};
	c = pace_counter_open_with("branch-misses:u", 0, -1, &options, &err);
	CHECK(c);
	a = &calls[1].attr;
	CHECK_EQ(a->sample_period, 1);
	CHECK(!(a->flags & ATTR_FREQ));
	CHECK_EQ(a->wakeup_events, 4096);
	CHECK(a->flags & ATTR_WATERMARK);
	pace_counter_close(c);
}

TEST(api_group_members_join_their_leader)
{
	struct pace_options options = {.flags = PACE_INHERIT | PACE_PINNED | PACE_ENABLE_ON_EXEC,
		.period = 5,
		.sample = PERF_SAMPLE_IP};
	struct pace_group *g =
		pace_group_open("{cycles,instructions,branches}:u", 5, -1, &options, &err);

	CHECK(g && n_calls == 3);
	CHECK_EQ(calls[0].group_fd, -1);
	CHECK_EQ(calls[0].attr.read_format, TIMES_AND_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST);
	CHECK(calls[0].attr.flags & ATTR_DISABLED && calls[0].attr.flags & ATTR_PINNED);
	for (size_t i = 1; i < 3; i++) {
		CHECK_EQ(calls[i].group_fd, calls[0].fd);
		CHECK_EQ(calls[i].pid, 5);
		/* Switched, pinned and sampled with their leader. */
		CHECK_EQ(calls[i].attr.flags & (ATTR_DISABLED | ATTR_PINNED | ATTR_ENABLE_ON_EXEC),
			0);
		CHECK(calls[i].attr.flags & ATTR_INHERIT);
		CHECK_EQ(calls[i].attr.read_format, TIMES_AND_ID);
		CHECK_EQ(calls[i].attr.sample_period, 0);
	}
	pace_group_close(g);
}

TEST(api_group_that_is_too_large_is_told_so)
{
	n_counters = 4;
	CHECK(!pace_group_open("cycles,instructions,branches,branch-misses,cache-misses,bus-cycles",
		0, -1, NULL, &err));
	CHECK_EQ(err.code, PACE_ERROR_UNSUPPORTED);
	CHECK_STR(err.message,
		"opening 'cache-misses' in a group: the PMU has too few counters, or these events "
		"cannot be counted together (EINVAL)");
}

TEST(api_gives_up_what_old_kernels_do_not_know)
{
	struct pace_options options = {.period = 1};
	struct pace_counter *c;

	unknown_read_format = PERF_FORMAT_LOST;
	c = pace_counter_open_with("cycles:u", 0, -1, &options, &err);
	CHECK(c && n_calls == 2);
	CHECK_EQ(calls[1].attr.read_format, TIMES_AND_ID);
	pace_counter_close(c);
}

TEST(api_is_as_precise_as_the_machine)
{
	struct pace_options options = {.period = 1000};
	struct pace_counter *c;

	precise_max = 1;
	c = pace_counter_open_with("cycles:P", 0, -1, &options, &err);
	CHECK(c);
	CHECK_EQ(attr_precise(&calls[n_calls - 1].attr), 1);
	/* It was no fault of the other. */
	CHECK(calls[n_calls - 1].attr.read_format & PERF_FORMAT_LOST);
	pace_counter_close(c);
	/* Who asks for two gets two or nothing. */
	CHECK(!pace_counter_open_with("cycles:pp", 0, -1, &options, &err));
	CHECK_HAS(err.message, "opening 'cycles:pp': this PMU cannot do it");
	/* Counting has no skid. */
	c = pace_counter_open("cycles:P", 0, -1, &err);
	CHECK(c);
	CHECK_EQ(attr_precise(&calls[n_calls - 1].attr), 0);
	pace_counter_close(c);
}

/* ---- what is read ---- */

TEST(api_group_that_shared_the_hardware_is_scaled)
{
	struct pace_group *g = pace_group_open("branches:u,branch-misses:u", 0, -1, NULL, &err);
	const u64 words[] = {2, 3000, 1000, /* value, id */ 133, 11, 6, 12};
	const u64 never[] = {2, 3000, 0, 0, 11, 0, 12};
	struct pace_value v[2];

	CHECK(g);
	say(calls[0].fd, words, ARRAY_SIZE(words));
	CHECK_EQ(pace_group_read(g, v, 2, &err), 2);
	CHECK(v[0].value == 133 && v[1].value == 6);
	CHECK(v[0].id == 11 && v[1].id == 12);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(v[i].counted, PACE_ESTIMATED);
		CHECK(v[i].scaled == (double)v[i].value * 3);
	}
	say(calls[0].fd, words, ARRAY_SIZE(words));
	CHECK_EQ(pace_counter_read(pace_group_counter(g, 0), v, &err), 0);
	CHECK_EQ(v[0].value, 133);
	say(calls[0].fd, never, ARRAY_SIZE(never));
	CHECK_EQ(pace_group_read(g, v, 2, &err), 2);
	CHECK_EQ(v[1].counted, PACE_NOT_COUNTED);
	CHECK(isnan(v[1].scaled));
	pace_group_close(g);
}

static void say_times(int fd, u64 value, u64 enabled, u64 running, u64 id)
{
	const u64 words[] = {value, enabled, running, id};

	say(fd, words, ARRAY_SIZE(words));
}

static void say_presence(int fd, u64 running)
{
	const u64 words[] = {0, 99000000, running};

	say(fd, words, ARRAY_SIZE(words));
}

/* While the thread ran on another CPU the counter could not count, whoever had the hardware. */
TEST(api_counter_of_a_thread_on_one_cpu_is_scaled_by_its_time_there)
{
	struct pace_counter *c = pace_counter_open("cycles:u", 0, 1, &err);
	struct pace_value v;

	CHECK(c && n_calls == 2);
	CHECK(calls[1].attr.type == PERF_TYPE_SOFTWARE &&
		calls[1].attr.config == PERF_COUNT_SW_DUMMY);
	CHECK(calls[1].pid == 0 && calls[1].cpu == 1 && calls[1].group_fd == -1);
	CHECK(calls[1].attr.flags & ATTR_DISABLED);
	/* It ran 20 ms of 100 on that CPU, and had the counter all of them. */
	say_times(calls[0].fd, 5000, 100000000, 20000000, 11);
	say_presence(calls[1].fd, 20000300);
	CHECK_EQ(pace_counter_read(c, &v, &err), 0);
	CHECK_EQ(v.counted, PACE_COUNTED);
	CHECK(v.scaled == 5000 && v.time_enabled == 20000000 && v.time_running == 20000000);
	/* Half of them. */
	say_times(calls[0].fd, 5000, 100000000, 20000000, 11);
	say_presence(calls[1].fd, 40000000);
	CHECK_EQ(pace_counter_read(c, &v, &err), 0);
	CHECK_EQ(v.counted, PACE_ESTIMATED);
	CHECK(v.scaled == 10000 && v.time_enabled == 40000000);
	/* Never. */
	say_times(calls[0].fd, 0, 100000000, 0, 11);
	say_presence(calls[1].fd, 40000000);
	CHECK_EQ(pace_counter_read(c, &v, &err), 0);
	CHECK(v.counted == PACE_NOT_COUNTED && isnan(v.scaled));
	pace_counter_close(c);
	/* Whoever runs there, or wherever it runs: the kernel's times are right. */
	c = pace_counter_open("cycles:u", -1, 1, &err);
	CHECK(c && n_calls == 3);
	pace_counter_close(c);
	c = pace_counter_open("cycles:u", 0, -1, &err);
	CHECK(c && n_calls == 4);
	pace_counter_close(c);
}

TEST(api_group_of_a_thread_on_one_cpu_is_scaled_by_its_time_there)
{
	struct pace_group *g = pace_group_open("branches:u,branch-misses:u", 0, 1, NULL, &err);
	const u64 words[] = {2, 100000000, 10000000, /* value, id */ 133, 11, 6, 12};
	struct pace_value v[2];

	/* The leader, its presence, the member. */
	CHECK(g && n_calls == 3);
	CHECK_EQ(calls[2].group_fd, calls[0].fd);
	say(calls[0].fd, words, ARRAY_SIZE(words));
	say_presence(calls[1].fd, 30000000);
	CHECK_EQ(pace_group_read(g, v, 2, &err), 2);
	CHECK(v[0].scaled == 399 && v[1].scaled == 18);
	/* Alone, and it was off for a while: the share is that of its leader. */
	say_times(calls[2].fd, 6, 50000000, 5000000, 12);
	say(calls[0].fd, words, ARRAY_SIZE(words));
	say_presence(calls[1].fd, 30000000);
	CHECK_EQ(pace_counter_read(pace_group_counter(g, 1), &v[1], &err), 0);
	CHECK(v[1].scaled == 18 && v[1].time_enabled == 15000000);
	pace_group_close(g);
}

/* topdown.txt of Linux: PERF_FORMAT_GROUP must be applied for each metric. */
TEST(api_topdown_metrics_are_read_with_their_group)
{
	struct pace_group *g = pace_group_open("cycles:u,r8000:u,r400:u", 0, -1, NULL, &err);
	const u64 words[] = {3, 1000, 1000, /* value, id */ 700, 21, 50, 22, 9, 23};
	struct pace_value v;

	CHECK(g && n_calls == 3);
	/* Slots lead. */
	CHECK_EQ(calls[0].attr.config, 0x400);
	CHECK(calls[0].attr.read_format & PERF_FORMAT_GROUP);
	CHECK_EQ(calls[1].attr.config, PERF_COUNT_HW_CPU_CYCLES);
	CHECK(!(calls[1].attr.read_format & PERF_FORMAT_GROUP));
	CHECK_EQ(calls[2].attr.config, 0x8000);
	CHECK(calls[2].attr.read_format & PERF_FORMAT_GROUP);
	/* A metric that is read alone is told with all the others. */
	say(calls[2].fd, words, ARRAY_SIZE(words));
	CHECK_EQ(pace_counter_read(pace_group_counter(g, 2), &v, &err), 0);
	CHECK(v.counted == PACE_COUNTED && v.time_enabled == 1000);
	pace_group_close(g);
}

TEST(api_counter_whose_bytes_make_no_sense_is_an_error)
{
	struct pace_group *g = pace_group_open("branches:u,branch-misses:u", 0, -1, NULL, &err);
	const u64 three[] = {3, 1, 1, 1, 1, 1, 1, 1, 1};
	struct pace_value v[4];

	CHECK(g);
	say(calls[0].fd, three, ARRAY_SIZE(three));
	CHECK_EQ(pace_group_read(g, v, 4, &err), PACE_ERROR_FORMAT);
	CHECK_HAS(err.message, "the kernel returned 72 bytes for read_format 0xf");
	pace_group_close(g);
}

/* ---- a ring of a processor that remembers branches ---- */

struct branch_sample {
	struct record_header header;
	u64 ip, n;
	struct pace_branch branches[3];
};

static struct pace_ring *branch_ring;
static u8 *ring_memory; /* what the kernel sees */
static unsigned n_seen;

static struct ring_page *kernel_page(void)
{
	return (struct ring_page *)(void *)ring_memory;
}

static void open_branch_ring(void)
{
	struct pace_options options = {.period = 1,
		.sample = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branches = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER};
	struct pace_counter *c = pace_counter_open_with("branch-misses:u", 0, -1, &options, &err);

	CHECK(c);
	branch_ring = pace_ring_open(c, 1, &err);
	CHECK(branch_ring);
	ring_memory = mmap(NULL, 2 * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
		calls[0].fd, 0);
	CHECK(ring_memory != MAP_FAILED);
}

static void put(const void *record, size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < n; i++)
		ring_memory[page + (kernel_page()->data_head + i) % page] = ((const u8 *)record)[i];
	kernel_page()->data_head += n;
}

static int see_branches(void *context, const struct pace_sample *s)
{
	const struct branch_sample *expected = context;

	CHECK_EQ(s->ip, expected->ip + n_seen);
	CHECK_EQ(s->n_branches, 3);
	CHECK(!memcmp(s->branches, expected->branches, sizeof(expected->branches)));
	CHECK(s->branches[0].flags & PACE_BRANCH_MISPREDICTED);
	CHECK(!(s->branches[1].flags & PACE_BRANCH_MISPREDICTED));
	CHECK(s->branches[1].flags & PACE_BRANCH_PREDICTED);
	CHECK_EQ(s->fields, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK);
	n_seen++;
	return 0;
}

TEST(api_ring_hands_out_branch_stacks_wherever_they_lie)
{
	struct branch_sample sample = {.header = {PERF_RECORD_SAMPLE, 2, sizeof(sample)},
		.ip = 0x400c4c,
		.n = 3,
		.branches = {{0x400c4c, 0x400c62, PACE_BRANCH_MISPREDICTED},
			{0x400c62, 0x400c52, PACE_BRANCH_PREDICTED},
			{0x400c52, 0x400c62, PACE_BRANCH_PREDICTED | 99 << 4}}};
	struct branch_sample expected = sample;
	struct pace_slots slots = {.context = &expected, .sample = see_branches};

	CHECK_EQ(sizeof(struct pace_branch), 24);
	open_branch_ring();
	/* 96 bytes do not divide a page: they wrap at every place. */
	for (unsigned round = 0; round < 300; round++) {
		for (unsigned i = 0; i < 7; i++, sample.ip++)
			put(&sample, sizeof(sample));
		CHECK_EQ(pace_ring_read(branch_ring, &slots, &err), 0);
		CHECK_EQ(kernel_page()->data_tail, kernel_page()->data_head);
	}
	CHECK_EQ(n_seen, 2100);
}

static char said[256];

static void hear(void *context, const char *sentence)
{
	(void)context;
	snprintf(said, sizeof(said), "%s", sentence);
}

static int count(void *context, const struct pace_sample *s)
{
	(void)context;
	(void)s;
	n_seen++;
	return 0;
}

TEST(api_ring_tells_what_it_could_not_read)
{
	struct branch_sample sample = {.header = {PERF_RECORD_SAMPLE, 2, sizeof(sample)}, .n = 4};
	struct pace_slots slots = {.sample = count, .loss = hear};
	struct record_header bad = {PERF_RECORD_SAMPLE, 2, 7};
	struct {
		struct record_header header;
		u64 id, lost;
		u64 trailer[4];
	} lost = {{PERF_RECORD_LOST, 0, 24}, 1, 77, {0}};

	open_branch_ring();
	/* More branches than it has room for. */
	put(&sample, sizeof(sample));
	sample.n = 3;
	put(&sample, sizeof(sample));
	CHECK_EQ(pace_ring_read(branch_ring, &slots, &err), 0);
	CHECK_EQ(n_seen, 1);
	CHECK_HAS(said, "a sample could not be read: a sample of 88 bytes ends inside its field ");
	put(&lost, lost.header.size);
	CHECK_EQ(pace_ring_read(branch_ring, &slots, &err), 0);
	CHECK_STR(said, "77 records were lost: the ring was full");
	put(&bad, sizeof(bad));
	CHECK_EQ(pace_ring_read(branch_ring, &slots, &err), 0);
	CHECK_STR(said, "the ring was corrupt: records were skipped");
	put(&(struct record_header){PERF_RECORD_THROTTLE, 0, 32}, 8);
	put((u64[3]){1, 2, 3}, 24);
	CHECK_EQ(pace_ring_read(branch_ring, &slots, &err), 0);
	CHECK_HAS(said, "the kernel stopped sampling for a moment");
	/* And goes on. */
	put(&sample, sizeof(sample));
	CHECK_EQ(pace_ring_read(branch_ring, &slots, &err), 0);
	CHECK_EQ(n_seen, 2);
}
