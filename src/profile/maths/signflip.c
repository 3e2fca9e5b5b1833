#include "profile/maths/signflip.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"

enum {
	EXACT = 14,      /* up to so many differences all signs are tried */
	DRAWN = 1 << 14, /* else so many */
	STEPS = 40,      /* of bisection */
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
	return n <= EXACT ? ldexp(1, 1 - (int)n) : 1. / DRAWN;
}

/* Caps magnitudes. */
static void cap(double *magnitudes, const double *x, size_t n)
{
	double limit;

	for (size_t i = 0; i < n; i++)
		magnitudes[i] = fabs(x[i]);
	limit = MOST * median(magnitudes, n);
	for (size_t i = 0; i < n; i++)
		magnitudes[i] = fmin(fabs(x[i]), limit);
}

/* The share of sign patterns whose sum is at least as far from zero as `seen`. */
static double share_beyond(const double *magnitudes, size_t n, double seen)
{
	const double least = seen * (1 - 1e-12);
	struct random random = {0x70616365};
	u64 n_beyond = 0, n_all = n <= EXACT ? (u64)1 << n : DRAWN;

	for (u64 k = 0; k < n_all; k++) {
		double sum = 0;
		u64 signs = k;

		for (size_t i = 0; i < n; i++, signs >>= 1) {
			if (n > EXACT && i % 64 == 0)
				signs = random_next(&random);
			sum += signs & 1 ? magnitudes[i] : -magnitudes[i];
		}
		n_beyond += fabs(sum) >= least;
	}
	/* What was seen is one of the patterns. */
	return n <= EXACT ? (double)n_beyond / (double)n_all
			  : ((double)n_beyond + 1) / ((double)n_all + 1);
}

double signflip_p(const double *x, size_t n, double shift)
{
	double *moved = mem_alloc(n * sizeof(*moved)), *magnitudes = mem_alloc(n * sizeof(*moved));
	double seen = 0, p;

	for (size_t i = 0; i < n; i++)
		moved[i] = x[i] - shift;
	cap(magnitudes, moved, n);
	for (size_t i = 0; i < n; i++)
		seen += moved[i] < 0 ? -magnitudes[i] : magnitudes[i];
	p = share_beyond(magnitudes, n, fabs(seen));
	mem_free(moved);
	mem_free(magnitudes);
	return p;
}

/* The median of the means of all pairs. */
static double location(const double *x, size_t n)
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
	double *distances = mem_alloc(n * sizeof(*distances)), result;

	for (size_t i = 0; i < n; i++)
		distances[i] = fabs(x[i] - middle);
	result = median(distances, n) / MIDDLE;
	mem_free(distances);
	return result;
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
		.estimate = location(x, n),
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
