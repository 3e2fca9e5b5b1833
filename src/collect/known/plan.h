/*
 * plan.h - which events fit on the PMU at once, found out by trying.
 *
 * Events that do not fit beside each other are assigned to different passes. Each group, or event that
 * stands alone, is opened pinned on this thread: if the PMU has no room, it is in error state at once.
 * So no table of CPUs is needed, and counters taken by others (the NMI watchdog) are considered too.
 * The events that the user pinned come first, as in the kernel. If all passes are open at once, pinned
 * events keep their places or find none, and only the others take turns.
 *
 * In       parsed events
 * Out      for each event its pass; events that need no counter of a PMU are in all passes
 * Owns     the passes
 * Errors   none: an event that cannot be opened pinned is in the first pass, where opening says why
 * Source   perf_event_open(2): pinned
 */
#ifndef PACE_COLLECT_PLAN_H
#define PACE_COLLECT_PLAN_H

#include "base/str.h"
#include "event/event.h"

#define PLAN_ALL 0xffffffffu

struct plan {
	u32 *pass_of; /* by event; PLAN_ALL: in all passes */
	u32 n_passes; /* at least 1 */
	/* By event: if all passes are open at once, the pinned ones never leave a counter for it. */
	bool *is_placeless;
};

/* Whether an event takes one of the PMU's few counters. */
bool plan_takes_counter(const struct event *e);

void plan_make(struct plan *p, const struct event_list *events);
void plan_fini(struct plan *p);

/* Whether events take turns if all are open at once. */
bool plan_has_turns(const struct plan *p, const struct event_list *events);

/* Adds the events without a place: "a:D, b". */
void plan_add_placeless(const struct plan *p, const struct event_list *events, struct str *text);

/* Adds the passes: "1: {a,b}, c; 2: d" */
void plan_add_text(const struct plan *p, const struct event_list *events, struct str *text);

#endif
