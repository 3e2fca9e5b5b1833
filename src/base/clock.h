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

#endif
