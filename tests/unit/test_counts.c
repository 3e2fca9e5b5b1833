#include "test.h"

#include <math.h>
#include <unistd.h>

#include "unit/countmaker.h"
#include "unit/tree.h"

enum { MS = 1000000 }; /* ns */

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static struct event *add_cycles(struct countmaker *m)
{
	return countmaker_event(m, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles");
}

static struct event *add_faults(struct countmaker *m)
{
	return countmaker_event(m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
}

/* One event of one task. */
static void begin_one(struct countmaker *m)
{
	countmaker_init(m);
	add_cycles(m);
	countmaker_counter(m, 0, -1, 101);
	countmaker_begin(m, COUNTS_ALL, "/sys");
}

/* ---- one run ---- */

TEST(counts_of_a_counter_that_was_on_all_the_time_are_what_it_counted)
{
	struct countmaker m;
	struct count c;

	begin_one(&m);
	countmaker_add(&m, 0, 1234567, 5 * MS, 5 * MS);
	counts_take_run(&m.counts);
	c = counts_mean(&m.counts, 0, 0);
	CHECK(c.value == 1234567);
	CHECK_EQ(c.raw, 1234567);
	CHECK_EQ(count_state(&c), COUNT_OK);
	CHECK(count_share(&c) == 1);
	CHECK(counts_scaling_error(counts_total(&m.counts, 0, 0)) < 0);
	countmaker_fini(&m);
}

TEST(counts_of_a_multiplexed_counter_are_scaled_to_all_of_its_time)
{
	struct countmaker m;
	struct count c;

	begin_one(&m);
	countmaker_add(&m, 0, 1000, 8 * MS, 2 * MS);
	counts_take_run(&m.counts);
	c = counts_mean(&m.counts, 0, 0);
	CHECK(c.value == 4000);
	CHECK_EQ(c.raw, 1000);
	CHECK(count_share(&c) == 0.25);
	CHECK_EQ(count_state(&c), COUNT_OK);
	countmaker_fini(&m);
}

TEST(counts_are_left_as_they_are_if_that_is_asked_for)
{
	struct countmaker m;

	begin_one(&m);
	m.counts.is_unscaled = true;
	countmaker_add(&m, 0, 1000, 8 * MS, 2 * MS);
	counts_take_run(&m.counts);
	CHECK(counts_mean(&m.counts, 0, 0).value == 1000);
	countmaker_fini(&m);
}

TEST(counts_are_scaled_counter_by_counter_before_they_are_added)
{
	struct countmaker m;
	struct count c;

	countmaker_init(&m);
	add_cycles(&m);
	countmaker_counter(&m, 0, 0, -1);
	countmaker_counter(&m, 0, 1, -1);
	countmaker_begin(&m, COUNTS_ALL, "/sys");
	/* A busy CPU that was seen for a quarter of the time, an idle one that was seen all of it. */
	countmaker_add(&m, 0, 1000, 8 * MS, 2 * MS);
	countmaker_add(&m, 1, 10, 8 * MS, 8 * MS);
	counts_take_run(&m.counts);
	c = counts_mean(&m.counts, 0, 0);
	CHECK(c.value == 4010);
	CHECK_EQ(c.raw, 1010);
	CHECK_EQ(c.n_counters, 2);
	countmaker_fini(&m);
}

TEST(counts_tell_zero_from_never_counted_and_not_opened)
{
	struct countmaker m;
	struct count zero, slept, never, absent, lost;

	countmaker_init(&m);
	for (int i = 0; i < 5; i++)
		add_cycles(&m);
	for (u32 i = 0; i < 4; i++)
		countmaker_counter(&m, i == 3 ? 4 : i, -1, 101);
	countmaker_begin(&m, COUNTS_ALL, "/sys");
	countmaker_add(&m, 0, 0, 5 * MS, 5 * MS);
	/* 1: its task slept all the time. */
	countmaker_add(&m, 2, 0, 5 * MS, 0);
	m.readings[3].has_failed = true;
	counts_take_run(&m.counts);
	zero = counts_mean(&m.counts, 0, 0);
	slept = counts_mean(&m.counts, 1, 0);
	never = counts_mean(&m.counts, 2, 0);
	absent = counts_mean(&m.counts, 3, 0);
	lost = counts_mean(&m.counts, 4, 0);
	CHECK_EQ(count_state(&zero), COUNT_OK);
	CHECK_EQ(count_state(&slept), COUNT_OK);
	CHECK_EQ(count_state(&never), COUNT_NEVER_RAN);
	CHECK_EQ(count_state(&absent), COUNT_NOT_OPENED);
	CHECK_EQ(count_state(&lost), COUNT_NEVER_RAN);
	CHECK_EQ(lost.n_failed, 1);
	CHECK_EQ(never.n_idle, 1);
	countmaker_fini(&m);
}

TEST(counts_say_on_how_many_counters_a_part_is_missing)
{
	struct countmaker m;
	struct count c;

	countmaker_init(&m);
	add_cycles(&m);
	for (s32 cpu = 0; cpu < 4; cpu++)
		countmaker_counter(&m, 0, cpu, -1);
	countmaker_begin(&m, COUNTS_ALL, "/sys");
	countmaker_add(&m, 0, 50, 5 * MS, 5 * MS);
	countmaker_add(&m, 1, 0, 5 * MS, 0);
	countmaker_add(&m, 2, 70, 5 * MS, 5 * MS);
	countmaker_add(&m, 3, 999, 5 * MS, 5 * MS);
	m.readings[3].has_failed = true;
	counts_take_run(&m.counts);
	c = counts_mean(&m.counts, 0, 0);
	CHECK_EQ(count_state(&c), COUNT_OK);
	/* What the failed one said before is not to be trusted. */
	CHECK(c.value == 120);
	CHECK_EQ(c.n_counters, 4);
	CHECK_EQ(c.n_idle, 1);
	CHECK_EQ(c.n_failed, 1);
	countmaker_fini(&m);
}

TEST(counts_of_clocks_are_milliseconds_and_of_energy_joules)
{
	struct countmaker m;
	struct event *e;

	countmaker_init(&m);
	countmaker_event(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	e = countmaker_event(&m, 11, 2, "power/energy-pkg/");
	e->scale = 2.5e-10;
	e->unit = "Joules";
	countmaker_counter(&m, 0, -1, 101);
	countmaker_counter(&m, 1, 0, -1);
	countmaker_begin(&m, COUNTS_ALL, "/sys");
	countmaker_add(&m, 0, 2500000, 3 * MS, 3 * MS);
	countmaker_add(&m, 1, 4000000000u, 3 * MS, 3 * MS);
	counts_take_run(&m.counts);
	CHECK(is_near(counts_mean(&m.counts, 0, 0).value, 2.5));
	CHECK_STR(counts_unit(&m.events.at[0]), "msec");
	CHECK(counts_is_clock(&m.events.at[0]));
	CHECK(is_near(counts_mean(&m.counts, 1, 0).value, 1));
	CHECK_STR(counts_unit(&m.events.at[1]), "Joules");
	CHECK(!counts_is_clock(&m.events.at[1]));
	countmaker_fini(&m);
}

/* ---- intervals ---- */

TEST(counts_of_intervals_add_up_to_the_run)
{
	const u64 values[] = {10, 0, 5, 7};
	struct countmaker m;
	double sum = 0;

	begin_one(&m);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		countmaker_add(&m, 0, values[i], MS, MS);
		counts_take_interval(&m.counts);
		CHECK(counts_now(&m.counts, 0, 0)->value == values[i]);
		CHECK_EQ(counts_now(&m.counts, 0, 0)->enabled_ns, MS);
		sum += counts_now(&m.counts, 0, 0)->value;
	}
	counts_take_run(&m.counts);
	CHECK(counts_mean(&m.counts, 0, 0).value == sum);
	countmaker_fini(&m);
}

TEST(counts_scale_an_interval_by_the_times_of_that_interval)
{
	struct countmaker m;

	begin_one(&m);
	countmaker_add(&m, 0, 100, 4 * MS, 4 * MS);
	counts_take_interval(&m.counts);
	CHECK(counts_now(&m.counts, 0, 0)->value == 100);
	countmaker_add(&m, 0, 100, 4 * MS, 1 * MS);
	counts_take_interval(&m.counts);
	CHECK(counts_now(&m.counts, 0, 0)->value == 400);
	countmaker_add(&m, 0, 0, 4 * MS, 0);
	counts_take_interval(&m.counts);
	CHECK_EQ(count_state(counts_now(&m.counts, 0, 0)), COUNT_NEVER_RAN);
	countmaker_fini(&m);
}

TEST(counts_show_a_state_as_it_is_and_not_what_it_grew_by)
{
	struct countmaker m;

	countmaker_init(&m);
	countmaker_event(&m, 9, 1, "pmu/temperature/")->wishes |= EVENT_SNAPSHOT;
	countmaker_counter(&m, 0, 0, -1);
	countmaker_begin(&m, COUNTS_ALL, "/sys");
	countmaker_add(&m, 0, 60, MS, MS);
	counts_take_interval(&m.counts);
	CHECK(counts_now(&m.counts, 0, 0)->value == 60);
	countmaker_add(&m, 0, 2, MS, MS / 2);
	counts_take_interval(&m.counts);
	CHECK(counts_now(&m.counts, 0, 0)->value == 62);
	countmaker_fini(&m);
}

/* ---- runs ---- */

TEST(counts_of_runs_are_their_mean)
{
	const u64 values[] = {100, 104, 108};
	struct countmaker m;
	struct counts_total *t;

	begin_one(&m);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (i)
			countmaker_again(&m, "/sys");
		countmaker_add(&m, 0, values[i], MS, MS);
		counts_take_run(&m.counts);
	}
	t = counts_total(&m.counts, 0, 0);
	CHECK_EQ(m.counts.n_runs, 3);
	CHECK(is_near(counts_mean(&m.counts, 0, 0).value, 104));
	CHECK_EQ(counts_mean(&m.counts, 0, 0).raw, 104);
	CHECK(is_near(variance_error(&t->values), 4 / sqrt(3)));
	countmaker_fini(&m);
}

TEST(counts_of_runs_leave_out_those_in_which_nothing_was_counted)
{
	struct countmaker m;

	begin_one(&m);
	countmaker_add(&m, 0, 100, MS, MS);
	counts_take_run(&m.counts);
	countmaker_again(&m, "/sys");
	countmaker_add(&m, 0, 0, MS, 0);
	counts_take_run(&m.counts);
	CHECK_EQ(counts_total(&m.counts, 0, 0)->values.n, 1);
	CHECK(counts_mean(&m.counts, 0, 0).value == 100);
	countmaker_fini(&m);
}

/* ---- places ---- */

/* Two sockets with two cores each; CPUs 0 and 2, 1 and 3 share a socket. */
static const char *make_sys(void)
{
	const char *root = test_path("sys");

	for (unsigned cpu = 0; cpu < 4; cpu++) {
		char text[16];

		snprintf(text, sizeof(text), "%u\n", cpu % 2);
		tree_file(root, text, "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
		snprintf(text, sizeof(text), "%u\n", cpu / 2);
		tree_file(root, text, "devices/system/cpu/cpu%u/topology/core_id", cpu);
		tree_dir(root, "devices/system/cpu/cpu%u/node%u", cpu, cpu % 2);
	}
	return root;
}

static void begin_cpus(struct countmaker *m, enum counts_scope scope)
{
	countmaker_init(m);
	add_cycles(m);
	add_faults(m);
	for (u32 e = 0; e < 2; e++)
		for (s32 cpu = 0; cpu < 4; cpu++)
			countmaker_counter(m, e, cpu, -1);
	countmaker_begin(m, scope, make_sys());
	for (size_t i = 0; i < 8; i++)
		countmaker_add(m, i, 1 << i, MS, MS);
	counts_take_run(&m->counts);
}

TEST(counts_come_together_where_they_belong)
{
	static const struct {
		enum counts_scope scope;
		size_t n;
		const char *names[4];
		u32 n_counters;
		u64 values[4];
	} rows[] = {
		{COUNTS_ALL, 1, {""}, 4, {15}},
		{COUNTS_SOCKET, 2, {"S0", "S1"}, 2, {5, 10}},
		{COUNTS_DIE, 2, {"S0-D0", "S1-D0"}, 2, {5, 10}},
		{COUNTS_CORE, 4, {"S0-D0-C0", "S0-D0-C1", "S1-D0-C0", "S1-D0-C1"}, 1, {1, 4, 2, 8}},
		{COUNTS_NODE, 2, {"N0", "N1"}, 2, {5, 10}},
		{COUNTS_CPU, 4, {"CPU0", "CPU1", "CPU2", "CPU3"}, 1, {1, 2, 4, 8}},
	};

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		struct countmaker m;

		begin_cpus(&m, rows[r].scope);
		CHECK_EQ(m.counts.places.n, rows[r].n);
		for (u32 p = 0; p < rows[r].n; p++) {
			CHECK_STR(m.counts.places.at[p].name, rows[r].names[p]);
			CHECK_EQ(m.counts.places.at[p].n_counters, rows[r].n_counters);
			CHECK(counts_mean(&m.counts, 0, p).value == rows[r].values[p]);
			CHECK(counts_mean(&m.counts, 1, p).value == 16 * rows[r].values[p]);
		}
		countmaker_fini(&m);
	}
}

TEST(counts_name_threads_that_live_and_those_that_do_not)
{
	struct countmaker m;
	char name[64];
	pid_t gone = 1 << 23; /* above pid_max */

	countmaker_init(&m);
	add_faults(&m);
	countmaker_counter(&m, 0, -1, getpid());
	countmaker_counter(&m, 0, -1, gone);
	countmaker_begin(&m, COUNTS_THREAD, "/sys");
	CHECK_EQ(m.counts.places.n, 2);
	snprintf(name, sizeof(name), "unit-%d", getpid());
	CHECK_STR(m.counts.places.at[0].name, name);
	snprintf(name, sizeof(name), ":%d", gone);
	CHECK_STR(m.counts.places.at[1].name, name);
	countmaker_fini(&m);
}

TEST(counts_take_what_a_package_counts_once_from_one_of_its_cpus)
{
	struct countmaker m;

	countmaker_init(&m);
	countmaker_event(&m, 11, 2, "power/energy-pkg/")->wishes |= EVENT_PER_PKG;
	add_cycles(&m);
	for (u32 e = 0; e < 2; e++)
		for (s32 cpu = 0; cpu < 4; cpu++)
			countmaker_counter(&m, e, cpu, -1);
	countmaker_begin(&m, COUNTS_ALL, make_sys());
	/* CPUs of a package all show what the package counted: 100 and 7. */
	for (size_t i = 0; i < 8; i++)
		countmaker_add(&m, i, i % 2 ? 7 : 100, MS, MS);
	counts_take_run(&m.counts);
	CHECK(counts_mean(&m.counts, 0, 0).value == 107);
	CHECK(counts_mean(&m.counts, 1, 0).value == 214);
	countmaker_fini(&m);
}

TEST(counts_of_runs_stay_where_they_are_when_a_later_one_has_more_cpus)
{
	static const u64 values[] = {8, 4 + 16, 32};
	const char *sys = make_sys();
	struct countmaker m;

	countmaker_init(&m);
	add_cycles(&m);
	countmaker_counter(&m, 0, 0, -1);
	countmaker_counter(&m, 0, 2, -1);
	countmaker_begin(&m, COUNTS_CPU, sys);
	countmaker_add(&m, 0, 8, MS, MS);
	countmaker_add(&m, 1, 32, MS, MS);
	counts_take_run(&m.counts);
	/* CPU 1 came online, and lies between them. */
	m.counting.counters.n = 0;
	countmaker_counter(&m, 0, 1, -1);
	countmaker_again(&m, sys);
	countmaker_add(&m, 0, 20, MS, MS);
	counts_take_run(&m.counts);
	CHECK_EQ(m.counts.places.n, 3);
	for (u32 p = 0; p < 3; p++) {
		CHECK_EQ(m.counts.places.at[p].key[0], p);
		CHECK(counts_mean(&m.counts, 0, p).value == values[p]);
	}
	countmaker_fini(&m);
}

TEST(counts_per_core_stand_behind_those_of_the_cpus)
{
	static const char *const names[] = {"CPU0", "CPU1", "S0-D0-C0"};
	static const u64 cycles[] = {1, 2, 0}, faults[] = {0, 0, 12};
	const char *sys = test_path("sys");
	struct countmaker m;

	for (unsigned cpu = 0; cpu < 2; cpu++) {
		tree_file(sys, "0\n", "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
		tree_file(sys, "0\n", "devices/system/cpu/cpu%u/topology/core_id", cpu);
	}
	countmaker_init(&m);
	add_cycles(&m);
	add_faults(&m)->wishes |= EVENT_PERCORE;
	for (u32 e = 0; e < 2; e++)
		for (s32 cpu = 0; cpu < 2; cpu++)
			countmaker_counter(&m, e, cpu, -1);
	countmaker_begin(&m, COUNTS_CPU, sys);
	for (size_t i = 0; i < 4; i++)
		countmaker_add(&m, i, 1 << i, MS, MS);
	counts_take_run(&m.counts);
	CHECK_EQ(m.counts.places.n, 3);
	for (u32 p = 0; p < 3; p++) {
		CHECK_STR(m.counts.places.at[p].name, names[p]);
		CHECK(counts_mean(&m.counts, 0, p).value == cycles[p]);
		CHECK(counts_mean(&m.counts, 1, p).value == faults[p]);
	}
	countmaker_fini(&m);
}

TEST(counts_of_nothing_have_one_place)
{
	struct countmaker m;
	struct count c;

	countmaker_init(&m);
	add_cycles(&m);
	countmaker_begin(&m, COUNTS_CPU, "/sys");
	counts_take_run(&m.counts);
	CHECK_EQ(m.counts.places.n, 1);
	c = counts_mean(&m.counts, 0, 0);
	CHECK_EQ(count_state(&c), COUNT_NOT_OPENED);
	countmaker_fini(&m);
}

/* ---- how far a scaled count may be off ---- */

TEST(counts_tell_whether_anything_is_multiplexed)
{
	struct countmaker m;

	begin_one(&m);
	countmaker_add(&m, 0, 10, MS, MS);
	CHECK(!counts_take_slice(&m.counts));
	countmaker_add(&m, 0, 10, MS, MS / 2);
	CHECK(counts_take_slice(&m.counts));
	countmaker_fini(&m);
}

TEST(counts_of_a_steady_rate_are_scaled_without_error)
{
	struct countmaker m;
	double error;

	begin_one(&m);
	for (int i = 0; i < 10; i++) {
		countmaker_add(&m, 0, 1000, 2 * MS, MS);
		counts_take_slice(&m.counts);
	}
	counts_take_run(&m.counts);
	error = counts_scaling_error(counts_total(&m.counts, 0, 0));
	CHECK(error >= 0 && error < 1e-9);
	countmaker_fini(&m);
}

TEST(counts_do_not_guess_an_error_from_fewer_than_three_slices)
{
	struct countmaker m;

	begin_one(&m);
	for (int i = 0; i < 2; i++) {
		countmaker_add(&m, 0, 1000 + i, 2 * MS, MS);
		counts_take_slice(&m.counts);
	}
	counts_take_run(&m.counts);
	CHECK(counts_scaling_error(counts_total(&m.counts, 0, 0)) < 0);
	countmaker_fini(&m);
}

/* xorshift64*: the same numbers on every machine. */
static double random_share(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * 0x2545f4914f6cdd1dull) >> 11) / (double)(1ull << 53);
}

