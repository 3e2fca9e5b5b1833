/* pieces: nested ranges in any order come to the same row; what begins last holds. */
#include <stdio.h>

#include "symbol/dwarf/intervalmap.h"
#include "test.h"

/* "10:1 20:2 30:0", of ranges in the order they are given in. */
static const char *row_of(const struct range *ranges, size_t n)
{
	static char text[1024];
	range_list list = {0};
	interval_list pieces = {0};
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		vec_add(&list, ranges[i]);
	intervalmap_of(&list, &pieces);
	*text = '\0';
	vec_each(p, &pieces)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%llu:%u", at ? " " : "",
			(unsigned long long)p->start, p->value);
	vec_fini(&list);
	vec_fini(&pieces);
	return text;
}

TEST(intervalmap_of_nested_ranges_have_the_innermost)
{
	static const struct range nested[] = {{10, 100, 1}, {20, 50, 2}, {30, 40, 3}, {60, 70, 4}};

	CHECK_STR(row_of(nested, 4), "10:1 20:2 30:3 40:2 50:1 60:4 70:1 100:0");
	CHECK_STR(row_of(nested, 0), "");
}

TEST(intervalmap_are_the_same_in_whatever_order_ranges_come)
{
	static const struct range in_order[] = {{10, 100, 1}, {10, 60, 2}, {10, 30, 5}, {40, 50, 3},
		{40, 45, 4}, {200, 210, 6}};
	const char *expected = "10:5 30:2 40:4 45:3 50:2 60:1 100:0 200:6 210:0";
	u32 seed = 1;

	CHECK_STR(row_of(in_order, 6), expected);
	for (int round = 0; round < 200; round++) {
		struct range mixed[6];

		memcpy(mixed, in_order, sizeof(mixed));
		for (u32 i = 5; i > 0; i--) {
			u32 k = (seed = seed * 1664525 + 1013904223) >> 16;
			struct range r = mixed[i];

			mixed[i] = mixed[k % (i + 1)];
			mixed[k % (i + 1)] = r;
		}
		CHECK_STR(row_of(mixed, 6), expected);
	}
}

TEST(intervalmap_reach_to_the_ends_of_the_space)
{
	static const struct range ends[] = {{UINT64_MAX - 1, UINT64_MAX, 2}, {0, 1, 1}};

	CHECK_STR(row_of(ends, 2), "0:1 1:0 18446744073709551614:2 18446744073709551615:0");
}
