/*
 * attach.h - every event on every thread of processes that start threads meanwhile.
 *
 * A thread inherits those events that the thread which starts it has at that moment. Who began while
 * events were being opened has some and lacks others, and nobody can tell which: opened for it as well,
 * some would count twice. So all are closed, which takes them from whoever inherited them, and opened
 * again for the threads that there are now, until nobody began meanwhile, or for a time.
 * In       events that are inherited; what the target was made of
 * Out      the counters; the target as it was when they were opened; who began during the last attempt
 * Owns     the list of those
 * Errors   those of target_init() and open_events()
 * Source   perf_event_open(2): inherit; clone(2)
 */
#ifndef PACE_COLLECT_ATTACH_H
#define PACE_COLLECT_ATTACH_H

#include "collect/open.h"

struct attach {
	VEC(struct target_thread) late; /* of a process that was started: it and its first thread */
	unsigned n_attempts;
};

int attach_events(struct attach *a, struct event_list *events, const struct target_words *words,
	struct target *target, struct counters *ret_counters, struct log *log, struct err *err);
void attach_fini(struct attach *a);

/* "123, 124 and 5 more" */
void attach_add_late(const struct attach *a, struct str *text);

#endif
