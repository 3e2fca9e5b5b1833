#include "profile/maths/signflip.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	EXACT = 14,   /* up to so many differences all signs are tried */
	UNITS = 2048, /* the sum of more of them, rounded to whole ones */
	STEPS = 30,   /* of bisection */
};

/* Of a normal distribution's deviation the median distance from the median is this part. */
static const double MIDDLE = 0.6745;

/* A difference counts for so many times the middle one at most. */
static const double MOST = 1.5;

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), ascending);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double signflip_least_p(size_t n)
{
	return ldexp(1, 1 - (int)n);
}

/* Caps magnitudes. The middle one is that of those that are not 0: times that a clock counts in ticks are often equal. */
static void cap(double *magnitudes, const double *x, size_t n)
{
	double limit;
	size_t n_others = 0;

	for (size_t i = 0; i < n; i++)
		if (x[i] != 0)
			magnitudes[n_others++] = fabs(x[i]);
	limit = n_others ? MOST * median(magnitudes, n_others) : 0;
	for (size_t i = 0; i < n; i++)
		magnitudes[i] = fmin(fabs(x[i]), limit);
}

/* The share of sign patterns whose sum is at least as far from zero as that of x. */
static double share_of_all(const double *magnitudes, const double *x, size_t n)
{
	double seen = 0;
	u64 n_beyond = 0;

	for (size_t i = 0; i < n; i++)
		seen += x[i] < 0 ? -magnitudes[i] : magnitudes[i];
	seen = fabs(seen) * (1 - 1e-12);
	for (u64 signs = 0; signs < (u64)1 << n; signs++) {
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += signs >> i & 1 ? magnitudes[i] : -magnitudes[i];
		n_beyond += fabs(sum) >= seen;
	}
	return ldexp((double)n_beyond, -(int)n);
}

/*
 * The same, of magnitudes rounded to units, which is as exact a test: how likely each sum of those that are positive
 * is, with one more of them at a time.
 */
static double share_by_sums(const double *magnitudes, const double *x, size_t n)
{
	double *likely, all = 0, p = 0;
	long seen = 0, most = 0;

	for (size_t i = 0; i < n; i++)
		all += magnitudes[i];
	if (all <= 0)
		return 1;
	likely = mem_zalloc((UNITS + n + 1) * sizeof(*likely));
	likely[0] = 1;
	for (size_t i = 0; i < n; i++) {
		const long units = lround(magnitudes[i] * UNITS / all);

		seen += x[i] < 0 ? -units : units;
		most += units;
		for (long sum = most; sum >= 0; sum--)
			likely[sum] = (likely[sum] + (sum >= units ? likely[sum - units] : 0)) / 2;
	}
	for (long sum = 0; sum <= most; sum++)
		if (labs(2 * sum - most) >= labs(seen))
			p += likely[sum];
	mem_free(likely);
	return fmin(p, 1);
}

double signflip_p(const double *x, size_t n, double shift)
{
	double *moved = mem_alloc(n * sizeof(*moved)), *magnitudes = mem_alloc(n * sizeof(*moved));
	double p;

	for (size_t i = 0; i < n; i++)
		moved[i] = x[i] - shift;
	cap(magnitudes, moved, n);
	p = (n <= EXACT ? share_of_all : share_by_sums)(magnitudes, moved, n);
	mem_free(moved);
	mem_free(magnitudes);
	return p;
}

double signflip_location(const double *x, size_t n)
{
	const size_t n_means = n * (n + 1) / 2;
	double *means = mem_alloc(n_means * sizeof(*means)), result;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			means[k++] = (x[i] + x[j]) / 2;
	result = median(means, n_means);
	mem_free(means);
	return result;
}

static double deviation(const double *x, size_t n, double middle)
{
	double *distances = mem_alloc(n * sizeof(*distances)), squares = 0, result;

	for (size_t i = 0; i < n; i++) {
		distances[i] = fabs(x[i] - middle);
		squares += distances[i] * distances[i];
	}
	result = median(distances, n) / MIDDLE;
	mem_free(distances);
	/* More than half of them are the same: it says nothing of the others. */
	return result > 0 ? result : sqrt(squares / (double)n);
}

double signflip_noise(const double *x, size_t n)
{
	return deviation(x, n, 0);
}

/* The shift nearest to `out` that is not rejected, between one that is not and one that is. */
static double edge(const double *x, size_t n, double in, double out, double error)
{
	for (int i = 0; i < STEPS; i++) {
		const double middle = (in + out) / 2;

		if (signflip_p(x, n, middle) > error)
			in = middle;
		else
			out = middle;
	}
	return in;
}

struct signflip signflip_test(const double *x, size_t n, double error)
{
	struct signflip s = {.p = signflip_p(x, n, 0),
		.estimate = signflip_location(x, n),
		.low = -INFINITY,
		.high = INFINITY};
	double least = x[0], most = x[0];

	s.noise = deviation(x, n, s.estimate);
	if (signflip_least_p(n) > error)
		return s;
	for (size_t i = 1; i < n; i++) {
		least = fmin(least, x[i]);
		most = fmax(most, x[i]);
	}
	/* Beyond all differences every one has the same sign. */
	s.low = edge(x, n, s.estimate, least - 1e-9 - fabs(least) * 1e-9, error);
	s.high = edge(x, n, s.estimate, most + 1e-9 + fabs(most) * 1e-9, error);
	return s;
}
