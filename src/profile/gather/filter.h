/*
 * filter.h - the rows of a profile that somebody wants to see.
 *
 * In       lists, separated by commas: files, threads' names, functions, processes, threads; a socket
 * Out      the profile without the other rows; notes about words that nothing is called
 * Owns     nothing but the lists of numbers
 */
#ifndef PACE_PROFILE_FILTER_H
#define PACE_PROFILE_FILTER_H

#include "base/log.h"
#include "base/num.h"
#include "profile/gather/profile.h"

struct profile_filter {
	const char *dsos, *comms, *symbols; /* NULL: all */
	struct num_list pids, tids;
	bool has_names; /* nothing in code that has no name; as if it had not been sampled */
	bool has_socket;
	u32 socket;       /* of processors; samples whose socket is not known are in none */
	bool is_relative; /* what stays is the whole; else shares stay what they were */
};

/* Which labels the filter needs: LABEL_BIT()s. */
u64 profile_filter_labels(const struct profile_filter *f);

/* Before it is applied: says which words of its lists nothing is called, and which option shows what there is. */
void profile_filter_tell(const struct profile_filter *f, const struct profile *p, struct log *log);

/* After naming. A file is given by its name or its path, a function by what it was sampled in. */
void profile_filter_apply(struct profile *p, const struct profile_filter *f);
/* The words of --percentage: relative, absolute. */
int profile_filter_set_percentage(struct profile_filter *f, const char *word, struct err *err);
void profile_filter_fini(struct profile_filter *f);

#endif
