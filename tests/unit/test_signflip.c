#include "test.h"

#include <math.h>

#include "base/random.h"
#include "profile/maths/signflip.h"

/* Roughly normal, deviation 1. */
static double noise(struct random *r)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(r) >> 11) / 9007199254740992.;
	return sum - 6;
}

/* Runs are disturbed now and then, and then much slower. */
static double disturbed(struct random *r)
{
	return random_below(r, 8) ? noise(r) : noise(r) + 20;
}

/* How many of 1000 tests of n differences with that shift have p <= 0.05. */
static unsigned count_found(double (*draw)(struct random *), size_t n, double shift, u64 seed)
{
	struct random r = {seed};
	unsigned found = 0;

	for (int trial = 0; trial < 1000; trial++) {
		double x[20];

		for (size_t i = 0; i < n; i++)
			x[i] = draw(&r) - draw(&r) + shift;
		found += signflip_p(x, n, 0) <= 0.05;
	}
	return found;
}

TEST(signflip_is_by_hand_what_it_says)
{
	const double x[] = {1, 2, 3, 4, 5, 6}, mixed[] = {3, -3, 3, -3};

	/* Of 64 patterns two lead as far. */
	CHECK(fabs(signflip_p(x, 6, 0) - 2. / 64) < 1e-12);
	CHECK(signflip_p(mixed, 4, 0) == 1);
	CHECK(fabs(signflip_least_p(6) - 2. / 64) < 1e-12);
	CHECK(fabs(signflip_test(x, 6, 0.05).estimate - 3.5) < 1e-12);
}

TEST(signflip_errs_as_often_as_it_says_whatever_the_noise)
{
	/* 50 of 1000 are expected, 7 is the deviation. */
	CHECK(count_found(noise, 10, 0, 1) <= 75);
	CHECK(count_found(disturbed, 10, 0, 2) <= 75);
	CHECK(count_found(disturbed, 7, 0, 3) <= 75);
	CHECK(count_found(noise, 18, 0, 4) <= 75);
	CHECK(count_found(noise, 10, 0, 5) >= 25);
}

TEST(signflip_of_many_differences_is_that_of_all_signs)
{
	enum { N = 18 };
	struct random r = {11};

	for (int trial = 0; trial < 20; trial++) {
		double x[N], seen = 0, sum;
		u64 n_beyond = 0;

		/* None is beyond the cap, all are whole units. */
		for (size_t i = 0; i < N; i++) {
			x[i] = (100. + (double)random_below(&r, 20)) *
				(random_below(&r, 4) ? 1 : -1);
			seen += x[i];
		}
		for (u64 signs = 0; signs < (u64)1 << N; signs++) {
			sum = 0;
			for (size_t i = 0; i < N; i++)
				sum += signs >> i & 1 ? fabs(x[i]) : -fabs(x[i]);
			n_beyond += fabs(sum) >= fabs(seen);
		}
		/* Rounded, sums that are nearly the same may change places. */
		CHECK(fabs(signflip_p(x, N, 0) - ldexp((double)n_beyond, -N)) <
			0.002 + 0.1 * ldexp((double)n_beyond, -N));
	}
}

TEST(signflip_finds_differences_although_runs_are_disturbed)
{
	CHECK(count_found(noise, 10, 2, 1) >= 950);
	/* Of each 20 differences five are disturbed. */
	CHECK(count_found(disturbed, 20, 4, 2) >= 800);
}

TEST(signflip_intervals_hold_the_truth)
{
	struct random r = {9};
	unsigned held = 0;

	for (int trial = 0; trial < 300; trial++) {
		double x[10];
		struct signflip s;

		for (size_t i = 0; i < 10; i++)
			x[i] = noise(&r) + 5;
		s = signflip_test(x, 10, 0.05);
		CHECK(s.low <= s.estimate && s.estimate <= s.high);
		held += s.low <= 5 && 5 <= s.high;
	}
	CHECK(held >= 275);
}

TEST(signflip_counts_differences_of_ticks_of_which_most_are_none)
{
	const double x[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, none[] = {0, 0, 0, 0, 0, 0, 0};

	/* Of the 64 patterns of those that differ two lead as far. */
	CHECK(fabs(signflip_p(x, ARRAY_SIZE(x), 0) - 2. / 64) < 1e-12);
	CHECK(fabs(signflip_noise(x, ARRAY_SIZE(x)) - sqrt(6. / 13)) < 1e-12);
	CHECK(signflip_p(none, ARRAY_SIZE(none), 0) == 1);
	CHECK(signflip_noise(none, ARRAY_SIZE(none)) == 0);
}

TEST(signflip_says_that_few_differences_show_nothing)
{
	const double x[] = {5, 5.1, 5.2};
	const struct signflip s = signflip_test(x, 3, 0.05);

	CHECK(s.p == 0.25);
	CHECK(isinf(s.low) && isinf(s.high));
}
