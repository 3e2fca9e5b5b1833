/*
 * chance.h - numbers drawn from [0, 1), for tests of statistics.
 */
#ifndef PACE_TESTS_CHANCE_H
#define PACE_TESTS_CHANCE_H

#include "base/random.h"

static inline double random_share(struct random *r)
{
	return (double)(random_next(r) >> 11) / 9007199254740992.0;
}

#endif
