/*
 * mapresolve.h - turns the addresses of samples into frames of files.
 *
 * In       unique samples, and the machine whose spaces they are in
 * Out      a profile without names. Resolved samples are counted there, and no longer in the unique samples
 * Owns     nothing; the profile owns its strings
 * Errors   none: an address without a map is in the DSO "[unknown]"
 * Threads  one per profile; the machine may be shared
 */
#ifndef PACE_PROFILE_MAPRESOLVE_H
#define PACE_PROFILE_MAPRESOLVE_H

#include "profile/gather/profile.h"
#include "profile/gather/uniques.h"

/*
 * Adds a row to the profile for each new unique sample; unique samples that already have a row are added to it. The
 * profile must have the samples' events and the same labels. At most max_stack addresses of each chain are kept, the
 * sampled one first. Stops and returns false if the profile, once it has names, would take more than `allowed` bytes.
 */
bool mapresolve_add(struct uniques *uniques, const struct machine *m, u32 max_stack, u64 allowed,
	struct profile *profile);

#endif
