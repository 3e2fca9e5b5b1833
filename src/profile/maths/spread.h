/*
 * spread.h - the mean of numbers that came one by one, and how sure it is.
 *
 * Source   B. P. Welford, Note on a method for calculating corrected sums of squares and products
 *          (1962)
 */
#ifndef PACE_PROFILE_SPREAD_H
#define PACE_PROFILE_SPREAD_H

#include "base/types.h"

struct spread {
	u64 n;
	double mean, squares; /* sum of squared distances from the mean */
};

void spread_add(struct spread *s, double x);

/* Standard deviation of one number; 0 of fewer than two. */
double spread_deviation(const struct spread *s);

/* Standard deviation of the mean; 0 of fewer than two. */
double spread_error(const struct spread *s);

/* How many of those standard deviations hold 95% of a mean of n numbers (Student's t); n >= 2. */
double spread_t95(u64 n);

#endif
