#include "profile/rows/batchmeans.h"

#include <math.h>

#define NORMAL 1.959964 /* a normal variable exceeds this, in either direction, with 5 % */
/* Even blocks of independent samples often show this much more variance, which is estimated from 64 blocks. */
#define BY_CHANCE 1.2

void batchmeans_end_block(struct batchmeans *d, double expected)
{
	double off = d->now - expected;

	if (d->n_blocks++)
		d->squares += (off - d->before) * (off - d->before);
	d->before = off;
	d->now = 0;
}

double batchmeans_variance(const struct batchmeans *d)
{
	/* A step has the variance of two blocks. */
	return d->n_blocks < 2 ? 0 : d->squares / 2 * d->n_blocks / (d->n_blocks - 1);
}

double batchmeans_freedom(u32 n_blocks)
{
	double n = n_blocks;

	/* Steps that share a block are not independent of each other. */
	return n_blocks < 2 ? INFINITY : 2 * (n - 1) * (n - 1) / (3 * n - 4);
}

struct batchmeans_range batchmeans_range(double share, double variance, u64 n_samples, double t)
{
	double n = (double)n_samples, spread = share * (1 - share), middle, half;

	if (!n_samples)
		return (struct batchmeans_range){0, 1};
	/* Unless blocks vary clearly more, the variance is that of independent samples. */
	if (variance * n > BY_CHANCE * spread && spread > 0)
		n = spread / variance;
	else
		t = NORMAL;
	middle = (share + t * t / (2 * n)) / (1 + t * t / n);
	half = t * sqrt(spread / n + t * t / (4 * n * n)) / (1 + t * t / n);
	return (struct batchmeans_range){fmax(middle - half, 0), fmin(middle + half, 1)};
}
