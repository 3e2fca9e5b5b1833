/*
 * processlist.h - the processes of a recording, counted while it is read. Each is kept from its first record
 * to its exit, then handed out and forgotten.
 *
 * In       FORK, EXIT, COMM, MMAP and samples, in the order of their times
 * Out      ended() for each process: when it ended, or at processlist_close()
 * Owns     the processes that are alive
 * Life     a process is valid in the callback until it returns
 * Units    times are ns; 0: not recorded
 * Errors   none: contradictions are counted
 *
 * Samples of unknown processes belong to PROCESSLIST_NOBODY, whose maps are the kernel's: the kernel's own
 * MMAP records carry this pid.
 * A process has ended when all its threads have: the first one may leave before the others.
 */
#ifndef PACE_PROFILE_PROCESSLIST_H
#define PACE_PROFILE_PROCESSLIST_H

#include "base/str.h"
#include "base/table.h"
#include "record/record.h"

#define PROCESSLIST_NOBODY 0xffffffffu

struct processlist_count {
	u64 n_samples, period;
};

struct processlist_process {
	u32 pid;
	struct str name;
	u64 n_mmaps; /* records */
	u64 fork_time, exit_time;
	struct processlist_count all;
	VEC(struct processlist_count) by_event; /* up to the last event with samples */
	VEC(u32) threads;                       /* alive, without the first thread */
	bool has_left;                          /* the first thread has ended */
	bool is_told;                           /* a record other than samples names it */
};

struct processlist_slot {
	u32 pid;
	struct processlist_process *now; /* NULL: no process has this pid now */
};

struct processlist {
	void (*ended)(void *ctx, const struct processlist_process *p);
	void *ctx;
	VEC(struct processlist_slot) slots; /* in the order in which the pids first occurred */
	struct table by_pid;
	/* Records have no times: samples may come before their process begins or after it ends. */
	bool is_unordered;
	u64 n_bytes; /* taken by processes; not by their threads, which are charged to the machine */
	u64 n_doubles;      /* processes forked with a pid that was in use */
	u64 n_lone_threads; /* threads forked in an unknown process */
};

void processlist_init(struct processlist *r,
	void (*ended)(void *ctx, const struct processlist_process *p), void *ctx);
void processlist_apply(struct processlist *r, const struct record *rec,
	const union record_body *body, u64 time);
void processlist_add_sample(struct processlist *r, u32 pid, u32 event, u64 period);
/* Hands out the remaining processes and frees everything. */
void processlist_close(struct processlist *r);

#endif
