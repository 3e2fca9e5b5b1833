#include <sched.h>
#include <unistd.h>

#include "event/cpus.h"

#include "test.h"

TEST(cpus_lists_are_sorted_and_without_doubles)
{
	static const struct {
		const char *text, *again;
		size_t n;
	} cases[] = {
		{"0", "0", 1},
		{"0-3", "0-3", 4},
		{"3-3", "3", 1},
		{"0-3,8", "0-3,8", 5},
		{"8,0-3", "0-3,8", 5},
		{"5,1,3", "1,3,5", 3},
		{"1,0", "0-1", 2},
		{"2,2,2", "2", 1},
		{"0-4,2-6", "0-6", 7},
		{"0-1,3-4,2", "0-4", 5},
		{"007", "7", 1},
		{"65535", "65535", 1},
		{"0-65535", "0-65535", 65536},
		{"0,2,4,6,8-10", "0,2,4,6,8-10", 7},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpus cpus = {0};
		struct str text = {0};
		struct err err = {0};

		CHECK_EQ(cpus_parse(&cpus, cases[i].text, &err), 0);
		CHECK_EQ(cpus.n, cases[i].n);
		cpus_add_text(&cpus, &text);
		CHECK_STR(str_text(&text), cases[i].again);
		str_fini(&text);
		cpus_fini(&cpus);
	}
}

TEST(cpus_lists_that_make_no_sense_say_where)
{
	static const struct {
		const char *text, *where;
	} cases[] = {
		{"", "at ''"},
		{" ", "at ' '"},
		{"x", "at 'x'"},
		{"-1", "at '-1'"},
		{",", "at ','"},
		{"1,", "at ''"},
		{"1,,2", "at ',2'"},
		{"1-", "at ''"},
		{"1,2-", "at ''"},
		{"1-x", "at 'x'"},
		{"1-2-3", "at '-3'"},
		{"1 ,2", "at ' ,2'"},
		{"0-3:2", "at ':2'"},
		{"0x1", "at 'x1'"},
		{"1.5", "at '.5'"},
		{"1\n", "at '\n'"},
		{"99999999999999999999", "at '99999999999999999999'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpus cpus = {0};
		struct err err = {0};
		char expected[128];

		if (cpus_parse(&cpus, cases[i].text, &err) != ERR_INVAL)
			test_failed(__FILE__, __LINE__, "'%s' is taken", cases[i].text);
		snprintf(expected, sizeof(expected),
			"CPU list '%s': expected numbers and ranges like 0-3,8 %s", cases[i].text,
			cases[i].where);
		CHECK_STR(err.msg, expected);
		cpus_fini(&cpus);
	}
}

TEST(cpus_ranges_are_ascending_and_below_65536)
{
	static const struct {
		const char *text, *range;
	} cases[] = {
		{"3-1", "3-1"},
		{"65536", "65536-65536"},
		{"0-65536", "0-65536"},
		{"1,5-18446744073709551615", "5-18446744073709551615"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpus cpus = {0};
		struct err err = {0};
		char expected[128];

		CHECK_EQ(cpus_parse(&cpus, cases[i].text, &err), ERR_INVAL);
		snprintf(expected, sizeof(expected),
			"CPU list '%s': %s is not a range of CPU numbers below 65536",
			cases[i].text, cases[i].range);
		CHECK_STR(err.msg, expected);
		cpus_fini(&cpus);
	}
}

TEST(cpus_parse_adds_to_what_is_there)
{
	struct cpus cpus = {0};
	struct str text = {0};
	struct err err;

	CHECK_EQ(cpus_parse(&cpus, "4-6", &err), 0);
	CHECK_EQ(cpus_parse(&cpus, "0,5", &err), 0);
	cpus_add_text(&cpus, &text);
	CHECK_STR(str_text(&text), "0,4-6");
	str_fini(&text);
	cpus_fini(&cpus);
}

TEST(cpus_has_only_what_was_listed)
{
	struct cpus cpus = {0};
	struct err err;

	CHECK(!cpus_has(&cpus, 0));
	CHECK_EQ(cpus_parse(&cpus, "1,4-6,65535", &err), 0);
	for (u32 cpu = 0; cpu < 10; cpu++)
		CHECK_EQ(cpus_has(&cpus, cpu), cpu == 1 || (cpu >= 4 && cpu <= 6));
	CHECK(cpus_has(&cpus, 65535));
	CHECK(!cpus_has(&cpus, ~0u));
	cpus_fini(&cpus);
}

TEST(cpus_add_all_copies)
{
	struct cpus from = {0}, to = {0};
	struct err err;

	cpus_add_all(&to, &from);
	CHECK_EQ(to.n, 0);
	CHECK_EQ(cpus_parse(&from, "0-20", &err), 0);
	cpus_add_all(&to, &from);
	CHECK_EQ(to.n, 21);
	CHECK(to.at != from.at);
	CHECK(!memcmp(to.at, from.at, 21 * sizeof(*to.at)));
	cpus_fini(&from);
	cpus_fini(&to);
	CHECK(!to.at);
}

TEST(cpus_of_an_empty_set_have_no_text)
{
	struct cpus cpus = {0};
	struct str text = {0};

	cpus_add_text(&cpus, &text);
	CHECK_STR(str_text(&text), "");
	str_fini(&text);
}

TEST(cpus_online_has_the_cpu_this_runs_on)
{
	struct cpus cpus = {0};
	struct err err = {0};
	int cpu;

	if (access("/sys/devices/system/cpu/online", R_OK))
		SKIP("no /sys/devices/system/cpu/online");
	CHECK_EQ(cpus_online(&cpus, &err), 0);
	CHECK(cpus.n >= 1);
	cpu = sched_getcpu();
	CHECK(cpu >= 0 && cpus_has(&cpus, (u32)cpu));
	CHECK_EQ(cpus.n, sysconf(_SC_NPROCESSORS_ONLN));
	cpus_fini(&cpus);
}
