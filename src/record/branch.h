/*
 * branch.h - one entry of a sample's branch records.
 *
 * In       the entries of struct sample_branches, in this machine's byte order
 * Out      where the branch was, where it went, and its flags
 * Errors   none
 * Source   linux/perf_event.h: struct perf_branch_entry
 */
#ifndef PACE_RECORD_BRANCH_H
#define PACE_RECORD_BRANCH_H

#include "base/types.h"

enum { BRANCH_SIZE = 24 };

enum branch_flag {
	BRANCH_MISPREDICTED =
		1 << 0, /* neither this nor the next one: the processor does not tell */
	BRANCH_PREDICTED = 1 << 1,
	BRANCH_IN_TRANSACTION = 1 << 2,
	BRANCH_ABORT = 1 << 3, /* of a transaction */
};

struct branch {
	u64 from, to, flags; /* flags: enum branch_flag, above them the cycles */
};

/* per branch */
static inline struct branch branch_at(const u8 *entries, u64 i)
{
	const u8 *e = entries + i * BRANCH_SIZE;

	return (struct branch){load_u64(e), load_u64(e + 8), load_u64(e + 16)};
}

/* CPU cycles since the branch before; 0: unknown. */
static inline u32 branch_cycles(u64 flags)
{
	return flags >> 4 & UINT16_MAX;
}

#endif
