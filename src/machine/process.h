/*
 * process.h - one address space through time: a row of states, each valid from its moment on.
 *
 * A new state is made only when a map replaces another one; maps in free places join the current
 * state, because nothing can have run there before. So most processes have one state for each
 * program they exec.
 * Owns     its list of states; the states, trees and DSOs are the machine's
 * Life     a state stays where it is until machine_forget() drops it
 * Units    times are ns of the perf clock (or file offsets where records carry no times)
 */
#ifndef PACE_MACHINE_PROCESS_H
#define PACE_MACHINE_PROCESS_H

#include "base/types.h"
#include "base/vec.h"
#include "machine/maps.h"

struct space { /* one state of an address space */
	/* the same for processes that share it: a child until it execs or maps over something */
	u32 id;
	u64 from;
	const struct maps_node *maps;
	/* The maps before an exec: until the new program takes its first step, call chains lie in the old one. */
	const struct maps_node *before;
	/* Generated code in memory without a file; NULL: none. */
	const struct maps_node *code;
	struct space *next_free; /* of those that machine_forget() has dropped */
};

struct process {
	u32 pid;
	u64 from;                   /* when it was forked; 0 if it was there before */
	bool is_shared;             /* the newest state's tree is seen by a child too */
	u64 n_mmaps;                /* records, not maps that remain */
	VEC(struct space *) spaces; /* ascending by from; never empty */
	struct process *older;      /* the one that had the same pid before */
	bool has_threads;           /* machine_forget(): records mention threads of it */
	bool is_kept;               /* machine_forget(): one of its threads has not ended */
};

/* The newest state. */
static inline struct space *process_newest(const struct process *p)
{
	return p->spaces.at[p->spaces.n - 1];
}

/*
 * The state at a moment; the first one for times before it. *ret_until: when the next one begins.
 */
const struct space *process_space_at(const struct process *p, u64 time, u64 *ret_until);

#endif
