/*
 * tdist.h - Student's t distribution, and other functions for comparing means of few values.
 *
 * Source   NIST Digital Library of Mathematical Functions, 8.17 (incomplete beta function), 5.15
 *          (polygamma functions); Y. Benjamini, Y. Hochberg, Controlling the False Discovery Rate
 *          (1995)
 */
#ifndef PACE_PROFILE_TDIST_H
#define PACE_PROFILE_TDIST_H

#include "base/types.h"

/* The probability of |T| >= |t|; `freedom` may be INFINITY: the normal distribution. */
double tdist_both_tails(double t, double freedom);

/* The t that |T| exceeds with probability p: the inverse of tdist_both_tails(). */
double tdist_quantile(double p, double freedom);

/* Mean (for a scale of 1) and variance of the logarithm of a gamma variable of shape x > 0. */
double digamma(double x);
double trigamma(double x);
/* The x for which trigamma(x) is y. */
double trigamma_inverse(double y);

/*
 * Converts p-values to q-values: among all with q <= x, the expected share that is due to chance is at most
 * x. Both are by position; NAN stays NAN and does not count.
 */
void false_discovery(const double *p, double *ret_q, size_t n);

#endif
