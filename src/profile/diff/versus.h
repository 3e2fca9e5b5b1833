/*
 * versus.h - whether a quantity of two commands that ran in pairs differs, and by how much.
 *
 * A command is represented by the mean of the middle half of its runs. Unlike the mean, it is not moved by a
 * run that the machine disturbed; and compared with the median it needs fewer runs and does not jump between
 * the few values that a count has.
 *
 * The interval is a bootstrap over pairs, so that a drift that both runs of a pair share cancels. With few
 * runs the plain percentile interval is too narrow; its percentiles are moved outwards so that for the mean of
 * normal values it would be Student's. The floor comes from an A/A test with the same runs: each command's own
 * runs, neighbours in time, are split at random into two halves, and the halves are compared. A difference
 * counts only if the interval is on one side of zero and the difference is above the floor.
 *
 * In       n values of each, pair by pair in the order of time; a seed
 * Out      a verdict, the difference and the ratio with 95% intervals, the floor
 * Units    those of the values; ratios as they are, 1 for no difference
 * Source   B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993);
 *          T. Hesterberg, What Teachers Should Know About the Bootstrap (2015), expanded percentiles
 */
#ifndef PACE_PROFILE_VERSUS_H
#define PACE_PROFILE_VERSUS_H

#include "base/types.h"

/* If there is no difference, fewer pairs agree by chance too often: 2 * 0.5^5 is above 5%. */
enum { VERSUS_PAIRS_MIN = 6 };

enum versus_verdict {
	VERSUS_FEW,   /* too few pairs to say */
	VERSUS_SAME,  /* all values of both commands are equal */
	VERSUS_NOISE, /* they differ by no more than chance explains */
	VERSUS_LESS,  /* B is less than A */
	VERSUS_MORE,
};

struct versus_side {
	double middle;          /* the mean of the middle half */
	double mean, deviation; /* of all values; standard deviation of a single value */
	double least, most;
	u64 n_outliers; /* farther from the middle half than three times its width */
	double outlier; /* the farthest outlier */
};

struct versus {
	u64 n;
	struct versus_side sides[2];
	double diff; /* B's middle minus A's */
	double ratio;
	bool has_ratio;    /* A is never zero */
	bool has_interval; /* the following members are known */
	double diff_low, diff_high, ratio_low, ratio_high;
	double floor; /* differences between equal commands are below this in 95 of 100 cases */
	enum versus_verdict verdict;
};

void versus_make(struct versus *v, const double *a, const double *b, size_t n, u64 seed);

/* Whether neither command's value ever changes: then the difference is exact, not an estimate. */
bool versus_is_exact(const struct versus *v);

/* Half the width of the ratio's interval; INFINITY if there is none. */
double versus_precision(const struct versus *v);

#endif
