/*
 * blocks.h - straight runs of code, from the target of one branch to the next branch taken, and how many
 * cycles they took.
 *
 * In       a scanned trace whose samples carry branch stacks of all branches, with cycles
 * Out      each distinct run, with how often it was seen and its cycles summed
 * Owns     its list
 * Units    addresses in DSOs as map_offset() returns them; core cycles
 * Errors   none
 * Source   perf_event_open(2), PERF_SAMPLE_BRANCH_STACK; Intel SDM volume 3, 18.12: cycles since the
 *          last recorded branch
 *
 * A run that leaves its map, or whose cycles were not counted, is left out.
 */
#ifndef PACE_PROFILE_BLOCKS_H
#define PACE_PROFILE_BLOCKS_H

#include "base/table.h"
#include "base/vec.h"
#include "trace/pass.h"

enum { BLOCKS_REACH = 1 << 16 }; /* bytes: no code is that long without a taken branch */

struct block {
	u32 dso;        /* dso->id */
	u64 start, end; /* addresses of the first instruction and of the branch that ends the run */
	u64 n_times, n_cycles;
};

struct blocks {
	VEC(struct block) at; /* ascending by DSO, start, end */
	struct table index;
};

/* Whether any event of the recording has branch stacks with cycles. */
bool blocks_are_there(const struct session *s);

/* A visitor that collects the runs from the samples of a pass. Call blocks_sort() after the pass. */
struct visitor blocks_visitor(struct blocks *b);
void blocks_sort(struct blocks *b);
void blocks_fini(struct blocks *b);

/* The first of *ret_n runs that begin at [start, end) of a DSO. */
const struct block *blocks_between(const struct blocks *b, u32 dso, u64 start, u64 end,
	size_t *ret_n);

#endif
