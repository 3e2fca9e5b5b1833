/*
 * significance.h - which rows of a comparison differ by more than chance explains.
 *
 * With several recordings a side the spread among them is the measure. Of few recordings a row's own
 * spread is too uncertain to be one: it is mixed with what all rows have in common, the spread that
 * the number of samples leads one to expect times a factor of this machine and program. How much
 * either counts follows from how unlike the rows' spreads are (empirical Bayes; Smyth 2004). Many
 * rows are tested at once: of those that are called different, 1 of 20 at most is there by chance
 * (Benjamini and Hochberg 1995).
 *
 * With one recording a side nothing is known of how runs differ: intervals tell of the sampling
 * alone, and no row is called different.
 * In       a paired struct delta
 * Out      for each row both sides' means, the ratio with an interval, p and q
 * Owns     the judgements
 * Units    values as delta_per()
 * Source   G. K. Smyth, Linear Models and Empirical Bayes Methods for Assessing Differential
 *          Expression in Microarray Experiments (2004)
 */
#ifndef PACE_PROFILE_SIGNIFICANCE_H
#define PACE_PROFILE_SIGNIFICANCE_H

#include "profile/diff/delta.h"

#define SIGNIFICANCE_FALSE_SHARE 0.05

struct judgement {
	double mean[DELTA_SIDES];
	double ratio; /* B of A; NAN if A has none */
	double half;  /* of the ratio's 95% interval; NAN: not known */
	double p, q;  /* NAN: it was not tested */
	bool is_significant;
};

struct significance {
	VEC(struct judgement) rows; /* as in the delta */
	size_t n[DELTA_SIDES];      /* recordings */
	bool has_spread;            /* several a side: rows can be called different */
	double factor;              /* how much more runs differ than by sampling: a variance's */
	double noise[DELTA_SIDES]; /* deviation of the recordings' sums, as a share of their mean */
	double sum[DELTA_SIDES];   /* the recordings' mean sum, before they were levelled */
	double level;              /* the mean of B's levels, divided by that of A's */
};

void significance_init(struct significance *j, const struct delta *d);
void significance_fini(struct significance *j);

#endif
