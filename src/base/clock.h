/*
 * clock.h - what time it is.
 *
 * Units    ns, of CLOCK_MONOTONIC unless a clock is named
 * Errors   returns 0 if there is no such clock
 */
#ifndef PACE_BASE_CLOCK_H
#define PACE_BASE_CLOCK_H

#include <time.h>

#include "base/types.h"

static inline u64 clock_ns_of(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static inline u64 clock_now_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}

/* For poll(): milliseconds until then, rounded up, so that nobody waits for nothing again and again; 0: it has passed. */
static inline int clock_left_ms(u64 end_ns)
{
	const u64 now = clock_now_ns();

	return end_ns > now ? (int)((end_ns - now + 999999) / 1000000) : 0;
}

/* When so many milliseconds have passed. */
static inline u64 clock_in_ms(int ms)
{
	return clock_now_ns() + (ms > 0 ? (u64)ms * 1000000 : 0);
}

#endif
