/*
 * align.h - aligns two sequences by their longest common subsequence, or nearly that.
 *
 * In       two arrays of keys
 * Out      pairs of positions with equal keys, ascending in both
 * Owns     its pairs
 * Units    time grows with the length times the number of differences; with very many differences the pairs
 *          are still correct, but may not be the maximum
 * Source   E. W. Myers, An O(ND) Difference Algorithm and Its Variations (1986), in linear space
 */
#ifndef PACE_PROFILE_ALIGN_H
#define PACE_PROFILE_ALIGN_H

#include "base/types.h"
#include "base/vec.h"

struct align_pair {
	u32 a, b;
};

struct align {
	VEC(struct align_pair) pairs;
};

/* Adds the pairs of a's n and b's m keys. */
void align_add(struct align *align, const u64 *a, u32 n, const u64 *b, u32 m);
void align_fini(struct align *align);

#endif
