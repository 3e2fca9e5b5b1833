/*
 * What libpace counts where the truth is known: in the emulated machine of machine.py. An
 * instruction takes a cycle there, and a cycle a nanosecond; six counters count instructions, and a
 * seventh cycles.
 */
#include "pace.h"
#include "test.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spin.h"

static struct pace_error err;

static struct pace_counter *open_on(const char *event, pid_t pid, int cpu)
{
	struct pace_counter *c = pace_counter_open(event, pid, cpu, &err);

	if (!c)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return c;
}

static struct pace_value value_of(struct pace_counter *c)
{
	struct pace_value v;

	if (pace_counter_read(c, &v, &err))
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return v;
}

/* What it counts while so many iterations run, with the way there and back. */
static uint64_t count_of(struct pace_counter *c, unsigned long iterations)
{
	CHECK_EQ(pace_counter_reset(c, &err), 0);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	spin(iterations);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	return value_of(c).value;
}

TEST(counting_instructions_is_exact)
{
	static const unsigned long loops[] = {1000, 4000, 100000, 1000000};
	struct pace_counter *c = open_on("instructions:u", 0, -1);
	uint64_t way = count_of(c, 1) - 2;

	/* What is left of the two calls around the loop. */
	CHECK(way > 5 && way < 100);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(count_of(c, loops[i]) - way, 2 * loops[i]);
	pace_counter_close(c);
}

TEST(counting_cycles_agrees_with_instructions_and_time)
{
	struct pace_counter *cycles = open_on("cycles:u", 0, -1);
	struct pace_counter *both = open_on("cycles", 0, -1);
	uint64_t n = count_of(cycles, 1000000) - count_of(cycles, 1);
	struct pace_value v;

	CHECK(n >= 2 * 999999 && n < 2 * 999999 * 1.01);
	/* With the kernel's, a cycle is a nanosecond. */
	count_of(both, 10000000);
	v = value_of(both);
	CHECK(v.value >= 20000000 && v.value < v.time_running * 1.01);
	CHECK_EQ(v.time_running, v.time_enabled);
	CHECK(v.value > v.time_running * 0.98);
	pace_counter_close(cycles);
	pace_counter_close(both);
}

TEST(counting_by_the_names_of_the_pmu_and_by_number_is_the_same)
{
	static const char *const names[] = {"instructions:u", "armv8_pmuv3/inst_retired/u", "r8:u",
		"armv8_pmuv3/event=0x8/u"};

	for (size_t i = 0; i < 4; i++) {
		struct pace_counter *c = open_on(names[i], 0, -1);
		uint64_t few = count_of(c, 1000);

		CHECK_EQ(count_of(c, 2000) - few, 2000);
		pace_counter_close(c);
	}
}

TEST(counting_stops_when_switched_off_and_goes_on_after)
{
	struct pace_counter *c = open_on("instructions:u", 0, -1);
	uint64_t once = count_of(c, 100000), twice;

	spin(100000);
	CHECK_EQ(value_of(c).value, once);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	spin(100000);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	twice = value_of(c).value;
	CHECK(twice > 2 * once - 200 && twice < 2 * once + 200);
	pace_counter_close(c);
}

TEST(counting_sixteen_events_on_six_counters_they_take_turns)
{
	enum { N = 16, ITERATIONS = 60000000 };
	struct pace_counter *c[N];
	double turns = 0;

	for (int i = 0; i < N; i++)
		c[i] = open_on("instructions:u", 0, -1);
	for (int i = 0; i < N; i++)
		CHECK_EQ(pace_counter_enable(c[i], &err), 0);
	spin(ITERATIONS);
	for (int i = 0; i < N; i++)
		CHECK_EQ(pace_counter_disable(c[i], &err), 0);
	for (int i = 0; i < N; i++) {
		struct pace_value v = value_of(c[i]);
		double share = (double)v.time_running / v.time_enabled;
		double scaled = v.value / share;

		/* 120 ms in turns of 4 ms. */
		CHECK(v.time_enabled >= 2 * ITERATIONS);
		CHECK(share > 0.2 && share < 0.6);
		CHECK(scaled > 2 * ITERATIONS * 0.97 && scaled < 2 * ITERATIONS * 1.03);
		turns += share;
		pace_counter_close(c[i]);
	}
	CHECK(turns > 5.5 && turns < 6.1);
}

