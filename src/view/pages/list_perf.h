/*
 * list_perf.h - what can be measured, as the JSON of `perf list -j`.
 *
 * In       an inventory, after inventory_choose(); whether it was tried does not matter
 * Out      an array of objects with perf's members, each on a line; members that are not known are left out
 * Source   perf-list(1) of perf 6.2 and later; perf 6.1 has no -j
 */
#ifndef PACE_VIEW_LIST_PERF_H
#define PACE_VIEW_LIST_PERF_H

#include "base/out.h"
#include "collect/known/inventory.h"

/* `has_encoding`: as with perf's --details, what an event stands for. */
void list_perf_events(const struct inventory *m, bool has_encoding, struct out *out);

#endif
