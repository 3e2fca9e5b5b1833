/*
 * presence.h - how long a task was on one CPU while a counter of it, there, was switched on.
 *
 * The kernel's time_enabled of a counter of one task on one CPU goes on while the task runs on another
 * CPU, where the counter cannot be: time_enabled / time_running says nothing of what the counter missed
 * because others had the hardware. A software event that counts nothing is always scheduled where it
 * may be, so its time_running is the time that the counter could have had.
 *
 * Owns     the descriptor of that event
 * Units    ns
 * Errors   none: who has none takes the kernel's times
 * Source   Linux kernel/events/core.c: event_filter_match(), perf_event_update_time()
 */
#ifndef PACE_COLLECT_PRESENCE_H
#define PACE_COLLECT_PRESENCE_H

#include "collect/counter/counter.h"

/*
 * Switched on and off at nearly the same moments, the two differ by a system call. The kernel takes
 * turns with counters by the millisecond.
 */
enum { PRESENCE_TOLERANCE_NS = 100000 };

struct presence {
	int fd; /* -1: none */
};

/* For a counter that was opened with this attr and these places; only tasks on one CPU need one. */
void presence_open(struct presence *p, const struct event_attr *attr, pid_t pid, int cpu,
	unsigned long flags);
void presence_close(struct presence *p);

/* After the counter it is switched on, before it it is switched off: it never has more time. */
void presence_enable(const struct presence *p);
void presence_disable(const struct presence *p);

/* How long it was so far; UINT64_MAX: nobody knows, the kernel's times hold. */
u64 presence_read(const struct presence *p);

/*
 * Puts what the task was there (`there`) in the place of time_enabled. `leader_running`: of the counter
 * that the presence was opened for; *value may be of another one of its group.
 */
void presence_correct(u64 there, u64 leader_running, struct counter_value *value);

#endif
