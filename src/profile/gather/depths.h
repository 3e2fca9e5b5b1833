/*
 * depths.h - how large stack dumps would have had to be.
 *
 * A thread's stack begins at one place for ever. Samples whose stack was found to its root, or whose
 * dump ended because the stack did, tell where; then every other sample of the thread tells how far
 * its stack pointer was from there.
 * In       samples with stack dumps, in any order
 * Out      the size that is enough for a share of those that were cut
 * Owns     threads, and the stack pointers of the first DEPTHS_CUT_MAX samples that were cut
 * Errors   none
 * Threads  one; those of several are merged
 */
#ifndef PACE_PROFILE_DEPTHS_H
#define PACE_PROFILE_DEPTHS_H

#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum { DEPTHS_CUT_MAX = 1 << 20 };

struct depths_thread {
	u32 pid, tid;
	u64 top; /* the highest that is known of its stack; 0: nothing is */
};

struct depths_cut {
	u32 thread;
	u64 sp;
};

struct depths {
	VEC(struct depths_thread) threads;
	VEC(struct depths_cut) cut;
	struct table by_tid;
};

void depths_fini(struct depths *d);

/* A thread's stack reaches up to there at least. */
void depths_add_top(struct depths *d, u32 pid, u32 tid, u64 top);

/* A thread's dump was too small when its stack pointer was there. */
void depths_add_cut(struct depths *d, u32 pid, u32 tid, u64 sp);

void depths_merge(struct depths *d, const struct depths *from);

/* Bytes that are enough for this share (0..1) of the dumps that were too small; 0: nobody knows. */
u64 depths_enough(const struct depths *d, double share);

#endif
