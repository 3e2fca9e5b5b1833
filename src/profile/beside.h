/*
 * beside.h - what other events have in a histogram's entries, for columns beside its own.
 *
 * In       a histogram, the number of another event of its profile
 * Out      the same entries, in the other event's order if that is wanted
 * Owns     nothing: hist_fini() frees what is beside
 */
#ifndef PACE_PROFILE_BESIDE_H
#define PACE_PROFILE_BESIDE_H

#include "profile/hist.h"

/*
 * Puts what another event has beside each entry; entries that only the other one has are left out. With
 * `is_first` entries are in its order from then on. HIST_BESIDE_MAX events at most.
 */
void beside_join(struct hist *h, u32 event, bool is_first);

/* The one that was joined, or NULL. */
const struct hist_beside *beside_find(const struct hist *h, u32 event);

#endif
