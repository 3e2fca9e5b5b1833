#include "test.h"

#include <math.h>

#include "base/random.h"
#include "profile/diff/gating.h"

static const struct gating_options usual = {0.05, 0.01, 0};

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

/* Roughly normal, deviation 1. */
static double drawn(struct random *r)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(r) >> 11) / 9007199254740992.;
	return sum - 6;
}

/* What becomes of 200 gates whose rounds the noise decides. */
struct many {
	unsigned n_different;
	double rounds; /* mean */
};

static struct many many_gates(double noise, double change, u64 seed)
{
	enum { GATES = 200, LEAST = 10, MOST = 30 };
	static const struct gating_options finding = {0.05, 0, 0.02};
	struct random r = {seed};
	struct many m = {0};

	for (int i = 0; i < GATES; i++) {
		double before[MOST], after[MOST];
		struct significance none = {.sum = {1, 1}};
		struct gating g;
		bool is_enough = false;
		size_t n = 0;

		while (n < MOST && !is_enough) {
			before[n] = 100 * exp(noise / sqrt(2) * drawn(&r));
			after[n] = 100 * exp(change + noise / sqrt(2) * drawn(&r));
			n++;
			is_enough = n >= LEAST &&
				gating_is_enough(&finding, before, after, n, n == LEAST);
		}
		gating_init(&g, &finding, before, after, n, &none, 0.025);
		m.n_different += gating_verdict(&g) != GATING_SAME;
		m.rounds += (double)n / GATES;
		gating_fini(&g);
	}
	return m;
}

TEST(gating_errs_no_more_often_where_noise_decides_how_many_rounds_there_are)
{
	/* Half of 5 % is for the whole: 5 of 200 are expected, 2 is the deviation. */
	CHECK(many_gates(0.005, 0, 1).n_different <= 12);
	CHECK(many_gates(0.02, 0, 2).n_different <= 12);
	CHECK(many_gates(0.03, 0, 3).n_different <= 12);
	CHECK(many_gates(0.1, 0, 4).n_different <= 12);
}

TEST(gating_makes_rounds_until_noise_hides_no_more_than_is_to_be_found)
{
	CHECK(many_gates(0.005, 0, 1).rounds < 10.5);
	CHECK(many_gates(0.03, 0, 2).rounds > 20);
	CHECK(many_gates(0.1, 0, 3).rounds > 29);
	/* What is clear after the first ones needs no more, however much it is. */
	CHECK(many_gates(0.03, 0.3, 4).rounds < 10.5);
	/* Nine of ten. */
	CHECK(many_gates(0.015, 0.02, 5).n_different >= 168);
	CHECK(many_gates(0.02, 0.02, 6).n_different >= 168);
}

TEST(gating_names_functions_more_readily_once_the_whole_differs)
{
	const double base[] = {100, 101, 99, 100, 102, 98, 100, 101},
		     slow[] = {105, 106, 104, 105, 107, 103, 105, 106};
	struct significance j;
	struct gating g;

	judge(&j, 5, 3, 3, 0.04);
	gating_init(&g, &usual, base, slow, 8, &j, 0.025);
	CHECK_EQ(g.functions.n, 1);
	gating_fini(&g);
	gating_init(&g, &usual, base, base, 8, &j, 0.025);
	CHECK_EQ(g.functions.n, 0);
	gating_fini(&g);
	significance_fini(&j);
}
