#include "test.h"

#include <math.h>

#include "event/metricexpr.h"
#include "event/metricown.h"
#include "event/parse.h"
#include "profile/diff/metric.h"
#include "unit/fake_sysfs.h"

/* Readings are made up: the events of a text, and for each a count. */
struct answers {
	struct event_list events;
	struct count counts[16];
	struct metric_input in;
	struct metric m[METRIC_MAX];
	unsigned n;
};

enum { MS = 1000000 }; /* ns */

static void answers_init(struct answers *a, const char *events)
{
	const struct parse_env env = {.sysfs = fake_sysfs()};
	struct err err;

	memset(a, 0, sizeof(*a));
	if (parse_events(events, &env, &a->events, &err))
		test_failed(__FILE__, __LINE__, "%s: %s", events, err.msg);
	CHECK(a->events.n <= ARRAY_SIZE(a->counts));
	a->in = (struct metric_input){&a->events, a->counts, 100 * MS};
}

static void answers_fini(struct answers *a)
{
	event_list_fini(&a->events);
}

/* On the PMU for `running_ms` of 100 ms. */
static void set(struct answers *a, u32 event, double value, u64 running_ms)
{
	a->counts[event] = (struct count){.value = value,
		.raw = (u64)value,
		.enabled_ns = 100 * MS,
		.running_ns = running_ms * MS,
		.n_counters = 1,
		.n_idle = !running_ms};
}

static void ask(struct answers *a, u32 event)
{
	memset(a->m, 0, sizeof(a->m));
	a->n = metric_of(&a->in, event, a->m);
}

static void check_value(const struct metric *m, double value, const char *unit)
{
	CHECK_EQ(m->state, METRIC_VALUE);
	CHECK_STR(m->unit, unit);
	if (fabs(m->value - value) > 1e-9 * fabs(value))
		test_failed(__FILE__, __LINE__, "%s is %f, not %f", unit, m->value, value);
}

/* ---- the table ---- */

TEST(metric_rows_of_our_own_can_all_be_compiled)
{
	for (size_t i = 0; i < metricown_n; i++) {
		const struct metric_row *row = &metricown[i].row;
		const char *const formulas[] = {row->expr, row->threshold};

		CHECK(row->name || metricown[i].beside);
		CHECK(row->scale > 0);
		CHECK(!row->name || row->brief);
		for (size_t k = 0; k < ARRAY_SIZE(formulas); k++) {
			struct metricexpr x;
			struct err err;

			if (!formulas[k])
				continue;
			if (metricexpr_compile(&x, formulas[k], 0, &err))
				test_failed(__FILE__, __LINE__, "%s: %s", formulas[k], err.msg);
			metricexpr_fini(&x);
		}
		for (size_t k = 0; k < i; k++)
			CHECK(!row->name || !metricown[k].row.name ||
				strcmp(row->name, metricown[k].row.name) != 0);
	}
}

/* ---- ratios ---- */

