/*
 * mapresolve.h - what samples saw, put into its place: addresses become frames of files.
 *
 * In       unique samples, and the machine whose spaces they are in
 * Out      a profile without names. What is placed is counted there, and no longer in the unique samples
 * Owns     nothing; the profile owns its strings
 * Errors   none: an address without a map is in the DSO "[unknown]"
 * Threads  one a profile; the machine may be shared
 */
#ifndef PACE_PROFILE_MAPRESOLVE_H
#define PACE_PROFILE_MAPRESOLVE_H

#include "profile/gather/profile.h"
#include "profile/gather/uniques.h"

/*
 * Adds a row for each new unique sample to a profile that has its events, and whose labels are the unique samples'; those that have
 * one count there. Of each chain at most max_stack addresses, the sampled one first, are kept. False, and not all of
 * them, if the profile would take more than `allowed` bytes when it has names.
 */
bool mapresolve_add(struct uniques *uniques, const struct machine *m, u32 max_stack, u64 allowed,
	struct profile *profile);

#endif
