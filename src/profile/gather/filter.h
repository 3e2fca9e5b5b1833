/*
 * filter.h - keeps the rows of a profile that the user asked for.
 *
 * In       comma-separated lists of files, thread names, functions, processes and threads; a socket; how many threads ran
 * Out      the profile without the other rows; notes about names that match nothing
 * Owns     only the lists of numbers
 */
#ifndef PACE_PROFILE_FILTER_H
#define PACE_PROFILE_FILTER_H

#include "base/log.h"
#include "base/num.h"
#include "event/cpus.h"
#include "profile/gather/profile.h"

struct profile_filter {
	const char *dsos, *comms, *symbols; /* NULL: all */
	struct num_list pids, tids;
	struct cpus
		parallelisms; /* so many threads ran when the sample was taken; none: any number */
	bool has_names;       /* samples in code without a name are left out as if never taken */
	bool has_socket;
	u32 socket;       /* CPU socket; samples whose socket is not known are in none */
	bool is_relative; /* shares are of the rows that remain; else of all rows, as before */
};

/* The labels that the filter needs: LABEL_BIT()s. */
u64 profile_filter_labels(const struct profile_filter *f);

/* Before filtering: notes which names in the lists match nothing, and which option lists those that exist. */
void profile_filter_tell(const struct profile_filter *f, const struct profile *p, struct log *log);

/* After naming. A file matches by its name or its path; a function by the innermost frame of the row. */
void profile_filter_apply(struct profile *p, const struct profile_filter *f);
/* The words of --percentage: relative, absolute. */
int profile_filter_set_percentage(struct profile_filter *f, const char *word, struct err *err);
void profile_filter_fini(struct profile_filter *f);

#endif
