/*
 * lbr.h - callers from the processor's records of calls (LBR, call stack mode).
 *
 * The processor pushes a record at each call and drops it at the return, so its records are the
 * stack of calls, the newest first, as deep as it has registers (16 or 32). Deeper calls can be taken from
 * the previous sample of the same thread, if that one contains the oldest records of this one: then none
 * of those calls has returned in between.
 * In       branch stacks of samples; for stitching, the samples of a thread in order of time
 * Out      the user part of a call chain, in the form of the kernel's chains, with a marker before each
 *          address, because these are addresses of calls, not return addresses; how it ended
 * Owns     for stitching, the last stack of each thread
 * Life     the chain is valid until the next one
 * Errors   none
 * Threads  one
 * Source   Intel SDM, volume 3, 18.12 (Call-Stack Profiling); perf_event_open(2),
 *          PERF_SAMPLE_BRANCH_CALL_STACK, PERF_SAMPLE_BRANCH_HW_INDEX
 */
#ifndef PACE_UNWIND_LBR_H
#define PACE_UNWIND_LBR_H

#include "base/table.h"
#include "unwind/stack.h"

enum { LBR_STITCHED_MAX = 1024 };

struct lbr_call {
	u64 from, to;
};

struct lbr_thread {
	u32 tid;
	u64 hw_index; /* the register of the newest record; LBR_NO_INDEX: not recorded */
	bool is_complete;
	VEC(struct lbr_call) calls;
};

#define LBR_NO_INDEX UINT64_MAX

struct lbr {
	bool stitches;
	u32 depth; /* how many registers there are; 0: unknown */
	VEC(u64) chain;
	VEC(struct lbr_call) calls;
	VEC(struct lbr_thread) threads;
	struct table by_tid;
	u64 n_stitched; /* stacks that were made longer */
};

void lbr_fini(struct lbr *l);

struct lbr_input {
	u32 tid;
	const struct sample_branches *branches;
	u64 hw_index; /* or LBR_NO_INDEX */
	u64 ip;       /* 0: unknown; then the start of the last called function stands for it */
};

/* Leaves the chain in l->chain. */
enum stack_ending lbr_walk(struct lbr *l, const struct lbr_input *in);

#endif
