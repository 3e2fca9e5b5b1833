/*
 * perfclock.h - the present time of the clock that stamps samples.
 *
 * The kernel's own clock for that cannot be read directly. But if a thread names itself, the kernel
 * writes a record with the time; and that clock's distance to a readable one stays the same for a while.
 * In       an attr, which chooses the clock
 * Out      ns of that clock
 * Owns     an event on the calling thread, its ring
 * Errors   perfclock_open(): those of perf_event_open(2) and ring_open()
 * Threads  the one that opened it
 * Source   perf_event_open(2): comm, use_clockid; prctl(2): PR_SET_NAME
 */
#ifndef PACE_COLLECT_PERFCLOCK_H
#define PACE_COLLECT_PERFCLOCK_H

#include "collect/counter/ring.h"
#include "event/attr.h"

struct perfclock {
	int fd; /* -1: not open */
	struct ring ring;
	u64 asked_ns; /* when the clocks were last compared: CLOCK_MONOTONIC */
	u64 ahead;    /* the clock minus CLOCK_MONOTONIC, modulo 2^64 */
	bool is_known;
};

int perfclock_open(struct perfclock *c, const struct event_attr *like, struct err *err);
void perfclock_close(struct perfclock *c);

/* Returns 0 if it is not open or the kernel gives no time. */
u64 perfclock_now(struct perfclock *c);

#endif
