#include "test.h"

#include <math.h>

#include "unit/chance.h"
#include "profile/diff/versus.h"

enum { EXPERIMENTS = 200, PAIRS_MAX = 64 };

/* How the runs of a command of mean 1 are spread. */
enum noise { NORMAL, SKEWED, DISTURBED, COUNTED, DRIFTING };

static double normal(struct random *r)
{
	double u = random_share(r), v = random_share(r);

	return sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v);
}

static double draw(struct random *r, enum noise noise, size_t pair)
{
	switch (noise) {
	case NORMAL:
		return 1 + 0.02 * normal(r);
	case SKEWED:
		return 1 - 0.1 * log(1 - random_share(r));
	case DISTURBED: /* every tenth run takes up to some times as long */
		return 1 + 0.02 * normal(r) +
			(random_below(r, 10) ? 0 : -0.5 * log(1 - random_share(r)));
	case COUNTED:
		return 70 + random_below(r, 3);
	case DRIFTING: /* both of a pair get 0.5% slower each time */
		return (1 + 0.005 * (double)pair) * (1 + 0.01 * normal(r));
	}
	return 0;
}

/* One experiment; B takes `ratio` times as long as A. */
static void experiment(struct versus *v, struct random *r, enum noise noise, size_t n, double ratio)
{
	double a[PAIRS_MAX], b[PAIRS_MAX];

	for (size_t i = 0; i < n; i++) {
		a[i] = draw(r, noise, i);
		b[i] = ratio * draw(r, noise, i);
	}
	versus_make(v, a, b, n, random_next(r));
}

/* How many of 100 intervals hold the true ratio. */
static double coverage(enum noise noise, size_t n, double ratio)
{
	struct random r = {42};
	struct versus v;
	int hits = 0;

	for (int i = 0; i < EXPERIMENTS; i++) {
		experiment(&v, &r, noise, n, ratio);
		CHECK(v.has_interval);
		CHECK(v.ratio_low <= v.ratio && v.ratio <= v.ratio_high);
		hits += v.ratio_low <= ratio && ratio <= v.ratio_high;
	}
	return 100.0 * hits / EXPERIMENTS;
}

/* How many of 100 experiments end with the verdict. */
static double share_of(enum versus_verdict verdict, enum noise noise, size_t n, double ratio)
{
	struct random r = {7};
	struct versus v;
	int hits = 0;

	for (int i = 0; i < EXPERIMENTS; i++) {
		experiment(&v, &r, noise, n, ratio);
		hits += v.verdict == verdict;
	}
	return 100.0 * hits / EXPERIMENTS;
}

#define CHECK_BETWEEN(low, x, high)                                                       \
	do {                                                                              \
		double x_ = (x);                                                          \
		if (x_ < (low) || x_ > (high))                                            \
			test_failed(__FILE__, __LINE__, "%s is %g, not %g to %g", #x, x_, \
				(double)(low), (double)(high));                           \
	} while (0)

/* Of 200 experiments with 95% each, 90.4 to 99.6% come out but once in 370 times. */
TEST(versus_intervals_hold_the_truth_in_95_of_100_experiments)
{
	CHECK_BETWEEN(90.4, coverage(NORMAL, 6, 1.1), 99.6);
	CHECK_BETWEEN(90.4, coverage(NORMAL, 10, 1.1), 99.6);
	CHECK_BETWEEN(90.4, coverage(NORMAL, 40, 0.5), 99.6);
	CHECK_BETWEEN(90.4, coverage(SKEWED, 10, 1.1), 99.6);
	CHECK_BETWEEN(90.4, coverage(SKEWED, 40, 2), 99.6);
	CHECK_BETWEEN(90.4, coverage(DISTURBED, 20, 1.1), 99.6);
	CHECK_BETWEEN(90.4, coverage(DRIFTING, 20, 1.1), 99.6);
}

TEST(versus_calls_a_command_against_itself_noise)
{
	CHECK_BETWEEN(95, share_of(VERSUS_NOISE, NORMAL, 10, 1), 100);
	CHECK_BETWEEN(95, share_of(VERSUS_NOISE, NORMAL, 40, 1), 100);
	CHECK_BETWEEN(95, share_of(VERSUS_NOISE, SKEWED, 20, 1), 100);
	CHECK_BETWEEN(95, share_of(VERSUS_NOISE, DISTURBED, 20, 1), 100);
	CHECK_BETWEEN(95, share_of(VERSUS_NOISE, COUNTED, 20, 1), 100);
	CHECK_BETWEEN(95, share_of(VERSUS_NOISE, DRIFTING, 20, 1), 100);
}

TEST(versus_finds_two_percent)
{
	CHECK_BETWEEN(95, share_of(VERSUS_MORE, NORMAL, 40, 1.02), 100);
	CHECK_BETWEEN(95, share_of(VERSUS_LESS, NORMAL, 40, 0.98), 100);
	/* What disturbs every tenth run hides it no more than it must. */
	CHECK_BETWEEN(80, share_of(VERSUS_MORE, DISTURBED, 60, 1.02), 100);
	/* A drift of ten times the difference does not hide it: pairs share it. */
	CHECK_BETWEEN(95, share_of(VERSUS_MORE, DRIFTING, 40, 1.02), 100);
}

