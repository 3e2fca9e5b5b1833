/*
 * variance.h - the mean of numbers that came one by one, and how sure it is.
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

/* Standard deviation of one number; 0 of fewer than two. */
double variance_deviation(const struct variance *s);

/* Standard deviation of the mean; 0 of fewer than two. */
double variance_error(const struct variance *s);

/* How many of those standard deviations hold 95% of a mean of n numbers (Student's t); n >= 2. */
double variance_t95(u64 n);

#endif
