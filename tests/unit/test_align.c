#include "test.h"

#include "profile/maths/align.h"
#include "unit/recording.h"

enum { LONGEST = 40 };

/* The length of the longest common subsequence, by the table that everybody knows. */
static u32 longest(const u64 *a, u32 n, const u64 *b, u32 m)
{
	u32 table[LONGEST + 1][LONGEST + 1] = {0};

	for (u32 i = 1; i <= n; i++)
		for (u32 k = 1; k <= m; k++)
			table[i][k] = a[i - 1] == b[k - 1] ? table[i - 1][k - 1] + 1
							   : MAX(table[i - 1][k], table[i][k - 1]);
	return table[n][m];
}

static void check_pairs(const struct align *align, const u64 *a, u32 n, const u64 *b, u32 m)
{
	for (size_t i = 0; i < align->pairs.n; i++) {
		const struct align_pair *p = &align->pairs.at[i];

		CHECK(p->a < n && p->b < m && a[p->a] == b[p->b]);
		CHECK(!i || (p->a > p[-1].a && p->b > p[-1].b));
	}
}

TEST(align_finds_the_longest_common_subsequence)
{
	u64 state = 1, a[LONGEST], b[LONGEST];

	for (u32 round = 0; round < 3000; round++) {
		u32 n = (u32)recording_below(&state, LONGEST + 1),
		    m = (u32)recording_below(&state, LONGEST + 1);
		u64 kinds = 1 + recording_below(&state, 8);
		struct align align = {0};

		for (u32 i = 0; i < n; i++)
			a[i] = recording_below(&state, kinds);
		for (u32 i = 0; i < m; i++)
			b[i] = recording_below(&state, kinds);
		align_add(&align, a, n, b, m);
		check_pairs(&align, a, n, b, m);
		CHECK_EQ(align.pairs.n, longest(a, n, b, m));
		align_fini(&align);
	}
}

TEST(align_of_sequences_with_nothing_in_common_ends_soon)
{
	enum { N = 20000 };
	u64 *a = mem_alloc(N * sizeof(*a)), *b = mem_alloc(N * sizeof(*b));
	struct align align = {0};

	for (u64 i = 0; i < N; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 1;
	}
	/* In the middle of it something is alike. */
	for (u64 i = 9000; i < 9100; i++)
		b[i + 50] = a[i];
	align_add(&align, a, N, b, N);
	check_pairs(&align, a, N, b, N);
	CHECK(align.pairs.n <= 100);
	align_fini(&align);
	mem_free(a);
	mem_free(b);
}
