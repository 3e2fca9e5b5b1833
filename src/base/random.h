/*
 * random.h - numbers that look random and are the same again for the same seed.
 *
 * Good for drawing samples and orders; never for secrets.
 * Source   G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators (2014)
 */
#ifndef PACE_BASE_RANDOM_H
#define PACE_BASE_RANDOM_H

#include "base/types.h"

struct random {
	u64 state; /* the seed, at first */
};

static inline u64 random_next(struct random *r)
{
	u64 z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* One of 0 .. n - 1, all equally likely. */
static inline u32 random_below(struct random *r, u32 n)
{
	return (u32)(((random_next(r) >> 32) * n) >> 32);
}

#endif
