#include "profile/check/assertion.h"

#include "test.h"

/* share(NAME) is as many percent as the name is long, samples 1000, lost 1. */
static double value(void *ctx, enum assertion_word word, const char *name)
{
	(void)ctx;
	return word == ASSERTION_SAMPLES ? 1000
		: word == ASSERTION_LOST ? 1
		: name                   ? strlen(name)
					 : 0;
}

static void check(const char *text, bool expected)
{
	struct assertion c;
	struct err err;

	if (assertion_parse(&c, text, &err))
		test_failed(__FILE__, __LINE__, "'%s': %s", text, err.msg);
	if (assertion_holds(&c, value, NULL, NULL) != expected)
		test_failed(__FILE__, __LINE__, "'%s' is not %d", text, expected);
	assertion_fini(&c);
}

TEST(assertion_compares_shares_and_counts)
{
	check("share(malloc)>5%", true);
	check("share(malloc) > 6%", false);
	check("share(malloc) >= 6%", true);
	check("share(malloc) < 6.5 %", true);
	check("share(malloc) <= 5.9%", false);
	check("samples == 1000", true);
	check("samples != 1000", false);
	check("lost > 0%", true);
	check("share(ab) + share(cde) - 1% == 4%", true);
	check("children(f) > share(g)", false);
}

TEST(assertion_joins_conditions_as_C_does)
{
	check("lost > 5% || samples < 2000", true);
	check("lost > 5% && samples < 2000", false);
	/* && binds more. */
	check("samples > 1 || lost > 5% && lost > 5%", true);
	check("(samples > 1 || lost > 5%) && lost > 5%", false);
	check("!(lost > 5%)", true);
	check("!samples > 1", false);
}

TEST(assertion_takes_names_as_they_are)
{
	check("share(f(int, char)) == 12%", true);
	check("share( blank ) == 5%", true);
	check("share(\"odd ( name\") == 10%", true);
	check("dso([kernel.kallsyms]) == 17%", true);
	check("comm(a b) == 3%", true);
	check("total(x) == 1% && self(yy) == 2%", true);
}

TEST(assertion_tells_the_values_that_decided)
{
	struct str said = {0};
	struct assertion c;
	struct err err;

	CHECK(!assertion_parse(&c, "share(f\033) > 0% && samples > 1", &err));
	CHECK_EQ(c.words, 1u << ASSERTION_SHARE | 1u << ASSERTION_SAMPLES);
	CHECK(assertion_holds(&c, value, NULL, &said));
	CHECK(!strchr(str_text(&said), '\033'));
	CHECK_HAS(str_text(&said), " is 2.00%, samples is 1000");
	str_fini(&said);
	assertion_fini(&c);
}

TEST(assertion_shows_where_it_is_wrong)
{
	static const struct {
		const char *text, *reason;
		int column;
	} wrong[] = {
		{"", "a value is missing here", 0},
		{"shard(f) > 5%",
			"this is none of share(NAME), children(NAME), dso(NAME), comm(NAME), nameless, lost, samples",
			0},
		{"share > 5%", "a name in parentheses is missing", 6},
		{"share() > 5%", "a name is missing here", 6},
		{"share(f > 5%", "this name has no end", 6},
		{"share(\"f) > 5%", "this quote has no end", 6},
		{"share(f)", "a comparison is missing here", 8},
		{"share(f) > 5", "one of these is a share", 9},
		{"samples > 5%", "one of these is a share", 8},
		{"share(f) + 1 > 5%", "one of these is a share", 9},
		{"share(f) > ", "a value is missing here", 11},
		{"share(f) > 5% share(g) > 1%", "only && or || can follow here", 14},
		{"(share(f) > 5%", "')' is missing", 14},
		{"share(f) > 5% && ", "a value is missing here", 17},
		{"share(f) => 5%", "a comparison is missing here", 9},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct assertion c;
		struct err err;
		char place[40];

		snprintf(place, sizeof(place), ", at character %d: '", wrong[i].column + 1);
		CHECK_EQ(assertion_parse(&c, wrong[i].text, &err), ERR_INVAL);
		CHECK_HAS(err.msg, wrong[i].reason);
		CHECK_HAS(err.msg, wrong[i].text[wrong[i].column] ? place : ", at its end");
	}
}

TEST(assertion_that_is_long_or_deep_is_refused_and_not_cut)
{
	char text[4096];
	struct assertion c;
	struct err err;

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_EQ(assertion_parse(&c, text, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "nested too deep");
	memset(text, '!', sizeof(text) - 1);
	CHECK_EQ(assertion_parse(&c, text, &err), ERR_INVAL);
	memset(text, ' ', 3000);
	strcpy(text + 3000, "share(f) > 5");
	CHECK_EQ(assertion_parse(&c, text, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "at character 3010: '> 5'");
}

TEST(assertion_patterns_have_stars)
{
	CHECK(assertion_matches("malloc", "malloc"));
	CHECK(!assertion_matches("malloc", "malloc_usable"));
	CHECK(assertion_matches("malloc*", "malloc_usable"));
	CHECK(assertion_matches("*", ""));
	CHECK(assertion_matches("std::*<*>::push*", "std::vector<int>::push_back"));
	CHECK(!assertion_matches("std::*<*>::pull*", "std::vector<int>::push_back"));
	CHECK(assertion_matches("*ab", "aab"));
}