/* The mean of the same runs would make A the slower one. */
TEST(versus_is_not_moved_by_a_disturbed_run)
{
	double a[24], b[24];
	struct versus v;

	for (size_t i = 0; i < 24; i++) {
		a[i] = 100 + (double)(i % 3);
		b[i] = 105 + (double)(i % 3);
	}
	a[4] = 500;
	versus_make(&v, a, b, 24, 1);
	CHECK_EQ(v.verdict, VERSUS_MORE);
	CHECK_BETWEEN(1.04, v.ratio_low, v.ratio);
	CHECK_BETWEEN(v.ratio, v.ratio_high, 1.06);
	CHECK_EQ(v.sides[0].n_outliers, 1);
	CHECK(v.sides[0].outlier == 500);
	CHECK_EQ(v.sides[1].n_outliers, 0);
	CHECK(v.sides[0].mean > 115 && v.sides[0].most == 500);
}

TEST(versus_calls_values_that_never_change_equal_or_different_for_sure)
{
	const double few[] = {71, 71}, twice[] = {142, 142}, zero[] = {0, 0};
	const double tenths[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
		     disturbed[] = {0.1, 0.1, 9.7, 0.1, 0.1, 0.1, 0.1};
	struct versus v;

	versus_make(&v, few, few, 2, 1);
	CHECK_EQ(v.verdict, VERSUS_SAME);
	versus_make(&v, zero, zero, 2, 1);
	CHECK_EQ(v.verdict, VERSUS_SAME);
	CHECK(!v.has_ratio);
	versus_make(&v, few, twice, 2, 1);
	CHECK_EQ(v.verdict, VERSUS_MORE);
	CHECK(v.has_interval && v.ratio_low == 2 && v.ratio_high == 2 && v.diff_low == 71);
	versus_make(&v, twice, few, 2, 1);
	CHECK_EQ(v.verdict, VERSUS_LESS);
	versus_make(&v, zero, few, 2, 1);
	CHECK_EQ(v.verdict, VERSUS_MORE);
	CHECK(!v.has_ratio && v.diff_low == 71);
	/* Rounding is no difference. */
	versus_make(&v, tenths, disturbed, 7, 1);
	CHECK_EQ(v.verdict, VERSUS_NOISE);
	CHECK(v.diff == 0);
}

TEST(versus_says_nothing_of_fewer_than_six_pairs)
{
	const double a[] = {1.0, 1.1, 1.05, 1.02, 1.07, 1.01},
		     b[] = {2.0, 2.1, 2.2, 2.04, 2.3, 2.1};
	struct versus v;

	versus_make(&v, a, b, 0, 1);
	CHECK_EQ(v.verdict, VERSUS_FEW);
	versus_make(&v, a, a, 1, 1);
	CHECK_EQ(v.verdict, VERSUS_FEW);
	versus_make(&v, a, b, 2, 1);
	CHECK_EQ(v.verdict, VERSUS_FEW);
	CHECK(!v.has_interval && v.has_ratio && v.ratio > 1.9);
	CHECK(isinf(versus_precision(&v)));
	versus_make(&v, a, b, 5, 1);
	CHECK_EQ(v.verdict, VERSUS_FEW);
	versus_make(&v, a, b, 6, 1);
	CHECK_EQ(v.verdict, VERSUS_MORE);
	CHECK(versus_precision(&v) < 0.3);
}

TEST(versus_compares_counts_that_are_often_zero_by_their_difference)
{
	double a[40], b[40];
	struct versus v;

	for (size_t i = 0; i < 40; i++) {
		a[i] = i % 2;
		b[i] = 3 + (double)(i % 2);
	}
	versus_make(&v, a, b, 40, 1);
	CHECK_EQ(v.verdict, VERSUS_MORE);
	CHECK(!v.has_ratio);
	CHECK_BETWEEN(2, v.diff_low, 3);
	CHECK_BETWEEN(3, v.diff_high, 4);
	versus_make(&v, a, a, 40, 1);
	CHECK_EQ(v.verdict, VERSUS_NOISE);
}

TEST(versus_is_the_same_for_the_same_seed)
{
	struct random r = {3};
	double a[20], b[20];
	struct versus v, w;

	for (size_t i = 0; i < 20; i++) {
		a[i] = draw(&r, SKEWED, i);
		b[i] = draw(&r, SKEWED, i);
	}
	versus_make(&v, a, b, 20, 5);
	versus_make(&w, a, b, 20, 5);
	CHECK(v.diff_low == w.diff_low && v.ratio_high == w.ratio_high && v.floor == w.floor);
	versus_make(&w, a, b, 20, 6);
	CHECK(v.diff_low != w.diff_low || v.diff_high != w.diff_high);
}
