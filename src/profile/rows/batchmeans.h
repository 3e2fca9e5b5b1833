/*
 * batchmeans.h - how much a share varies from one stretch of time to the next, and so how sure it is.
 *
 * What is sampled one after the other belongs together: a thread that is in a function now mostly was
 * there a moment ago. So not samples are counted as witnesses but blocks of time, long against that.
 * Compared are neighbours: that a program does one thing first and another later is no doubt about
 * how long it did either.
 * In       for each block, in the order of time: what was found in it, and what the share of the
 *          whole would have been
 * Out      the variance of the share; its interval
 * Source   J. von Neumann et al., The Mean Square Successive Difference (1941); E. B. Wilson, Probable
 *          Inference (1927), with the effective number of samples of L. Kish, Survey Sampling (1965)
 */
#ifndef PACE_PROFILE_BATCHMEANS_H
#define PACE_PROFILE_BATCHMEANS_H

#include "base/types.h"

struct batchmeans {
	double now;     /* found in this block; whoever counts adds to it */
	double before;  /* how far the block before was from what was expected */
	double squares; /* of the steps from block to block */
	u32 n_blocks;
};

struct batchmeans_range {
	double low, high; /* parts of 1 */
};

/* The block is over, of which `expected` was to be found. */
void batchmeans_end_block(struct batchmeans *d, double expected);

/* Of the sum of all blocks; 0 of fewer than two. */
double batchmeans_variance(const struct batchmeans *d);

/* How many independent differences n blocks are worth: Student's degrees of freedom. */
double batchmeans_freedom(u32 n_blocks);

/*
 * What holds the true share with 95 %: `share` was found in n_samples, with that variance. Never
 * narrower than if all samples were independent; `t` is Student's quantile.
 */
struct batchmeans_range batchmeans_range(double share, double variance, u64 n_samples, double t);

#endif
