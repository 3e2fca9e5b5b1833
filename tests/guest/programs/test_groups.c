/*
 * Groups, inheritance, reads in user space and overflows of libpace, where the truth is known: see
 * test_counting.c for the machine.
 */
#include "pace.h"
#include "test.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spin.h"

#define INSTRUCTIONS_4 "instructions,instructions,instructions,instructions"

static struct pace_error err;

static struct pace_counter *open_as(const char *event, struct pace_options options)
{
	struct pace_counter *c = pace_counter_open_with(event, 0, -1, &options, &err);

	if (!c)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return c;
}

static struct pace_group *group_as(const char *events, struct pace_options options)
{
	struct pace_group *g = pace_group_open(events, 0, -1, &options, &err);

	if (!g)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return g;
}

static struct pace_value value_of(struct pace_counter *c)
{
	struct pace_value v;

	if (pace_counter_read(c, &v, &err))
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return v;
}

/* What the counter grows by while so many iterations run. */
static uint64_t growth(struct pace_counter *c, unsigned long iterations)
{
	uint64_t before = value_of(c).value;

	spin(iterations);
	return value_of(c).value - before;
}

static void spin_in_group(struct pace_group *g, unsigned long iterations)
{
	CHECK_EQ(pace_group_enable(g, &err), 0);
	spin(iterations);
	CHECK_EQ(pace_group_disable(g, &err), 0);
}

/* ---- groups ---- */

TEST(groups_count_over_the_very_same_instructions)
{
	struct pace_group *g =
		group_as("{cycles,instructions,instructions}:u", (struct pace_options){0});
	struct pace_value few[3], many[3];

	spin_in_group(g, 1000);
	CHECK_EQ(pace_group_read(g, few, 3, &err), 3);
	CHECK_EQ(pace_group_reset(g, &err), 0);
	spin_in_group(g, 101000);
	CHECK_EQ(pace_group_read(g, many, 3, &err), 3);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(many[i].counted, PACE_COUNTED);
		CHECK_EQ(many[i].time_enabled, many[0].time_enabled);
		CHECK_EQ(many[i].time_running, many[0].time_enabled);
		CHECK(many[i].scaled == (double)many[i].value);
	}
	CHECK_EQ(many[1].value - few[1].value, 200000);
	CHECK_EQ(many[2].value, many[1].value);
	CHECK(many[0].value >= many[1].value && many[0].value < many[1].value + 2000);
	pace_group_close(g);
}

TEST(groups_of_six_and_cycles_fill_the_pmu_and_one_more_is_refused)
{
	struct pace_group *g = group_as("{cycles," INSTRUCTIONS_4 ",instructions,instructions}:u",
		(struct pace_options){0});
	struct pace_value v[7];

	spin_in_group(g, 1000000);
	CHECK_EQ(pace_group_read(g, v, 7, &err), 7);
	for (int i = 0; i < 7; i++) {
		CHECK_EQ(v[i].counted, PACE_COUNTED);
		CHECK(v[i].value >= 2000000 && v[i].value < 2001000);
	}
	pace_group_close(g);
	CHECK(!pace_group_open("{" INSTRUCTIONS_4 "," INSTRUCTIONS_4 "}:u", 0, -1, NULL, &err));
	CHECK_EQ(err.code, PACE_ERROR_UNSUPPORTED);
	CHECK_HAS(err.message, "opening 'instructions");
}

/* The kernel's check leaves out a leader that is switched off: seven pass, and never run. */
TEST(groups_that_the_kernel_took_by_mistake_have_no_value)
{
	struct pace_group *g =
		group_as("{" INSTRUCTIONS_4 ",instructions,instructions,instructions}:u",
			(struct pace_options){0});
	struct pace_value v[7];

	spin_in_group(g, 1000000);
	CHECK_EQ(pace_group_read(g, v, 7, &err), 7);
	for (int i = 0; i < 7; i++) {
		CHECK_EQ(v[i].counted, PACE_NOT_COUNTED);
		CHECK(isnan(v[i].scaled));
	}
	pace_group_close(g);
}

