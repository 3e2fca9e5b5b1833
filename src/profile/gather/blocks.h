/*
 * blocks.h - straight runs of code, from where a branch went to where the next one was taken, and how
 * many cycles they took.
 *
 * In       a scanned trace whose samples carry branch stacks of all branches, with cycles
 * Out      runs, each once: how often it was seen, and the cycles of all times
 * Owns     its list
 * Units    places in DSOs as map_offset() has them; cycles of the core
 * Errors   none
 * Source   perf_event_open(2), PERF_SAMPLE_BRANCH_STACK; Intel SDM volume 3, 18.12: cycles since the
 *          last branch that was recorded
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
	u64 start, end; /* of the first instruction, and of the branch that ends it */
	u64 n_times, n_cycles;
};

struct blocks {
	VEC(struct block) at; /* ascending by DSO, start, end */
	struct table index;
};

/* Whether any event of the recording has what it takes. */
bool blocks_are_there(const struct session *s);

/* What finds them among the samples of a pass; when that is over, they are to be sorted. */
struct visitor blocks_visitor(struct blocks *b);
void blocks_sort(struct blocks *b);
void blocks_fini(struct blocks *b);

/* Those that begin at [start, end) of a DSO: the first, and how many. */
const struct block *blocks_between(const struct blocks *b, u32 dso, u64 start, u64 end,
	size_t *ret_n);

#endif
