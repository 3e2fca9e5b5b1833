#include "base/search.h"

#include "test.h"

TEST(search_finds_the_first_behind_and_the_first_from)
{
	static const struct {
		u64 start;
		u32 other;
	} at[] = {{3, 0}, {5, 1}, {5, 2}, {9, 3}, {UINT64_MAX, 4}};
	size_t n = ARRAY_SIZE(at), each = sizeof(at[0]);

	for (u64 v = 0; v < 12; v++) {
		size_t behind = 0, from = 0;

		while (behind < n && at[behind].start <= v)
			behind++;
		while (from < n && at[from].start < v)
			from++;
		CHECK_EQ(search_behind(&at[0].start, n, each, v), behind);
		CHECK_EQ(search_from(&at[0].start, n, each, v), from);
	}
	CHECK_EQ(search_behind(&at[0].start, n, each, UINT64_MAX), n);
	CHECK_EQ(search_from(&at[0].start, n, each, UINT64_MAX), n - 1);
	CHECK_EQ(search_behind(NULL, 0, each, 7), 0);
	CHECK_EQ(search_from(NULL, 0, each, 7), 0);
}