TEST(groups_that_do_not_fit_together_take_turns_as_a_whole)
{
	enum { N = 3, ITERATIONS = 40000000 };
	struct pace_group *g[N];
	double turns = 0;

	for (int i = 0; i < N; i++)
		g[i] = group_as("{" INSTRUCTIONS_4 "}:u", (struct pace_options){0});
	for (int i = 0; i < N; i++)
		CHECK_EQ(pace_group_enable(g[i], &err), 0);
	spin(ITERATIONS);
	for (int i = 0; i < N; i++)
		CHECK_EQ(pace_group_disable(g[i], &err), 0);
	for (int i = 0; i < N; i++) {
		struct pace_value v[4];

		CHECK_EQ(pace_group_read(g[i], v, 4, &err), 4);
		CHECK_EQ(v[0].counted, PACE_ESTIMATED);
		/* 80 ms in turns of 4 ms: one of the three at any time. */
		CHECK(v[0].scaled > 2 * ITERATIONS * 0.97 && v[0].scaled < 2 * ITERATIONS * 1.03);
		for (int k = 1; k < 4; k++) {
			CHECK_EQ(v[k].value, v[0].value);
			CHECK_EQ(v[k].time_running, v[0].time_running);
		}
		turns += (double)v[0].time_running / v[0].time_enabled;
		pace_group_close(g[i]);
	}
	CHECK(turns > 0.9 && turns < 1.05);
}

TEST(groups_that_are_pinned_are_there_all_the_time_or_an_error)
{
	struct pace_options pinned = {.flags = PACE_PINNED};
	struct pace_group *first = group_as("{" INSTRUCTIONS_4 "}:u", pinned);
	struct pace_group *second = group_as("{" INSTRUCTIONS_4 "}:u", pinned);
	struct pace_value v[4];

	CHECK_EQ(pace_group_enable(first, &err), 0);
	CHECK_EQ(pace_group_enable(second, &err), 0);
	spin(10000000);
	CHECK_EQ(pace_group_read(first, v, 4, &err), 4);
	CHECK_EQ(v[3].counted, PACE_COUNTED);
	CHECK(v[3].value >= 20000000);
	CHECK_EQ(pace_group_read(second, v, 4, &err), PACE_ERROR_LIMIT);
	CHECK_HAS(err.message, "pinned");
	pace_group_close(second);
	pace_group_close(first);
}

TEST(groups_that_are_exclusive_share_with_nobody)
{
	struct pace_options exclusive = {.flags = PACE_EXCLUSIVE};
	struct pace_counter *alone = open_as("instructions:u", exclusive);
	struct pace_counter *other = open_as("instructions:u", (struct pace_options){0});
	struct pace_value a, o;

	CHECK_EQ(pace_counter_enable(alone, &err), 0);
	CHECK_EQ(pace_counter_enable(other, &err), 0);
	spin(20000000);
	CHECK_EQ(pace_counters_disable_all(&err), 0);
	a = value_of(alone);
	o = value_of(other);
	CHECK(a.time_running > 0 && o.time_running > 0);
	CHECK(a.time_running + o.time_running < a.time_enabled * 1.05);
	pace_counter_close(alone);
	pace_counter_close(other);
}

TEST(counters_that_were_never_on_have_no_value)
{
	struct pace_counter *c = open_as("instructions:u", (struct pace_options){0});
	struct pace_value v = value_of(c);

	CHECK_EQ(v.counted, PACE_NOT_COUNTED);
	CHECK(isnan(v.scaled));
	pace_counter_close(c);
}

/* ---- inheritance ---- */

static void *spin_thread(void *iterations)
{
	spin(*(unsigned long *)iterations);
	return NULL;
}

static uint64_t family_counts(unsigned flags)
{
	struct pace_counter *c = open_as("instructions:u", (struct pace_options){.flags = flags});
	unsigned long iterations = 1000000;
	pthread_t thread;
	uint64_t value;

	CHECK_EQ(pace_counter_enable(c, &err), 0);
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			spin(iterations);
			_exit(0);
		}
	}
	CHECK_EQ(pthread_create(&thread, NULL, spin_thread, &iterations), 0);
	spin(iterations);
	pthread_join(thread, NULL);
	while (wait(NULL) > 0)
		;
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	value = value_of(c).value;
	pace_counter_close(c);
	return value;
}

TEST(inherited_counters_sum_up_children_and_threads)
{
	uint64_t alone = family_counts(0), all = family_counts(PACE_INHERIT);

	CHECK(alone >= 2000000 && alone < 2100000);
	CHECK(all >= 10000000 && all < 10200000);
}

TEST(enable_on_exec_counts_the_program_and_not_the_way_there)
{
	struct pace_options options = {.flags = PACE_ENABLE_ON_EXEC | PACE_INHERIT};
	struct pace_counter *c;
	struct pace_value v;
	pid_t child;
	int go[2];
	char byte;

	CHECK_EQ(pipe2(go, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) == 1) {
			spin(5000000);
			execl("/bin/loop", "loop", "1000000", (char *)NULL);
		}
		_exit(1);
	}
	c = pace_counter_open_with("instructions:u", child, -1, &options, &err);
	CHECK(c);
	CHECK_EQ(write(go[1], "g", 1), 1);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	v = value_of(c);
	CHECK(v.value >= 2000000 && v.value < 2200000);
	CHECK_EQ(v.counted, PACE_COUNTED);
	pace_counter_close(c);
}

