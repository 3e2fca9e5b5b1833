/*
 * clock.h - the time that only goes forward.
 *
 * Units    ns of CLOCK_MONOTONIC
 */
#ifndef PACE_BASE_CLOCK_H
#define PACE_BASE_CLOCK_H

#include <time.h>

#include "base/types.h"

static inline u64 clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

#endif
