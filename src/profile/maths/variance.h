/*
 * variance.h - the mean of numbers added one by one, and its standard error.
 *
 * Source   B. P. Welford, Note on a method for calculating corrected sums of squares and products
 *          (1962)
 */
#ifndef PACE_PROFILE_VARIANCE_H
#define PACE_PROFILE_VARIANCE_H

#include "base/types.h"

struct variance {
	u64 n;
	double mean, squares; /* sum of squared distances from the mean */
};

void variance_add(struct variance *s, double x);

/* Standard deviation of a single number; 0 for fewer than two. */
double variance_deviation(const struct variance *s);

/* Standard error of the mean; 0 for fewer than two. */
double variance_error(const struct variance *s);

/* Half of the 95% interval of a mean of n >= 2 numbers, in standard errors (Student's t). */
double variance_t95(u64 n);

#endif
