/*
 * filter.h - the rows of a profile that somebody wants to see.
 *
 * In       lists of names, separated by commas: files, threads' names, functions
 * Out      the profile without the other rows
 * Owns     nothing
 */
#ifndef PACE_PROFILE_FILTER_H
#define PACE_PROFILE_FILTER_H

#include "profile/profile.h"

struct profile_filter {
	const char *dsos, *comms, *symbols; /* NULL: all */
	bool is_relative; /* what stays is the whole; else shares stay what they were */
};

/* Which labels the filter needs: bits 1 << enum profile_label. */
unsigned profile_filter_labels(const struct profile_filter *f);

/* After naming. A file is given by its name or its path, a function by what it was sampled in. */
void profile_filter_apply(struct profile *p, const struct profile_filter *f);

#endif