TEST(metric_knows_the_ratios_that_perf_prints)
{
	static const struct {
		const char *events;
		double of, by, value;
		bool is_percent;
		const char *unit;
	} rows[] = {
		{"instructions,cycles", 300, 200, 1.5, false, "insn per cycle"},
		{"branch-misses,branches", 5, 200, 2.5, true, "of all branches"},
		{"cache-misses,cache-references", 5, 50, 10, true, "of all cache refs"},
		{"stalled-cycles-frontend,cycles", 50, 200, 25, true, "frontend cycles idle"},
		{"stalled-cycles-backend,cycles", 20, 200, 10, true, "backend cycles idle"},
		{"L1-dcache-load-misses,L1-dcache-loads", 3, 300, 1, true,
			"of all L1-dcache accesses"},
		{"L1-icache-load-misses,L1-icache-loads", 3, 300, 1, true,
			"of all L1-icache accesses"},
		{"LLC-load-misses,LLC-loads", 3, 4, 75, true, "of all LL-cache accesses"},
		{"dTLB-load-misses,dTLB-loads", 3, 4, 75, true, "of all dTLB cache accesses"},
		{"iTLB-load-misses,iTLB-loads", 3, 4, 75, true, "of all iTLB cache accesses"},
		{"r10000003c,cycles", 80, 200, 40, true, "transactional cycles"},
		{"r1c9,r10000003c", 2000, 400000, 200, false, "cycles / transaction"},
		{"r1c8,r10000003c", 500, 400000, 800, false, "cycles / elision"},
		/* 2e8 cycles in 100 ms */
		{"cycles,task-clock", 2e8, 100, 2, false, "GHz"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct answers a;

		answers_init(&a, rows[i].events);
		set(&a, 0, rows[i].of, 100);
		set(&a, 1, rows[i].by, 100);
		ask(&a, 0);
		CHECK_EQ(a.n, 1);
		check_value(&a.m[0], rows[i].value, rows[i].unit);
		CHECK_EQ(a.m[0].is_percent, rows[i].is_percent);
		CHECK_EQ(a.m[0].other, 1);
		answers_fini(&a);
	}
}

/* Cycles in transactions less those that were committed, of all: three counts. */
TEST(metric_of_aborted_cycles_is_what_was_not_committed)
{
	static const struct {
		double in, committed, share;
	} cases[] = {{400, 300, 10}, {400, 400, 0}, {400, 401, 0}, {0, 0, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct answers a;

		answers_init(&a, "r30000003c:u,r10000003c:u,cycles:u");
		set(&a, 0, cases[i].committed, 100);
		set(&a, 1, cases[i].in, 100);
		set(&a, 2, 1000, 100);
		ask(&a, 0);
		CHECK_EQ(a.n, 1);
		check_value(&a.m[0], cases[i].share, "aborted cycles");
		answers_fini(&a);
	}
}

TEST(metric_names_the_worse_stall_for_each_instruction)
{
	struct answers a;

	answers_init(&a, "cycles,stalled-cycles-frontend,stalled-cycles-backend,instructions");
	set(&a, 0, 1000, 100);
	set(&a, 1, 100, 100);
	set(&a, 2, 400, 100);
	set(&a, 3, 2000, 100);
	ask(&a, 3);
	CHECK_EQ(a.n, 2);
	check_value(&a.m[0], 2, "insn per cycle");
	check_value(&a.m[1], 0.2, "stalled cycles per insn");
	answers_fini(&a);
}

TEST(metric_is_none_without_the_other_event_or_with_none_of_it)
{
	struct answers a;

	answers_init(&a, "instructions,cycles");
	set(&a, 0, 300, 100);
	/* not opened */
	ask(&a, 0);
	CHECK_EQ(a.n, 0);
	/* never on the PMU */
	set(&a, 1, 0, 0);
	ask(&a, 0);
	CHECK_EQ(a.n, 0);
	/* zero: nothing can be divided by it */
	set(&a, 1, 0, 100);
	ask(&a, 0);
	CHECK_EQ(a.n, 0);
	/* and of what was not counted nothing can be said */
	set(&a, 0, 0, 0);
	set(&a, 1, 100, 100);
	ask(&a, 0);
	CHECK_EQ(a.n, 0);
	answers_fini(&a);
}

/* ---- only what was counted at the same time ---- */

TEST(metric_is_refused_when_the_two_took_turns_on_the_pmu)
{
	static const struct {
		u64 of, by;
		enum metric_state state;
	} rows[] = {
		{100, 100, METRIC_VALUE},
		{100, 50, METRIC_APART},
		{50, 100, METRIC_APART},
		/* The same share of the time is not the same time. */
		{50, 50, METRIC_APART},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct answers a;

		answers_init(&a, "instructions,cycles");
		set(&a, 0, 300, rows[i].of);
		set(&a, 1, 200, rows[i].by);
		ask(&a, 0);
		CHECK_EQ(a.n, 1);
		CHECK_EQ(a.m[0].state, rows[i].state);
		CHECK_EQ(a.m[0].other, 1);
		CHECK_STR(a.m[0].unit, "insn per cycle");
		answers_fini(&a);
	}
}

TEST(metric_of_one_group_holds_however_short_it_was_on_the_pmu)
{
	struct answers a;

	answers_init(&a, "{instructions,cycles}");
	set(&a, 0, 300, 10);
	set(&a, 1, 200, 10);
	ask(&a, 0);
	CHECK_EQ(a.n, 1);
	check_value(&a.m[0], 1.5, "insn per cycle");
	answers_fini(&a);
}

TEST(metric_is_refused_when_one_of_the_two_is_missing_on_some_cpus)
{
	struct answers a;

	answers_init(&a, "instructions,cycles");
	set(&a, 0, 300, 100);
	set(&a, 1, 200, 100);
	a.counts[1].n_counters = 4;
	a.counts[1].n_failed = 1;
	ask(&a, 0);
	CHECK_EQ(a.m[0].state, METRIC_APART);
	answers_fini(&a);
}

TEST(metric_prefers_the_other_event_of_its_own_group)
{
	struct answers a;

	answers_init(&a, "cycles,{instructions,cycles}");
	set(&a, 0, 1000, 30);
	set(&a, 1, 300, 30);
	set(&a, 2, 200, 30);
	ask(&a, 1);
	CHECK_EQ(a.m[0].other, 2);
	check_value(&a.m[0], 1.5, "insn per cycle");
	answers_fini(&a);
}

TEST(metric_holds_a_scaled_count_against_a_clock_that_always_runs)
{
	struct answers a;

	answers_init(&a, "cycles,task-clock");
	set(&a, 0, 1e8, 40);
	set(&a, 1, 100, 100);
	ask(&a, 0);
	check_value(&a.m[0], 1, "GHz");
	answers_fini(&a);
}

TEST(metric_compares_only_what_looks_at_the_same)
{
	static const char *const rows[] = {"instructions:u,cycles:k", "instructions:u,cycles",
		"instructions:G,cycles:H"};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct answers a;

		answers_init(&a, rows[i]);
		set(&a, 0, 300, 100);
		set(&a, 1, 200, 100);
		ask(&a, 0);
		CHECK_EQ(a.n, 0);
		answers_fini(&a);
	}
}

TEST(metric_finds_among_several_the_one_that_looks_at_the_same)
{
	struct answers a;

	answers_init(&a, "cycles:k,cycles:u,instructions:u,instructions:k");
	set(&a, 0, 10, 100);
	set(&a, 1, 100, 100);
	set(&a, 2, 200, 100);
	set(&a, 3, 40, 100);
	ask(&a, 2);
	check_value(&a.m[0], 2, "insn per cycle");
	CHECK_EQ(a.m[0].other, 1);
	ask(&a, 3);
	check_value(&a.m[0], 4, "insn per cycle");
	CHECK_EQ(a.m[0].other, 0);
	answers_fini(&a);
}

TEST(metric_does_not_mix_cgroups)
{
	struct answers a;

	answers_init(&a, "instructions,cycles,task-clock");
	a.events.at[0].cgroup = "a";
	a.events.at[1].cgroup = "b";
	for (u32 i = 0; i < 3; i++)
		set(&a, i, 100, 100);
	ask(&a, 0);
	CHECK_EQ(a.n, 0);
	a.events.at[1].cgroup = "a";
	ask(&a, 0);
	check_value(&a.m[0], 1, "insn per cycle");
	answers_fini(&a);
}

/* ---- rates and clocks ---- */

TEST(metric_of_any_other_event_is_its_rate_in_a_unit_that_fits)
{
	static const struct {
		double value, rate, factor;
		const char *unit;
	} rows[] = {
		{0, 0, 1, "/sec"},
		{99, 990, 1, "/sec"},
		{100, 1, 1e3, "K/sec"},
		{99999, 999.99, 1e3, "K/sec"},
		{150000, 1.5, 1e6, "M/sec"},
		{2e8, 2, 1e9, "G/sec"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct answers a;

		answers_init(&a, "page-faults,task-clock");
		set(&a, 0, rows[i].value, 100);
		set(&a, 1, 100, 100);
		ask(&a, 0);
		CHECK_EQ(a.n, 1);
		check_value(&a.m[0], rows[i].rate, rows[i].unit);
		CHECK(a.m[0].factor == rows[i].factor);
		CHECK_EQ(a.m[0].digits, 3);
		answers_fini(&a);
	}
}

TEST(metric_of_a_clock_is_how_many_cpus_were_used)
{
	struct answers a;

	answers_init(&a, "task-clock");
	set(&a, 0, 150, 100);
	ask(&a, 0);
	CHECK_EQ(a.n, 1);
	check_value(&a.m[0], 1.5, "CPUs utilized");
	CHECK_EQ(a.m[0].other, TABLE_NONE);
	a.in.elapsed_ns = 0;
	ask(&a, 0);
	CHECK_EQ(a.n, 0);
	answers_fini(&a);
}

TEST(metric_of_what_has_a_unit_is_no_rate)
{
	struct answers a;

	answers_init(&a, "page-faults,task-clock");
	a.events.at[0].unit = "Joules";
	set(&a, 0, 5, 100);
	set(&a, 1, 100, 100);
	ask(&a, 0);
	CHECK_EQ(a.n, 0);
	answers_fini(&a);
}