/* ---- reads in user space ---- */

static void allow_user_reads(const char *word)
{
	int fd = open("/proc/sys/kernel/perf_user_access", O_WRONLY);

	CHECK(fd >= 0 && write(fd, word, 1) == 1);
	close(fd);
}

/* Instructions that the kernel executes for a hundred reads. */
static uint64_t kernel_work(struct pace_counter *c)
{
	struct pace_counter *kernel = open_as("instructions:k", (struct pace_options){0});
	uint64_t value;

	CHECK_EQ(pace_counter_enable(kernel, &err), 0);
	for (int i = 0; i < 100; i++)
		value_of(c);
	CHECK_EQ(pace_counter_disable(kernel, &err), 0);
	value = value_of(kernel).value;
	pace_counter_close(kernel);
	return value;
}

TEST(user_reads_are_exact_and_cost_no_system_call)
{
	static const char *const names[] = {"instructions:u", "cycles:u"};

	allow_user_reads("1");
	for (int i = 0; i < 2; i++) {
		struct pace_counter *c =
			open_as(names[i], (struct pace_options){.flags = PACE_USER_READ});
		struct pace_counter *plain = open_as(names[i], (struct pace_options){0});
		uint64_t few, work;

		CHECK_EQ(pace_counter_enable(c, &err), 0);
		CHECK_EQ(pace_counter_is_user_read(c), 1);
		growth(c, 1000);
		few = growth(c, 1000);
		/* Reading is work in user space too, now and then a branch more of it. */
		CHECK(labs((long)(growth(c, 101000) - few) - 200000) < (i ? 2000 : 10));
		CHECK_EQ(value_of(c).counted, PACE_COUNTED);
		work = kernel_work(c);
		/* 100 system calls are some ten thousand instructions of the kernel. */
		CHECK(work * 5 < kernel_work(plain));
		pace_counter_close(plain);
		pace_counter_close(c);
	}
	allow_user_reads("0");
}

TEST(user_reads_agree_with_reads_by_system_call)
{
	struct pace_counter *c;
	uint64_t raw[8]; /* value, enabled, running, ... */

	allow_user_reads("1");
	c = open_as("instructions:u", (struct pace_options){.flags = PACE_USER_READ});
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	for (int i = 0; i < 20; i++) {
		struct pace_value before = value_of(c), after;

		spin(50000);
		CHECK(read(pace_counter_fd(c), raw, sizeof(raw)) > 0);
		after = value_of(c);
		CHECK(before.value + 100000 <= raw[0] && raw[0] <= after.value);
		CHECK(after.value - raw[0] < 1000);
		CHECK(before.time_enabled < raw[1] && raw[1] <= after.time_enabled);
	}
	pace_counter_close(c);
	allow_user_reads("0");
}

TEST(user_reads_of_counters_that_take_turns_fall_back_and_stay_true)
{
	enum { N = 8 };
	struct pace_counter *c[N];
	int n_estimated = 0;

	allow_user_reads("1");
	for (int i = 0; i < N; i++)
		c[i] = open_as("instructions:u", (struct pace_options){.flags = PACE_USER_READ});
	for (int i = 0; i < N; i++)
		CHECK_EQ(pace_counter_enable(c[i], &err), 0);
	spin(30000000);
	for (int i = 0; i < N; i++) {
		struct pace_value v = value_of(c[i]);

		CHECK(v.scaled > 60000000 * 0.95 && v.scaled < 60000000 * 1.05);
		n_estimated += v.counted == PACE_ESTIMATED;
		pace_counter_close(c[i]);
	}
	CHECK(n_estimated >= 2);
	allow_user_reads("0");
}

TEST(user_reads_that_the_kernel_forbids_are_system_calls)
{
	struct pace_counter *c;
	uint64_t few;

	allow_user_reads("0");
	c = pace_counter_open_with("instructions:u", 0, -1,
		&(struct pace_options){.flags = PACE_USER_READ}, &err);
	if (!c)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	CHECK_EQ(pace_counter_is_user_read(c), 0);
	growth(c, 1000);
	few = growth(c, 1000);
	CHECK_EQ(growth(c, 2000) - few, 2000);
	pace_counter_close(c);
}

