/*
 * batchmeans.h - how much a share varies from one stretch of time to the next, and so how certain it is.
 *
 * Consecutive samples depend on each other: a thread that is in a function now was mostly there a moment ago.
 * So the independent observations are not samples but blocks of time that are long compared with that.
 * Only neighbouring blocks are compared: that a program does one thing first and another later does not make
 * either duration less certain.
 * In       for each block, in the order of time: the amount found in it, and the amount expected from the
 *          share of the whole
 * Out      the variance of the share; its confidence interval
 * Source   J. von Neumann et al., The Mean Square Successive Difference (1941); E. B. Wilson, Probable
 *          Inference (1927), with the effective number of samples of L. Kish, Survey Sampling (1965)
 */
#ifndef PACE_PROFILE_BATCHMEANS_H
#define PACE_PROFILE_BATCHMEANS_H

#include "base/types.h"

struct batchmeans {
	double now;     /* found in this block so far; the caller adds to it */
	double before;  /* the previous block's difference from what was expected */
	double squares; /* sum of the squared steps from block to block */
	u32 n_blocks;
};

struct batchmeans_range {
	double low, high; /* 0 to 1 */
};

/* Ends a block in which `expected` should have been found. */
void batchmeans_end_block(struct batchmeans *d, double expected);

/* The variance of the sum of all blocks; 0 if there are fewer than two. */
double batchmeans_variance(const struct batchmeans *d);

/* Student's degrees of freedom: how many independent differences n blocks provide. */
double batchmeans_freedom(u32 n_blocks);

/*
 * The 95 % confidence interval of a share that was found in n_samples with that variance. It is never
 * narrower than for independent samples; `t` is Student's quantile.
 */
struct batchmeans_range batchmeans_range(double share, double variance, u64 n_samples, double t);

#endif
