#include "test.h"

#include <math.h>

#include "collect/run/condition.h"

enum { MS = 1000000 };

TEST(condition_has_names_comparisons_numbers_and_durations)
{
	struct condition c;
	struct err err;

	CHECK_EQ(
		condition_parse(&c,
			"ipc<0.5 for 50ms and cpu-util >= 80% and  page-faults/s>1000 for 1.5s and cycles:u/s<=3",
			&err),
		0);
	CHECK_EQ(c.terms.n, 4);
	CHECK_EQ(c.terms.at[0].kind, CONDITION_IPC);
	CHECK_EQ(c.terms.at[0].op, CONDITION_LESS);
	CHECK(c.terms.at[0].limit == 0.5);
	CHECK_EQ(c.terms.at[0].hold_ns, 50 * MS);
	CHECK_EQ(c.terms.at[1].kind, CONDITION_UTIL);
	CHECK_EQ(c.terms.at[1].op, CONDITION_AT_LEAST);
	CHECK(c.terms.at[1].limit == 0.8);
	CHECK_EQ(c.terms.at[1].hold_ns, 0);
	CHECK_EQ(c.terms.at[2].kind, CONDITION_RATE);
	CHECK_STR(c.terms.at[2].name, "page-faults");
	CHECK_EQ(c.terms.at[2].hold_ns, 1500 * (u64)MS);
	CHECK_STR(c.terms.at[3].name, "cycles:u");
	CHECK_EQ(c.terms.at[3].op, CONDITION_AT_MOST);
	condition_fini(&c);
}

TEST(condition_tells_where_it_is_wrong)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *what;
	} cases[] = {
		{"", 1, "a comparison is missing"},
		{"page-faults/s", 1, "a comparison is missing"},
		{"page-faults/s=3", 1, "a comparison is missing"},
		{" <3", 2, "a name is missing"},
		{"page-faults>3", 1, "needs /s"},
		{"ipc/s>3", 1, "have no /s"},
		{"ipc>", 5, "a number is missing"},
		{"ipc>x", 5, "a number is missing"},
		{"ipc>1.2.3", 5, "a number is missing"},
		{"ipc>-1", 5, "a number is missing"},
		{"ipc>80%", 7, "only cpu-util"},
		{"ipc>1 for", 7, "'and' or the end"},
		{"ipc>1 for x", 11, "a duration is missing"},
		{"ipc>1 for 5", 12, "unit ms or s"},
		{"ipc>1 for 5m", 12, "unit ms or s"},
		{"ipc>1 for 99999999s", 19, "a duration is missing"},
		{"ipc>1 or ipc<2", 7, "'and' or the end"},
		{"ipc>1 and", 7, "'and' or the end"},
		{"ipc>1 and ", 11, "a comparison is missing"},
		{"ipc>1 and ipc", 11, "a comparison is missing"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct condition c;
		struct err err = {0};
		char column[32];

		if (condition_parse(&c, cases[i].text, &err) != ERR_INVAL)
			test_failed(__FILE__, __LINE__, "'%s' is taken", cases[i].text);
		snprintf(column, sizeof(column), "column %u:", cases[i].column);
		if (!strstr(err.msg, column) || !strstr(err.msg, cases[i].what))
			test_failed(__FILE__, __LINE__, "'%s' expected, of '%s' it is: %s", column,
				cases[i].text, err.msg);
	}
}

TEST(condition_fires_when_it_begins_to_hold_and_again_when_it_was_false)
{
	static const double values[] = {0, 9, 9, 0, 9};
	static const bool fires[] = {false, true, false, false, true};
	struct condition c;
	struct err err;

	CHECK_EQ(condition_parse(&c, "page-faults/s>1", &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		CHECK_EQ(condition_look(&c, i * MS, &values[i]), fires[i]);
	condition_fini(&c);
}

TEST(condition_with_a_duration_must_hold_at_every_look_of_it)
{
	struct condition c;
	struct err err;
	double more = 2, less = 0, none = NAN;

	CHECK_EQ(condition_parse(&c, "ipc>1 for 30ms", &err), 0);
	CHECK(!condition_look(&c, 10 * MS, &more));
	CHECK(!condition_look(&c, 30 * MS, &more));
	CHECK(!condition_look(&c, 40 * MS, &less));
	CHECK(!condition_look(&c, 50 * MS, &more));
	/* What was not counted is neither more nor less. */
	CHECK(!condition_look(&c, 60 * MS, &none));
	CHECK(!condition_look(&c, 70 * MS, &more));
	CHECK(!condition_look(&c, 99 * MS, &more));
	CHECK(condition_look(&c, 100 * MS, &more));
	condition_fini(&c);
}

TEST(condition_of_several_needs_all_at_once_and_tells_what_they_were)
{
	struct condition c;
	struct err err;
	struct str text = {0};

	CHECK_EQ(condition_parse(&c, "ipc<1 and cpu-util>80% and faults/s>=10", &err), 0);
	CHECK(!condition_look(&c, 0, (double[]){0.5, 0.9, 9}));
	CHECK(!condition_look(&c, 1, (double[]){1.0, 0.9, 10}));
	CHECK(condition_look(&c, 2, (double[]){0.5, 0.9, 10}));
	condition_add_values(&c, &text);
	CHECK_STR(str_text(&text), "ipc 0.500, cpu-util 90.0%, faults/s 10.0");
	str_fini(&text);
	condition_fini(&c);
}
