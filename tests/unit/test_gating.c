#include "test.h"

#include <math.h>

#include "profile/diff/gating.h"

static const struct gating_options usual = {0.05, 0.01};

/* A judgement for each of n rows, of a whole of 100 a run; the row that is asked for differs by `more`. */
static void judge(struct significance *j, size_t n, size_t different, double more, double q)
{
	memset(j, 0, sizeof(*j));
	j->sum[DELTA_A] = 100;
	for (size_t i = 0; i < n; i++) {
		const double mean = 100. / (double)n;

		vec_add(&j->rows,
			((struct judgement){.mean = {mean, mean + (i == different ? more : 0)},
				.ratio = 1,
				.q = i == different ? q : 0.9}));
	}
}

static enum gating_verdict verdict_of(const double *before, const double *after, size_t n,
	double more, double q)
{
	struct significance j;
	struct gating g;
	enum gating_verdict verdict;

	judge(&j, 5, 3, more, q);
	gating_init(&g, &usual, before, after, n, &j, gating_threshold(&usual, NULL, 0));
	verdict = gating_verdict(&g);
	if (g.functions.n)
		CHECK_EQ(g.functions.at[0].row, 3);
	gating_fini(&g);
	significance_fini(&j);
	return verdict;
}

TEST(gating_says_what_differs)
{
	const double base[] = {100, 101, 99, 100, 102, 98, 100, 101},
		     same[] = {101, 100, 100, 99, 101, 99, 101, 100},
		     slow[] = {105, 106, 104, 105, 107, 103, 105, 106};

	CHECK_EQ(verdict_of(base, same, 8, 0, 1), GATING_SAME);
	CHECK_EQ(verdict_of(base, slow, 8, 0, 1), GATING_SLOWER);
	CHECK_EQ(verdict_of(slow, base, 8, 0, 1), GATING_FASTER);
	/* A function that differs clearly is enough, if it is large enough. */
	CHECK_EQ(verdict_of(base, same, 8, 3, 0.001), GATING_SLOWER);
	CHECK_EQ(verdict_of(base, same, 8, -3, 0.001), GATING_FASTER);
	CHECK_EQ(verdict_of(base, same, 8, 0.5, 0.001), GATING_SAME);
	CHECK_EQ(verdict_of(base, same, 8, 3, 0.04), GATING_SAME);
	/* What is faster as a whole is not slower. */
	CHECK_EQ(verdict_of(slow, base, 8, 3, 0.001), GATING_FASTER);
}

TEST(gating_of_few_rounds_decides_nothing_about_the_whole)
{
	const double base[] = {100, 101, 99}, slow[] = {150, 151, 149};

	CHECK_EQ(verdict_of(base, slow, 3, 0, 1), GATING_SAME);
}

TEST(gating_learns_from_equal_programs_that_differed)
{
	double calm[] = {0.9, 0.4, 1, 0.7, 0.6}, wild[] = {0.9, 0.001, 1, 0.7, 0.6};
	double many[100];

	CHECK(gating_threshold(&usual, NULL, 0) == 0.025);
	CHECK(gating_threshold(&usual, calm, 5) == 0.025);
	CHECK(gating_threshold(&usual, wild, 5) < 0.001);
	/* Of a hundred, two may lie below. */
	for (size_t i = 0; i < 100; i++)
		many[i] = i < 2 ? 0.001 : 0.5;
	CHECK(gating_threshold(&usual, many, 100) == 0.025);
	many[50] = 0.01;
	CHECK(gating_threshold(&usual, many, 100) < 0.01);
}
