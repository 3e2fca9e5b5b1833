/*
 * perfclock.h - what time it is by the clock that samples are stamped with.
 *
 * The kernel's own clock for that cannot be read: but whoever gives his thread a name gets a record of
 * it, with the time. How far that is from a clock that can be read stays the same for a while.
 * In       an attr whose clock is meant
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
	int fd; /* -1: it is not open */
	struct ring ring;
	u64 asked_ns; /* when it was compared last: CLOCK_MONOTONIC */
	u64 ahead;    /* by so much it is ahead of CLOCK_MONOTONIC, modulo 2^64 */
	bool is_known;
};

int perfclock_open(struct perfclock *c, const struct event_attr *like, struct err *err);
void perfclock_close(struct perfclock *c);

/* 0: it is not open, or the kernel says nothing. */
u64 perfclock_now(struct perfclock *c);

#endif
