/*
 * placing.h - what samples saw, put into its place: addresses become frames of files.
 *
 * In       sights, and the machine whose spaces they are in
 * Out      a profile without names
 * Owns     nothing; the profile owns its strings
 * Errors   none: an address without a map is in the DSO "[unknown]"
 * Threads  one a profile; the machine may be shared
 */
#ifndef PACE_PROFILE_PLACING_H
#define PACE_PROFILE_PLACING_H

#include "profile/profile.h"
#include "profile/sights.h"

/*
 * Adds a row for each sight to a profile that has its events, and whose labels are the sights'. Of each chain at most max_stack
 * addresses, the sampled one first, are kept. How chains ended is written into them.
 */
/* False, and not all of them, if the profile would take more than `allowed` bytes when it has names. */
bool placing_add(struct sights *sights, const struct machine *m, u32 max_stack, u64 allowed,
	struct profile *profile);

#endif
