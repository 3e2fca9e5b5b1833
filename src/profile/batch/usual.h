/*
 * usual.h - what samples usually are, learnt from batch to batch, and whether one is unlike that.
 *
 * Two numbers are watched: which share of the samples lies elsewhere than usual (half of the sum of differences between
 * shares of services' functions), and how much was measured in a second. What is usual fades, so that what
 * stays becomes usual; how much both vary is learnt too.
 * In       batches of equal length in the order of time
 * Out      whether one is odd, and why, in words
 * Owns     the shares
 * Source   exponentially weighted mean and variance: J. M. Lucas and M. S. Saccucci, Technometrics 32 (1990)
 */
#ifndef PACE_PROFILE_USUAL_H
#define PACE_PROFILE_USUAL_H

#include "base/str.h"
#include "profile/batch/batch.h"

enum {
	USUAL_LEARNS = 10,   /* batches before any can be odd */
	USUAL_SAMPLES = 100, /* fewer tell nothing about shares */
};

struct usual_share {
	u64 key;           /* of event, service and function */
	double usual, now; /* of all samples; now: in the batch that is looked at */
	u32 row;           /* one of that batch */
};

struct usual_level {
	double mean, variance;
};

struct usual {
	VEC(struct usual_share) shares;
	struct table index;
	struct usual_level moved, amount;
	u64 n_learnt;
};

/* Compares a batch with what is usual, and learns it. Adds why it is odd to `why`. */
bool usual_look(struct usual *u, const struct batch *b, struct str *why);
void usual_fini(struct usual *u);

#endif