static double random_normal(u64 *state)
{
	double a = random_share(state), b = random_share(state);

	return sqrt(-2 * log(1 - a)) * cos(2 * M_PI * b);
}

/* What a program does in a ms changes from one to the next: 10000 +- 3000. */
static u64 count_of_a_ms(u64 *state)
{
	return (u64)fmax(0, 10000 + 3000 * random_normal(state));
}

/*
 * A program that runs for n slices of 24 ms each, of which its event is on the PMU for `on_ms`:
 * whether the truth is within the bound.
 */
static bool is_covered(u64 *state, int n_slices, int on_ms)
{
	struct countmaker m;
	double truth = 0, error, value;

	begin_one(&m);
	for (int i = 0; i < n_slices; i++) {
		u64 seen = 0;

		for (int ms = 0; ms < 24; ms++) {
			u64 n = count_of_a_ms(state);

			truth += (double)n;
			seen += ms < on_ms ? n : 0;
		}
		countmaker_add(&m, 0, seen, 24 * MS, on_ms * MS);
		counts_take_slice(&m.counts);
	}
	counts_take_run(&m.counts);
	value = counts_mean(&m.counts, 0, 0).value;
	error = counts_scaling_error(counts_total(&m.counts, 0, 0));
	countmaker_fini(&m);
	CHECK(error > 0 && error < 1);
	return fabs(truth - value) <= error * value;
}

