/*
 * excerpt.h - which functions' code a recording carries: of those that were sampled, the hottest.
 *
 * In       stretches of code, with the samples that were taken in each
 * Out      how many samples a stretch needs to be carried
 * Owns     nothing
 * Units    addresses of one file; ranges half-open
 *
 * A flat profile touches thousands of functions once or twice: their code would be larger than the
 * records, and nobody looks at it. Where EXCERPT_SURE of all samples are, it is carried in any case.
 */
#ifndef PACE_PROFILE_EXCERPT_H
#define PACE_PROFILE_EXCERPT_H

#include "base/types.h"
#include "base/vec.h"

enum { EXCERPT_SURE = 500 }; /* one of so many samples */

struct excerpt_part {
	u64 from, to;
	u64 n_samples;
};

typedef VEC(struct excerpt_part) excerpt_list;

/* Ascending by start, the same stretch once, with the samples of all. */
void excerpt_sort(excerpt_list *parts);

/*
 * The least number of samples with which all stretches of that many and more have no more than `most`
 * bytes together; at least 1, and more than n_samples, those of the whole recording, if that is none. `all` is put into another order.
 */
u64 excerpt_least(excerpt_list *all, u64 n_samples, u64 most);

/* Of what excerpt_sort() left those with so many samples; what touches or overlaps is one. */
void excerpt_keep(excerpt_list *parts, u64 least);

#endif
