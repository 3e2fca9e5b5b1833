#include "test.h"

#include "profile/code/excerpt.h"

static void add(excerpt_list *parts, u64 from, u64 to, u64 n_samples)
{
	vec_add(parts, ((struct excerpt_part){from, to, n_samples}));
}

TEST(excerpt_of_a_function_has_the_samples_of_all_its_places)
{
	excerpt_list parts = {0};

	excerpt_sort(&parts);
	CHECK_EQ(parts.n, 0);
	add(&parts, 200, 300, 1);
	add(&parts, 100, 150, 2);
	add(&parts, 200, 300, 4);
	add(&parts, 200, 250, 8);
	excerpt_sort(&parts);
	CHECK_EQ(parts.n, 3);
	CHECK(parts.at[0].from == 100 && parts.at[0].n_samples == 2);
	CHECK(parts.at[1].to == 250 && parts.at[1].n_samples == 8);
	CHECK(parts.at[2].to == 300 && parts.at[2].n_samples == 5);
	vec_fini(&parts);
}

TEST(excerpt_takes_the_hottest_code_as_long_as_there_is_room)
{
	excerpt_list all = {0};

	CHECK_EQ(excerpt_least(&all, 0, 0), 1);
	for (u64 i = 0; i < 100; i++)
		add(&all, i * 100, i * 100 + 10, i % 10);
	/* What was sampled, and nothing else: 90 functions of 10 bytes. */
	CHECK_EQ(excerpt_least(&all, 1000000, 900), 1);
	CHECK_EQ(excerpt_least(&all, 1000000, 899), 2);
	CHECK_EQ(excerpt_least(&all, 1000000, 200), 8);
	/* Of functions with as many samples all or none. */
	CHECK_EQ(excerpt_least(&all, 1000000, 199), 9);
	CHECK_EQ(excerpt_least(&all, 1000000, 0), 1000001);
	vec_fini(&all);
}

TEST(excerpt_has_the_code_of_one_sample_in_five_hundred_in_any_case)
{
	excerpt_list all = {0};

	add(&all, 0, 1 << 20, 5);
	add(&all, 0, 1 << 20, 4);
	CHECK_EQ(excerpt_least(&all, 2500, 10), 5);
	CHECK_EQ(excerpt_least(&all, 2001, 10), 5);
	CHECK_EQ(excerpt_least(&all, 2000, 10), 1);
	vec_fini(&all);
}

TEST(excerpt_pieces_that_touch_or_overlap_are_one)
{
	excerpt_list parts = {0};

	add(&parts, 0, 10, 3);
	add(&parts, 10, 20, 3);
	add(&parts, 15, 18, 3);
	add(&parts, 20, 30, 2);
	add(&parts, 31, 40, 7);
	excerpt_keep(&parts, 3);
	CHECK_EQ(parts.n, 2);
	CHECK(parts.at[0].from == 0 && parts.at[0].to == 20 && parts.at[0].n_samples == 9);
	CHECK(parts.at[1].from == 31 && parts.at[1].to == 40 && parts.at[1].n_samples == 7);
	vec_fini(&parts);
}