TEST(counts_hold_the_truth_in_95_of_100_bounds)
{
	enum { TRIALS = 1500 };
	static const struct {
		int n_slices, on_ms;
	} rows[] = {{8, 12}, {40, 6}, {40, 12}, {40, 20}, {200, 12}};
	u64 state = 0x5eed;

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		int held = 0;

		for (int i = 0; i < TRIALS; i++)
			held += is_covered(&state, rows[r].n_slices, rows[r].on_ms);
		/* Four standard deviations of such a share are 2.2 of 100. */
		if (held < TRIALS * 927 / 1000 || held > TRIALS * 973 / 1000)
			test_failed(__FILE__, __LINE__,
				"%d slices, on the PMU for %d of 24 ms: %.1f%% of the bounds hold the truth",
				rows[r].n_slices, rows[r].on_ms, 100.0 * held / TRIALS);
	}
}

TEST(counts_bound_the_mean_of_runs_too)
{
	struct countmaker m;
	double one = 0, many;
	u64 state = 7;

	begin_one(&m);
	for (int run = 0; run < 16; run++) {
		if (run)
			countmaker_again(&m, "/sys");
		for (int i = 0; i < 20; i++) {
			countmaker_add(&m, 0, count_of_a_ms(&state), 2 * MS, MS);
			counts_take_slice(&m.counts);
		}
		counts_take_run(&m.counts);
		if (!run)
			one = counts_scaling_error(counts_total(&m.counts, 0, 0));
	}
	many = counts_scaling_error(counts_total(&m.counts, 0, 0));
	/* Sixteen times the slices: a quarter of the error, give or take what chance does to `one`. */
	CHECK(many > one / 8 && many < one / 2);
	countmaker_fini(&m);
}
