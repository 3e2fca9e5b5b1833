/*
 * depths.h - how large stack dumps would have had to be.
 *
 * A thread's stack always begins at the same address. Samples whose stack was unwound to its root, or whose
 * dump ended where the stack did, tell that address; the stack pointer of any other sample of the thread
 * then tells how deep its stack was.
 * In       samples with stack dumps, in any order
 * Out      the size that is enough for a given share of the dumps that were cut
 * Owns     threads, and the stack pointers of the first DEPTHS_CUT_MAX samples that were cut
 * Errors   none
 * Threads  one; depths_merge() joins the results of several
 */
#ifndef PACE_PROFILE_DEPTHS_H
#define PACE_PROFILE_DEPTHS_H

#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum { DEPTHS_CUT_MAX = 1 << 20 };

struct depths_thread {
	u32 pid, tid;
	u64 top; /* the highest known address of its stack; 0: none is known */
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

/* The thread's stack reaches at least up to `top`. */
void depths_add_top(struct depths *d, u32 pid, u32 tid, u64 top);

/* The thread's dump was too small when its stack pointer was `sp`. */
void depths_add_cut(struct depths *d, u32 pid, u32 tid, u64 sp);

void depths_merge(struct depths *d, const struct depths *from);

/* Bytes that are enough for this share (0..1) of the dumps that were too small; 0: not known. */
u64 depths_enough(const struct depths *d, double share);

#endif
