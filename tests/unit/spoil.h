/*
 * spoil.h - bytes of which some are wrong: the same ones again for the same seed.
 */
#ifndef PACE_TESTS_SPOIL_H
#define PACE_TESTS_SPOIL_H

#include "base/random.h"

enum { SPOIL_MOST = 4 };

struct spoil {
	struct random random;
	unsigned n;
	size_t at[SPOIL_MOST];
	u8 was[SPOIL_MOST];
};

/* Puts any values into n of the bytes from `begin` until `end`. */
void spoil_bytes(struct spoil *s, void *bytes, size_t begin, size_t end, unsigned n);

/* Puts back what spoil_bytes() changed last. */
void spoil_mend(struct spoil *s, void *bytes);

#endif