TEST(user_reads_are_not_for_the_child_that_inherited_the_memory)
{
	struct pace_counter *c;
	int status;

	allow_user_reads("1");
	c = open_as("instructions:u", (struct pace_options){.flags = PACE_USER_READ});
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	spin(1000000);
	if (fork() == 0) {
		/* The parent's count by read(2): the child's registers say nothing of it. */
		spin(5000000);
		_exit(!(value_of(c).value >= 2000000 && value_of(c).value < 2200000));
	}
	CHECK(wait(&status) > 0);
	CHECK_EQ(status, 0);
	pace_counter_close(c);
	allow_user_reads("0");
}

/* ---- overflows ---- */

struct seen {
	uint64_t n_samples, n_in_spin, period, last_time;
};

static int see(void *context, const struct pace_sample *s)
{
	struct seen *seen = context;

	seen->n_samples++;
	seen->n_in_spin += s->ip >= (uintptr_t)spin && s->ip < (uintptr_t)spin + 28;
	seen->period += s->period;
	CHECK(s->time > seen->last_time);
	seen->last_time = s->time;
	return 0;
}

TEST(overflows_are_samples_every_one_of_them)
{
	struct pace_options options = {.period = 10000,
		.sample = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD};
	struct pace_counter *c = open_as("cycles:u", options);
	struct pace_ring *ring = pace_ring_open(c, 16, &err);
	struct seen seen = {0};
	struct pace_slots slots = {.context = &seen, .sample = see};

	CHECK(ring);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	spin(1000000);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK_EQ(pace_ring_read(ring, &slots, &err), 0);
	CHECK_EQ(seen.n_samples, 200);
	CHECK_EQ(seen.period, 2000000);
	CHECK(seen.n_in_spin >= 199);
	CHECK_EQ(value_of(c).lost, 0);
	pace_ring_close(ring);
	pace_counter_close(c);
}

TEST(overflows_that_find_no_room_are_counted)
{
	struct pace_options options = {.period = 10000,
		.sample = PERF_SAMPLE_IP | PERF_SAMPLE_TIME};
	struct pace_counter *c = open_as("cycles:u", options);
	struct pace_ring *ring = pace_ring_open(c, 1, &err);
	struct seen seen = {0};
	struct pace_slots slots = {.context = &seen, .sample = see};

	CHECK(ring);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	spin(2000000);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK_EQ(pace_ring_read(ring, &slots, &err), 0);
	/* A page holds 170 of 24 bytes. */
	CHECK(seen.n_samples >= 160 && seen.n_samples <= 170);
	CHECK_EQ(seen.n_samples + value_of(c).lost, 400);
	pace_ring_close(ring);
	pace_counter_close(c);
}

static volatile sig_atomic_t n_signals, signal_fd;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	n_signals++;
	signal_fd = info->si_fd;
}

TEST(overflows_are_signals_until_as_many_came_as_were_asked_for)
{
	struct pace_options options = {.period = 100000};
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	struct pace_counter *c = open_as("cycles:u", options);
	struct pollfd p = {.fd = pace_counter_fd(c), .events = POLLIN};
	uint64_t at_end;

	sigaction(SIGRTMIN, &action, NULL);
	CHECK_EQ(pace_counter_notify(c, SIGRTMIN, &err), 0);
	CHECK_EQ(pace_counter_refresh(c, 5, &err), 0);
	spin(2000000);
	CHECK_EQ(n_signals, 5);
	CHECK_EQ(signal_fd, pace_counter_fd(c));
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK(p.revents & POLLHUP);
	at_end = value_of(c).value;
	CHECK(at_end >= 500000 && at_end < 501000);
	spin(100000);
	CHECK_EQ(value_of(c).value, at_end);
	pace_counter_close(c);
}

TEST(a_group_is_read_between_two_moments)
{
	struct pace_group *g = group_as("{cycles,instructions}:u", (struct pace_options){0});
	struct pace_value first[2], second[2], between;

	CHECK_EQ(pace_group_enable(g, &err), 0);
	spin(100000);
	CHECK_EQ(pace_group_read(g, first, 2, &err), 2);
	spin(1000000);
	CHECK_EQ(pace_group_read(g, second, 2, &err), 2);
	CHECK_EQ(pace_value_between(&first[1], &second[1], &between, &err), 0);
	CHECK_EQ(between.counted, PACE_COUNTED);
	CHECK(between.value >= 2000000 && between.value < 2001000);
	CHECK(between.time_running >= 2000000);
	pace_group_close(g);
}
