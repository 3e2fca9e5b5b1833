/*
 * hash.h - 64-bit hashes for in-memory tables.
 *
 * Not for untrusted signatures and not stable between versions: never write one to a file. Source:
 * the multiply-and-fold step (64 x 64 -> 128 bits, halves xored) that wyhash and others rest on.
 */
#ifndef PACE_BASE_HASH_H
#define PACE_BASE_HASH_H

#include "base/types.h"

#define HASH_SEED 0x9e3779b97f4a7c15ULL

static inline u64 hash_mix(u64 a, u64 b)
{
	__uint128_t m = (__uint128_t)(a ^ HASH_SEED) * (b ^ 0xe7037ed1a0b428dbULL);

	return (u64)m ^ (u64)(m >> 64);
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
