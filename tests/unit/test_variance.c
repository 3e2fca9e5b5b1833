#include "test.h"

#include <math.h>

#include "profile/maths/variance.h"

static struct variance variance_of(const double *x, size_t n)
{
	struct variance s = {0};

	for (size_t i = 0; i < n; i++)
		variance_add(&s, x[i]);
	return s;
}

static bool is_near(double a, double b, double share)
{
	return fabs(a - b) <= share * fabs(b);
}

TEST(variance_knows_mean_and_deviation_of_numbers)
{
	const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct variance s = variance_of(x, 8);

	CHECK_EQ(s.n, 8);
	CHECK(is_near(s.mean, 5, 1e-12));
	/* Squared distances add up to 32, of 7 degrees of freedom. */
	CHECK(is_near(variance_deviation(&s), sqrt(32.0 / 7), 1e-12));
	CHECK(is_near(variance_error(&s), sqrt(32.0 / 7 / 8), 1e-12));
}

TEST(variance_deviates_as_perf_stat_says)
{
	/*
	 * perf 6.1's stat -r 5 --table sleep 0.1 printed these times, and
	 * "0.102306 +- 0.000851 seconds time elapsed  ( +-  0.83% )".
	 */
	const double x[] = {0.101620, 0.105704, 0.101473, 0.101378, 0.101355};
	struct variance s = variance_of(x, 5);

	CHECK(fabs(s.mean - 0.102306) < 0.6e-6);
	CHECK(fabs(variance_error(&s) - 0.000851) < 0.6e-6);
	CHECK(fabs(100 * variance_error(&s) / s.mean - 0.83) < 0.006);
}

TEST(variance_of_less_than_two_numbers_deviates_by_nothing)
{
	struct variance s = {0};

	CHECK(variance_deviation(&s) == 0 && variance_error(&s) == 0);
	variance_add(&s, 17);
	CHECK(s.mean == 17 && variance_deviation(&s) == 0 && variance_error(&s) == 0);
}

TEST(variance_is_exact_for_small_differences_of_large_numbers)
{
	struct variance s = {0};

	/* A sum of squares would have lost them: 1e18 has no room for a 1 in a double. */
	for (int i = 0; i < 1000; i++)
		variance_add(&s, 1e9 + (i & 1));
	CHECK(is_near(s.mean, 1e9 + 0.5, 1e-15));
	CHECK(is_near(variance_deviation(&s), 0.50025, 1e-4));
}

TEST(variance_of_equal_numbers_is_none)
{
	const double x[] = {3.1, 3.1, 3.1};
	struct variance s = variance_of(x, 3);

	CHECK(variance_error(&s) < 1e-15);
}

TEST(variance_widens_with_few_numbers_as_students_t_does)
{
	/* From tables of the t distribution, two-sided 95%. */
	static const struct {
		u64 n;
		double t;
	} rows[] = {{2, 12.706}, {3, 4.303}, {6, 2.571}, {11, 2.228}, {31, 2.042}, {32, 2.040},
		{41, 2.021}, {61, 2.000}, {121, 1.980}, {100001, 1.960}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (fabs(variance_t95(rows[i].n) - rows[i].t) > 0.003)
			test_failed(__FILE__, __LINE__, "of %llu numbers it is %f, not %f",
				(unsigned long long)rows[i].n, variance_t95(rows[i].n), rows[i].t);
}

TEST(variance_never_narrows_with_fewer_numbers)
{
	for (u64 n = 2; n < 1000; n++)
		CHECK(variance_t95(n) >= variance_t95(n + 1));
}
