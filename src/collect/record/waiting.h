/*
 * waiting.h - where threads of ours wait at this moment, as /proc tells those who may not look into the
 * kernel.
 *
 * Whoever looks often enough sees every wait that is long; each is told once, when it is first seen. The
 * looks are spread so that they take a hundredth of the time.
 * In       processes; those that they start are found
 * Out      for each thread that blocks: in which system call, with which stack pointer, and a copy of the
 *          stack
 * Owns     what is known of the threads
 * Errors   waiting_look(): none. Threads that may not be looked at are counted
 * Units    ns of CLOCK_MONOTONIC, and of the clock that is asked for
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
	u64 n_runs; /* how often it had come to a CPU when its last wait was told; 0: none was */
	u32 look;   /* when it was last there */
};

struct waiting_place {
	pid_t pid, tid;
	u64 time;        /* of `clock`: the thread was waiting then */
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
	u64 n_told, n_refused; /* waits; threads that may not be looked at */
	u8 *stack;
};

void waiting_init(struct waiting *w, clockid_t clock, size_t stack_bytes);
void waiting_add(struct waiting *w, pid_t pid);
void waiting_fini(struct waiting *w);

/* Tells of the waits that have not been told yet; w->due_ns is when to look next. */
void waiting_look(struct waiting *w, void (*tell)(void *ctx, const struct waiting_place *place),
	void *ctx);

#endif
