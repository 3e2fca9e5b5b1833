/*
 * list_perf.h - what can be measured, as `perf list` prints it: its JSON and its text, in which callers look for names.
 *
 * In       an inventory, after inventory_choose(), for the text also after inventory_try()
 * Out      an array of objects with perf's members, each on a line; members that are not known are left out. Text: a line for each
 *          event, in the order of names within each kind; those that this machine cannot count are left out
 * Source   perf-list(1), of perf 6.2 and later for JSON: perf 6.1 has no -j
 */
#ifndef PACE_VIEW_LIST_PERF_H
#define PACE_VIEW_LIST_PERF_H

#include "base/out.h"
#include "collect/known/metriclist.h"

/* list_perf_text.c: as text. */
void list_perf_text(const struct inventory *m, bool has_descriptions, struct out *out);
void list_perf_metrics(const struct metriclist *l, bool has_descriptions, struct out *out);
void list_perf_groups(const struct metriclist *l, bool has_metrics, bool has_descriptions,
	struct out *out);
/* `has_encoding`: as with perf's --details, what an event stands for. */
void list_perf_events(const struct inventory *m, bool has_encoding, struct out *out);

#endif
