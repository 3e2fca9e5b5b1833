/*
 * presence.h - how long a task was on one CPU while its counter there was switched on.
 *
 * For a counter of one task on one CPU, the kernel's time_enabled also runs while the task is on another
 * CPU, where the counter cannot be. So time_enabled / time_running does not tell what the counter missed
 * because other events had the hardware. A software event that counts nothing is always scheduled where
 * it may be, so its time_running is the time that the counter could have had.
 *
 * Owns     that event's descriptor
 * Units    ns
 * Errors   none: without such an event the kernel's times are used
 * Source   Linux kernel/events/core.c: event_filter_match(), perf_event_update_time()
 */
#ifndef PACE_COLLECT_PRESENCE_H
#define PACE_COLLECT_PRESENCE_H

#include "collect/counter/counter.h"

/*
 * The two are switched by separate system calls, so their times differ by that much. The kernel
 * takes turns with counters by the millisecond.
 */
enum { PRESENCE_TOLERANCE_NS = 100000 };

struct presence {
	int fd; /* -1: none */
};

/* Opens a presence for a counter with this attr and place. Only tasks on one CPU need one. */
void presence_open(struct presence *p, const struct event_attr *attr, pid_t pid, int cpu,
	unsigned long flags);
void presence_close(struct presence *p);

/* Enable it after the counter and disable it before: then it never has more time than the counter. */
void presence_enable(const struct presence *p);
void presence_disable(const struct presence *p);

/* Returns the time so far; UINT64_MAX: unknown, the kernel's times hold. */
u64 presence_read(const struct presence *p);

/*
 * Sets time_enabled to what it would be had the task been only here, for `there` ns.
 * `leader_running` is the time_running of the counter that the presence was opened for; *value may
 * be another counter of its group.
 */
void presence_correct(u64 there, u64 leader_running, struct counter_value *value);

#endif
