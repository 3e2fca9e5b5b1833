#include "base/nearest.h"

#include "test.h"

static const char *const events[] = {"cycles", "instructions", "cache-misses", "cache-references",
	"branches", "branch-misses", "cs", "page-faults", "L1-dcache-loads", "sched:sched_switch"};

static const char *best(const char *typed, const char *const *names, size_t n)
{
	struct nearest near = {.typed = typed};

	for (size_t i = 0; i < n; i++)
		nearest_offer(&near, names[i]);
	return near.best ? near.best : "nothing";
}

TEST(nearest_finds_what_a_typo_meant)
{
	static const struct {
		const char *typed, *meant;
	} cases[] = {
		{"cycles", "cycles"},
		{"cycels", "cycles"},   /* swapped */
		{"cycle", "cycles"},    /* cut */
		{"cyclless", "cycles"}, /* doubled */
		{"xycles", "cycles"},   /* replaced */
		{"cyc", "cycles"},      /* the beginning */
		{"CYCLES", "cycles"},
		{"Cycels", "cycles"},
		{"intructions", "instructions"},
		{"instr", "instructions"},
		{"cache-miss", "cache-misses"},
		{"cachemisses", "cache-misses"},
		{"cache_misses", "cache-misses"},
		{"brnaches", "branches"},
		{"l1-dcache-lods", "L1-dcache-loads"},
		{"sched:sched_swich", "sched:sched_switch"},
		{"cs", "cs"},
		{"cycles-a-second", "cycles"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_STR(best(cases[i].typed, events, ARRAY_SIZE(events)), cases[i].meant);
}

TEST(nearest_does_not_guess_wildly)
{
	static const char *const typed[] = {"", "c", "x", "cx", "xy", "frobnicate", "zzzzzz",
		"cyxxxx", "1234"};

	for (size_t i = 0; i < ARRAY_SIZE(typed); i++)
		CHECK_STR(best(typed[i], events, ARRAY_SIZE(events)), "nothing");
	CHECK_STR(best("cycles", NULL, 0), "nothing");
}

TEST(nearest_counts_edits)
{
	static const struct {
		const char *typed, *name;
		unsigned distance;
	} cases[] = {
		{"abcdef", "abcdef", 0},
		{"ABCDEF", "abcdef", 0},
		{"abcdef", "abcdeg", 1},
		{"abcdef", "bcdef", 1},
		{"bcdef", "abcdef", 1},
		{"abcdef", "badcef", 2},
		{"abcdef", "bacdef", 1},
		{"abc", "abcdefghijkl", 1}, /* a beginning is one mistake */
		{"aabbcc", "abc", 99},      /* three of six is too much */
		{"abcdefghi", "abcxyzghi", 3},
		{"abcdefgh", "abcxyzgh", 99},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nearest near = {.typed = cases[i].typed, .distance = 99};

		nearest_offer(&near, cases[i].name);
		CHECK_EQ(near.distance, cases[i].distance);
		CHECK_EQ(near.best == cases[i].name, cases[i].distance < 99);
	}
}

TEST(nearest_prefers_the_smallest_distance_then_the_first)
{
	static const char *const names[] = {"abcdxx", "abcdex", "abcdey", "abcdxy"};
	static const char *const exact[] = {"abcdefgh", "abc"};

	CHECK_STR(best("abcdef", names, ARRAY_SIZE(names)), "abcdex");
	CHECK_STR(best("abc", exact, ARRAY_SIZE(exact)), "abc");
}

TEST(nearest_ignores_overlong_names)
{
	char long_name[66], longer_name[66];

	memset(long_name, 'a', sizeof(long_name));
	memcpy(longer_name, long_name, sizeof(longer_name));
	long_name[64] = '\0';
	longer_name[65] = '\0';
	CHECK_STR(best(long_name, (const char *const[]){long_name}, 1), long_name);
	CHECK_STR(best(longer_name, (const char *const[]){long_name}, 1), "nothing");
	CHECK_STR(best(long_name, (const char *const[]){longer_name}, 1), "nothing");
}

TEST(nearest_hint_is_a_clause_or_nothing)
{
	struct nearest near = {.typed = "cycels"};
	struct str text = {0};

	str_add(&text, "no");
	nearest_add_hint(&near, &text);
	CHECK_STR(str_text(&text), "no");
	nearest_offer(&near, "cycles");
	nearest_add_hint(&near, &text);
	CHECK_STR(str_text(&text), "no; did you mean 'cycles'?");
	str_fini(&text);
}
