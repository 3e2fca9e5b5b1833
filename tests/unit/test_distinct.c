#include "test.h"

#include "base/distinct.h"
#include "base/str.h"

TEST(distinct_numbers_strings_in_the_order_in_which_they_came)
{
	struct distinct d = {0};

	CHECK_EQ(distinct_add_text(&d, ""), 0);
	CHECK_EQ(distinct_add_text(&d, "main"), 1);
	CHECK_EQ(distinct_add_text(&d, "mai"), 2);
	CHECK_EQ(distinct_add_text(&d, "main"), 1);
	CHECK_EQ(distinct_add(&d, NULL, 0), 0);
	CHECK_EQ(d.items.n, 3);
	CHECK_STR(d.items.at[2].at, "mai");
	distinct_fini(&d);
}

/* Encoded messages have any bytes. */
TEST(distinct_tells_strings_apart_that_differ_behind_a_nul)
{
	struct distinct d = {0};

	CHECK_EQ(distinct_add(&d, "a\0b", 3), 0);
	CHECK_EQ(distinct_add(&d, "a\0c", 3), 1);
	CHECK_EQ(distinct_add(&d, "a", 1), 2);
	CHECK_EQ(distinct_add(&d, "a\0", 2), 3);
	CHECK_EQ(distinct_add(&d, "a\0c", 3), 1);
	CHECK_EQ(d.items.at[1].n, 3);
	CHECK(!memcmp(d.items.at[1].at, "a\0c", 3));
	distinct_fini(&d);
}

TEST(distinct_keeps_what_many_strings_are)
{
	struct distinct d = {0};
	struct str text = {0};

	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 10000; i++) {
			str_clear(&text);
			str_addf(&text, "function_%u", i);
			CHECK_EQ(distinct_add_text(&d, text.at), i);
		}
	CHECK_STR(d.items.at[9999].at, "function_9999");
	CHECK_STR(d.items.at[0].at, "function_0");
	str_fini(&text);
	distinct_fini(&d);
}
