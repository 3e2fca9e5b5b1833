/*
 * significance.h - which rows of a comparison differ by more than chance explains.
 *
 * With several recordings per side, differences are measured against the spread among recordings. With few
 * recordings, a row's own spread is too uncertain: it is mixed with what all rows have in common, the spread
 * expected from the number of samples times a factor of this machine and program. The weights of both follow
 * from how much the rows' spreads differ (empirical Bayes; Smyth 2004). Many rows are tested at once: of those
 * reported as different, at most 1 of 20 is so by chance (Benjamini and Hochberg 1995).
 *
 * Where A is what is usual (delta.is_usual), three recordings of it are enough to judge one of B, as if those of B
 * differed as much.
 *
 * With one recording per side nothing is known about how runs differ: intervals cover the sampling only, and
 * no row is reported as different.
 * In       a paired struct delta
 * Out      for each row both sides' means, the ratio with an interval, p and q
 * Owns     the judgements
 * Units    values as returned by delta_per()
 * Source   G. K. Smyth, Linear Models and Empirical Bayes Methods for Assessing Differential
 *          Expression in Microarray Experiments (2004)
 */
#ifndef PACE_PROFILE_SIGNIFICANCE_H
#define PACE_PROFILE_SIGNIFICANCE_H

#include "profile/diff/delta.h"

#define SIGNIFICANCE_FALSE_SHARE 0.05

struct judgement {
	double mean[DELTA_SIDES];
	double ratio; /* B divided by A; NAN if A is 0 */
	double half;  /* half of the ratio's 95% interval; NAN: not known */
	double p, q;  /* NAN: not tested */
	bool is_significant;
};

struct significance {
	VEC(struct judgement) rows; /* as in the delta */
	size_t n[DELTA_SIDES];      /* recordings */
	bool has_variance; /* several recordings per side: rows can be reported as different */
	double factor;     /* variance between runs, as a multiple of that from sampling */
	double noise[DELTA_SIDES]; /* deviation of the recordings' sums, as a share of their mean */
	double sum[DELTA_SIDES];   /* the recordings' mean sum, before levels are applied */
	double level;              /* B's mean level divided by A's */
};

void significance_init(struct significance *j, const struct delta *d);
void significance_fini(struct significance *j);

#endif
