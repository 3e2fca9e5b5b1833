/*
 * hash.h - 64-bit hashes for in-memory tables.
 *
 * The hashes depend on a key that the process draws when it starts, so that nobody can craft a
 * recording whose names and numbers collide in our tables. A value therefore has another hash in
 * the next run: never write a hash to a file, and let no order depend on one. Use hash_lasting()
 * for hashes that must stay the same.
 * Threads  the key does not change once the program runs
 * Source   the multiply-and-fold step (64 x 64 -> 128 bits, halves xored) of wyhash and others
 */
#ifndef PACE_BASE_HASH_H
#define PACE_BASE_HASH_H

#include "base/types.h"

extern u64 hash_key[2];

static inline u64 hash_fold(u64 a, u64 b)
{
	__uint128_t m = (__uint128_t)a * b;

	return (u64)m ^ (u64)(m >> 64);
}

static inline u64 hash_mix(u64 a, u64 b)
{
	return hash_fold(a ^ hash_key[0], b ^ hash_key[1]);
}

/* The same in every run, for hashes that are printed or stored. An attacker can make these collide. */
static inline u64 hash_lasting(u64 a, u64 b)
{
	return hash_fold(a ^ 0x9e3779b97f4a7c15ULL, b ^ 0xe7037ed1a0b428dbULL);
}

static inline u64 hash_u64(u64 v)
{
	return hash_mix(v, 0x8ebc6af09c88c6e3ULL);
}

/* n words at p, which may lie at any address. */
static inline u64 hash_words(const void *p, size_t n, u64 seed)
{
	const u8 *at = p;
	u64 h = seed ^ n;

	/* Two words a step: the multiplier's latency, not its throughput, is the limit. */
	for (; n >= 2; n -= 2, at += 16)
		h = hash_mix(h ^ load_u64(at), load_u64(at + 8));
	return n ? hash_mix(h, load_u64(at)) : hash_u64(h);
}

u64 hash_bytes(const void *p, size_t n);

#endif
