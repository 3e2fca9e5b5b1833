/*
 * target.h - WHOM to measure: a command, processes, threads, CPUs, everything.
 *
 * In       the texts of -p, -t, -u, -C and the flag of -a
 * Out      the threads and CPUs to open events for
 * Owns     its lists
 * Errors   ERR_INVAL for texts and combinations that make no sense (in perf's place: -p and -t count before -u, and
 *          these before -a), ERR_NOENT for processes that do not exist
 * Source   proc(5): /proc/PID/task, /proc/PID/status
 */
#ifndef PACE_EVENT_TARGET_H
#define PACE_EVENT_TARGET_H

#include <sys/types.h>

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"
#include "event/cpus.h"

struct target_thread {
	pid_t pid; /* the process */
	pid_t tid;
};

struct target {
	bool is_system_wide; /* -a, or -C without processes: every task on `cpus` */
	bool has_cpu_list;   /* -C was given */
	bool is_per_thread; /* each thread is followed from CPU to CPU, and has a ring of its own */
	struct cpus cpus;   /* where to measure; all online CPUs unless -C says less */
	/* Ascending, no duplicates; empty if is_system_wide or a command is to be started. */
	VEC(struct target_thread) threads;
};

struct target_words {
	const char *pids; /* "123,456" or NULL */
	const char *tids;
	const char *cpus;
	const char *users; /* of -u: one name or number; NULL: any user */
	bool all_cpus;
	bool per_thread;
};

/* Works out the target. Without any words it is a command that the caller starts: no threads yet. */
int target_init(struct target *t, const struct target_words *words, struct err *err);
void target_fini(struct target *t);

/* The process that a thread belongs to; 0 if there is no such thread. */
pid_t target_process(pid_t tid);

/* Appends the threads of process `pid` (all of /proc/PID/task). */
int target_add_process(struct target *t, pid_t pid, struct err *err);

/* Appends the threads of all processes that exist now. */
int target_add_all(struct target *t, struct err *err);

#endif
