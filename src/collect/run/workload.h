/*
 * workload.h - a command that waits at a gate until measuring is set up.
 *
 * In       argv; the child exists after workload_start() but has not exec'd
 * Out      the child's pid, then its exit status
 * Owns     the child until workload_reap(); the gate's pipes
 * Source   prctl(2): PR_SET_NAME; proc(5), /proc/PID/schedstat: Documentation/scheduler/sched-stats.rst
 * Errors   ERR_NOENT, ERR_PERM or ERR_SYS from workload_go() when the command cannot be executed
 */
#ifndef PACE_COLLECT_WORKLOAD_H
#define PACE_COLLECT_WORKLOAD_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/types.h"

struct workload {
	pid_t pid;
	int go_fd;     /* a byte written here opens the gate; closing it instead ends the child */
	int failed_fd; /* the child's errno, if exec fails */
	bool has_ended;
	int status;          /* of wait(2), once has_ended */
	struct rusage usage; /* of the child and the children it waited for, once has_ended */
	u64 went_ns;         /* CLOCK_MONOTONIC, when the gate opened */
	u64 ended_ns;        /* CLOCK_MONOTONIC, when the end was seen */
	/* How long its first thread waited for a CPU after the gate opened; UINT64_MAX: unknown. */
	u64 queue_ns;
	u64 gate_ns; /* such waiting before the gate opened */
};

int workload_start(struct workload *w, char **argv, struct err *err);

/* The same with `files` as its standard input, output and error; -1: pace's own. */
int workload_start_with(struct workload *w, char **argv, const int files[3], struct err *err);

/* Opens the gate and returns when the command has been exec'd. */
int workload_go(struct workload *w, const char *command, struct err *err);

/* Collects the child if it has ended; with `block`, waits for the end. False: it has not ended. */
bool workload_reap(struct workload *w, bool block);

/* Sends it the signal (0: none) and waits half a second for its end. False: it is still running. */
bool workload_end(struct workload *w, int sig);

/*
 * The memory that a child has at the gate. The kernel keeps a process's maximum from before its
 * exec too: usage.ru_maxrss is never less.
 */
int workload_gate_memory(u64 *ret_bytes, struct err *err);

/* What a shell would call its exit status: the code, or 128 + signal. */
int workload_exit_status(const struct workload *w);

/* Ends a child that still waits at the gate; leaves any other running. */
void workload_close(struct workload *w);

#endif
