/*
 * signflip.h - whether pairs of measurements differ: a permutation test, exact however the noise is distributed.
 *
 * If both of a pair are the same program, its difference might as well have the other sign. So all ways of giving the
 * differences signs are equally likely, and the share of them that lead as far from zero as what was seen is p. No
 * difference counts for more than a multiple of the middle one: a few disturbed runs decide nothing.
 * In       differences, such as logarithms of ratios
 * Out      p of both sides; the estimate (Hodges and Lehmann) with the interval that the same test does not reject
 * Units    as the differences
 * Source   R. A. Fisher, The Design of Experiments (1935); J. L. Hodges, E. L. Lehmann, Estimates of Location Based on
 *          Rank Tests (1963)
 */
#ifndef PACE_PROFILE_SIGNFLIP_H
#define PACE_PROFILE_SIGNFLIP_H

#include "base/types.h"

enum { SIGNFLIP_MOST = 4096 }; /* differences */

struct signflip {
	double p;
	double estimate, low,
		high; /* low, high: -INFINITY, INFINITY: there are too few differences */
	double noise; /* standard deviation of a single difference, by their middle ones */
};

/* The smallest p that n differences can have. */
double signflip_least_p(size_t n);

/* p of the differences less `shift`. */
double signflip_p(const double *x, size_t n, double shift);

/* The median of the means of all pairs. */
double signflip_location(const double *x, size_t n);

/* The standard deviation of a difference if they are about zero: it tells nothing of their signs. */
double signflip_noise(const double *x, size_t n);

/* `error`: the interval misses the truth this often. n from 1 to SIGNFLIP_MOST. */
struct signflip signflip_test(const double *x, size_t n, double error);

#endif
