/*
 * excerpt.h - chooses the functions whose code a recording carries: the hottest of those sampled.
 *
 * In       stretches of code, with the samples that were taken in each
 * Out      how many samples a stretch needs to be carried
 * Owns     nothing
 * Units    addresses of one file; ranges half-open
 *
 * A flat profile touches thousands of functions once or twice: their code would be larger than the records,
 * and nobody looks at it. Code with at least one of EXCERPT_SURE samples is always carried.
 */
#ifndef PACE_PROFILE_EXCERPT_H
#define PACE_PROFILE_EXCERPT_H

#include "base/types.h"
#include "base/vec.h"

enum { EXCERPT_SURE = 500 }; /* 1/500 of all samples */

struct excerpt_part {
	u64 from, to;
	u64 n_samples;
};

typedef VEC(struct excerpt_part) excerpt_list;

/* Sorts by start, and merges equal stretches, with the sum of their samples. */
void excerpt_sort(excerpt_list *parts);

/*
 * The least number of samples, at least 1, such that all stretches with that many or more have at most `most`
 * bytes together; larger than n_samples, the number in the recording, if no stretch fits. Reorders `all`.
 */
u64 excerpt_least(excerpt_list *all, u64 n_samples, u64 most);

/* Keeps the stretches with at least `least` samples, and joins those that touch or overlap. After excerpt_sort(). */
void excerpt_keep(excerpt_list *parts, u64 least);

#endif
