/*
 * beside.h - what other events have in a histogram's entries, for columns beside its own.
 *
 * In       a histogram, the numbers of other events of its profile
 * Out      the same entries, in another event's order if that is wanted; or those of all of them
 * Owns     nothing: hist_fini() frees what is beside
 */
#ifndef PACE_PROFILE_BESIDE_H
#define PACE_PROFILE_BESIDE_H

#include "profile/hist.h"

/*
 * Puts what another event has beside each entry; entries that only the other one has are left out. With
 * `is_first` entries are in its order from then on.
 */
void beside_join(struct hist *h, u32 event, bool is_first);

/*
 * One table of the histogram's event and those behind it, n in all: entries that any of them has, in
 * the order of the first, where that has the same of the second, and so on. `first` of them (0: its
 * own event) goes before all others.
 */
void beside_gather(struct hist *h, u32 n, u32 first);

/* The one that was joined, or NULL. */
const struct hist_beside *beside_find(const struct hist *h, u32 event);

/* What it has in an entry; nothing is an entry of nothing. */
const struct hist_entry *beside_entry(const struct hist *h, const struct hist_beside *b,
	const struct hist_entry *e);

#endif