TEST(counting_pinned_events_that_do_not_fit_are_an_error_and_not_a_number)
{
	enum { N = 7 };
	struct pace_counter *c[N];
	int lost = 0;

	for (int i = 0; i < N; i++)
		c[i] = open_on("instructions:uD", 0, -1);
	for (int i = 0; i < N; i++)
		CHECK_EQ(pace_counter_enable(c[i], &err), 0);
	spin(1000000);
	for (int i = 0; i < N; i++) {
		struct pace_value v;

		if (pace_counter_read(c[i], &v, &err) == 0) {
			CHECK(v.value >= 2000000);
			CHECK_EQ(v.time_running, v.time_enabled);
			continue;
		}
		CHECK_EQ(err.code, PACE_ERROR_LIMIT);
		CHECK_HAS(err.message, "pinned");
		lost++;
	}
	CHECK_EQ(lost, 1);
	for (int i = 0; i < N; i++)
		pace_counter_close(c[i]);
}

TEST(counting_another_process_counts_its_work_and_not_ours)
{
	struct pace_counter *c;
	pid_t child;
	int go[2];
	char byte;

	CHECK_EQ(pipe(go), 0);
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		spin(1000000);
		_exit(0);
	}
	c = open_on("instructions:u", child, -1);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	spin(5000000);
	CHECK_EQ(write(go[1], "g", 1), 1);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	CHECK(value_of(c).value >= 2000000 && value_of(c).value < 2010000);
	pace_counter_close(c);
}

TEST(counting_a_cpu_counts_everybody_on_it)
{
	struct pace_counter *c = open_on("instructions:u", -1, 0);
	pid_t child;

	CHECK_EQ(pace_counter_enable(c, &err), 0);
	child = fork();
	if (!child) {
		spin(1000000);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, NULL, 0), child);
	spin(1000000);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK(value_of(c).value >= 4000000 && value_of(c).value < 4300000);
	pace_counter_close(c);
}

TEST(counting_what_the_pmu_has_not_is_unsupported)
{
	static const char *const names[] = {"branches:u", "LLC-loads:u", "bus-cycles:u",
		"stalled-cycles-frontend:u"};

	for (size_t i = 0; i < 4; i++) {
		CHECK(!pace_counter_open(names[i], 0, -1, &err));
		CHECK_EQ(err.code, PACE_ERROR_UNSUPPORTED);
		CHECK_HAS(err.message, "no such hardware counter");
	}
	CHECK(!pace_counter_open("armv8_pmuv3/l9_cache/", 0, -1, &err));
	CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
}

static void set_paranoid(const char *level)
{
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_WRONLY);

	CHECK(fd >= 0 && write(fd, level, strlen(level)) == (ssize_t)strlen(level));
	close(fd);
}

TEST(counting_without_privileges_is_refused_as_the_paranoid_level_says)
{
	struct pace_counter *c;

	set_paranoid("2");
	if (setgid(65534) || setuid(65534))
		SKIP("needs root");
	CHECK(!pace_counter_open("instructions", 0, -1, &err));
	CHECK_EQ(err.code, PACE_ERROR_PERMISSION);
	CHECK_HAS(err.message, "perf_event_paranoid is 2, measuring the kernel needs 1 or less");
	CHECK(!pace_counter_open("instructions:u", -1, 0, &err));
	CHECK_EQ(err.code, PACE_ERROR_PERMISSION);
	c = open_on("instructions:u", 0, -1);
	CHECK(count_of(c, 1000) > 2000);
	pace_counter_close(c);
}

TEST(counting_at_level_three_is_for_the_privileged)
{
	set_paranoid("3");
	if (fork() == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		if (pace_counter_open("instructions:u", 0, -1, &err))
			_exit(3);
		_exit(err.code != PACE_ERROR_PERMISSION ||
			!strstr(err.message,
				"perf_event_paranoid is 3, measuring at all needs 2 or less"));
	}
	int status;

	CHECK(wait(&status) > 0);
	set_paranoid("2");
	CHECK_EQ(status, 0);
}
