/*
 * plan.h - which events are on the PMU at once, found out by trying.
 *
 * Events that do not fit beside each other are sorted into passes. Each group, or event that stands
 * alone, is opened pinned on this thread: what the PMU has no room for is in error state at once.
 * So no table of CPUs is needed, and what others have taken (the NMI watchdog) counts too.
 * Those that the user pinned come first, as in the kernel. Where all passes are open at once they
 * keep their places or find none, and only the others take turns.
 *
 * In       parsed events
 * Out      for each event its pass; events without a PMU of counters are in all
 * Owns     the passes
 * Errors   none: an event that cannot be opened so is in the first pass, where opening says why
 * Source   perf_event_open(2): pinned
 */
#ifndef PACE_COLLECT_PLAN_H
#define PACE_COLLECT_PLAN_H

#include "base/str.h"
#include "event/event.h"

#define PLAN_ALL 0xffffffffu

struct plan {
	u32 *pass_of; /* by event; PLAN_ALL: always there */
	u32 n_passes; /* at least 1 */
	/* By event: where all passes are open at once, pinned ones leave no counter for it, ever. */
	bool *is_placeless;
};

/* Whether an event takes one of the counters that there are few of. */
bool plan_takes_counter(const struct event *e);

void plan_make(struct plan *p, const struct event_list *events);
void plan_fini(struct plan *p);

/* Whether events take turns where all are open at once. */
bool plan_has_turns(const struct plan *p, const struct event_list *events);

/* "a:D, b": those without a place; nothing if there are none. */
void plan_add_placeless(const struct plan *p, const struct event_list *events, struct str *text);

/* "1: {a,b}, c; 2: d" */
void plan_add_text(const struct plan *p, const struct event_list *events, struct str *text);

#endif
