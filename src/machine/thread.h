/*
 * thread.h - one task through time: its names, and the process it belongs to.
 *
 * Owns     its list of names
 * Units    times as in process.h
 */
#ifndef PACE_MACHINE_THREAD_H
#define PACE_MACHINE_THREAD_H

#include "base/types.h"
#include "base/vec.h"
#include "machine/process.h"

struct comm {
	u64 from;
	const char *text; /* interned */
	bool is_exec;
};

struct thread {
	u32 pid, tid;
	u32 ppid;
	u64 from, exit_time; /* UINT64_MAX: no exit was recorded */
	struct process *process;
	VEC(struct comm) comms; /* ascending by from; empty: it has no name yet */
	struct thread *older;   /* the one that had the same tid before */
};

/*
 * The name at a time; the first known name for earlier times; NULL if none is known. It holds over
 * [*ret_from, *ret_until).
 */
const char *thread_comm_at(const struct thread *t, u64 time, u64 *ret_from, u64 *ret_until);

#endif
