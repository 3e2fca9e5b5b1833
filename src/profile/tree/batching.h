/*
 * batching.h - from a profile to a batch: functions by name, addresses only where there is no name.
 *
 * In       a profile with names, its call tree
 * Out      rows, stacks and frames of a batch
 */
#ifndef PACE_PROFILE_BATCHING_H
#define PACE_PROFILE_BATCHING_H

#include "profile/batch/batch.h"
#include "profile/tree/calls.h"

/* Fills the batch's n_columns cells for a row of the profile. */
struct batch_labelling {
	void (*label)(void *ctx, struct batch *b, const struct profile *p, size_t row, u32 *cells);
	void *ctx;
};

/* `labelling`: NULL if the batch has no columns. */
void batch_add_profile(struct batch *b, const struct profile *p, const struct calls *calls,
	const struct batch_labelling *labelling);

#endif
