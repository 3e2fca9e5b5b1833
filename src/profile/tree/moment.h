/*
 * moment.h - counts that go on growing, as they are at one moment: with names and a call tree.
 *
 * In       an aggregate that was flushed, what finds names
 * Out      a profile of its own, which views read while counting goes on
 * Owns     the profile and the tree: nothing in them is the aggregate's or the machine's
 * Threads  made by the thread that counts; read by any one thread
 */
#ifndef PACE_PROFILE_MOMENT_H
#define PACE_PROFILE_MOMENT_H

#include <regex.h>

#include "profile/gather/aggregate.h"
#include "profile/gather/filter.h"
#include "profile/gather/naming.h"
#include "profile/tree/calls.h"
#include "symbol/resolve/resolver.h"

struct moment {
	struct profile profile;
	struct calls calls;
	/* Samples before any were filtered out; in the kernel, and of CPUs that were idle, which is neither. */
	u64 n_samples, n_kernel, n_idle;
};

struct moment_options {
	struct naming_options naming;
	const struct profile_filter *filter; /* which rows it keeps; NULL: all */
	const regex_t *ignored_callees;      /* NULL: none are ignored */
	bool has_idle;                       /* with samples of idle CPUs */
	bool has_places; /* rows for each address, also where functions are all that most views need */
	bool has_wall; /* the profile is of time on and off CPUs */
};

void moment_init(struct moment *s, const struct aggregate *a, struct resolver *resolver,
	const struct moment_options *options);

/* The same of a profile that has names, and becomes the moment's. */
void moment_of(struct moment *s, struct profile *p, const struct moment_options *options);
void moment_fini(struct moment *s);

#endif
