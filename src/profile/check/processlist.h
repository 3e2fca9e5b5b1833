/*
 * processlist.h - the processes of a recording, counted while it is read: each from its first record to
 * its exit, then handed out and forgotten.
 *
 * In       FORK, EXIT, COMM, MMAP and samples, in the order of their times
 * Out      ended() for each process: when it ended, or at processlist_close()
 * Owns     the processes that live
 * Life     a process is the callback's until it returns
 * Units    times are ns; 0: not recorded
 * Errors   none: what contradicts itself is counted
 *
 * Who is not known belongs to ROSTER_NOBODY, whose maps are the kernel's: that is the number which
 * the kernel's own MMAP records carry.
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
	VEC(struct processlist_count) by_event; /* as far as it has samples */
	VEC(u32) threads;                       /* that live, besides the first */
	bool has_left;                          /* the first one */
	bool is_told;                           /* by another record than samples */
};

struct processlist_slot {
	u32 pid;
	struct processlist_process *now; /* NULL: nobody has that number now */
};

struct processlist {
	void (*ended)(void *ctx, const struct processlist_process *p);
	void *ctx;
	VEC(struct processlist_slot) slots; /* in the order in which the numbers were first met */
	struct table by_pid;
	/* Records have no times: samples may stand before their process begins, and behind its end. */
	bool is_unordered;
	u64 n_bytes; /* that processes take; their threads are the machine's too, and charged there */
	u64 n_doubles;      /* processes forked with a number that was in use */
	u64 n_lone_threads; /* threads forked in a process that nobody knows */
};

void processlist_init(struct processlist *r,
	void (*ended)(void *ctx, const struct processlist_process *p), void *ctx);
void processlist_apply(struct processlist *r, const struct record *rec,
	const union record_body *body, u64 time);
void processlist_add_sample(struct processlist *r, u32 pid, u32 event, u64 period);
/* Hands out those that are left, and frees all. */
void processlist_close(struct processlist *r);

#endif
