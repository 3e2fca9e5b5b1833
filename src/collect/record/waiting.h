/*
 * waiting.h - where the user's own threads wait, according to /proc: for users who may not trace the
 * kernel.
 *
 * Frequent looks see every long wait; each wait is reported once, when it is first seen. The looks are
 * spaced so that they take a hundredth of the time.
 * In       processes; the ones they start are found
 * Out      for each blocked thread the place of its system call, its stack pointer, and a copy of its stack
 * Owns     what is known about the threads
 * Errors   waiting_look(): none. Threads that may not be examined are counted
 * Units    ns of CLOCK_MONOTONIC, and of the requested clock
 * Threads  one
 * Source   proc(5): /proc/PID/task/TID/syscall, schedstat, children; process_vm_readv(2)
 */
#ifndef PACE_COLLECT_WAITING_H
#define PACE_COLLECT_WAITING_H

#include <sys/types.h>
#include <time.h>

#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

struct waiting_thread {
	pid_t pid, tid;
	/* How often it had been put on a CPU when its last wait was reported; 0: none yet. */
	u64 n_runs;
	u32 look; /* the last look at which it existed */
};

struct waiting_place {
	pid_t pid, tid;
	u64 time;        /* on `clock`: a moment during the wait */
	u64 ip, sp;      /* in user space */
	const u8 *stack; /* at sp; valid during the call */
	size_t n;
};

struct waiting {
	clockid_t clock;
	size_t stack_bytes;
	VEC(pid_t) pids;
	VEC(struct waiting_thread) threads;
	struct table by_tid;
	u32 n_looks;
	u64 due_ns;
	u64 n_told, n_refused; /* reported waits; threads that may not be examined */
	u8 *stack;
};

void waiting_init(struct waiting *w, clockid_t clock, size_t stack_bytes);
void waiting_add(struct waiting *w, pid_t pid);
void waiting_fini(struct waiting *w);

/* Reports the waits that have not been reported yet. w->due_ns is the time of the next look. */
void waiting_look(struct waiting *w, void (*tell)(void *ctx, const struct waiting_place *place),
	void *ctx);

#endif
