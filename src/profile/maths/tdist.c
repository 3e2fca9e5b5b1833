#include "profile/maths/tdist.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"

/* The continued fraction of the incomplete beta function, by the modified Lentz algorithm. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m <= 500; m++) {
		double step, numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));

		for (int half = 0; half < 2; half++) {
			d = 1 + numerator * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + numerator / c;
			c = fabs(c) < tiny ? tiny : c;
			step = c * d;
			f *= step;
			numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		}
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return f;
}

/* The regularized incomplete beta function I_x(a, b). */
static double beta_share(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	/* The fraction converges fast on one side of the middle only. */
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double tdist_both_tails(double t, double freedom)
{
	if (isinf(freedom))
		return erfc(fabs(t) / sqrt(2));
	return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double tdist_quantile(double p, double freedom)
{
	double low = 0, high = 1;

	while (tdist_both_tails(high, freedom) > p && high < 1e9)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-10 * high; i++) {
		double middle = (low + high) / 2;

		if (tdist_both_tails(middle, freedom) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double digamma(double x)
{
	double sum = 0, y;

	for (; x < 10; x++)
		sum -= 1 / x;
	y = 1 / (x * x);
	return sum + log(x) - 1 / (2 * x) - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

double trigamma(double x)
{
	double sum = 0, y;

	/* Go up to where the asymptotic series is accurate. */
	for (; x < 10; x++)
		sum += 1 / (x * x);
	y = 1 / (x * x);
	return sum + 1 / x + y / 2 +
		y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30))));
}

double trigamma_inverse(double y)
{
	double low = DBL_MIN, high = 1;

	/* trigamma() falls from infinity to 0. */
	while (trigamma(high) > y && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct ranked {
	double p;
	size_t at;
};

SORT_BY(by_p, struct ranked, p)

void false_discovery(const double *p, double *ret_q, size_t n)
{
	struct ranked *ranked = mem_alloc((n + 1) * sizeof(*ranked));
	size_t n_ranked = 0;
	double least = 1;

	for (size_t i = 0; i < n; i++) {
		ret_q[i] = NAN;
		if (!isnan(p[i]))
			ranked[n_ranked++] = (struct ranked){p[i], i};
	}
	if (n_ranked)
		qsort(ranked, n_ranked, sizeof(*ranked), by_p);
	for (size_t i = n_ranked; i-- > 0;) {
		least = fmin(least, ranked[i].p * (double)n_ranked / (double)(i + 1));
		ret_q[ranked[i].at] = least;
	}
	mem_free(ranked);
}
