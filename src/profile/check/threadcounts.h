/*
 * threadcounts.h - the counts of each thread until it ended, from READ records (record -s).
 *
 * In       the records of a session's first pass, which it observes
 * Out      a count for each thread and event, by pid, tid, event
 * Owns     the counts
 * Errors   ERR_INVAL if the recording has none
 */
#ifndef PACE_PROFILE_THREADCOUNTS_H
#define PACE_PROFILE_THREADCOUNTS_H

#include "base/table.h"
#include "machine/machine.h"
#include "session/session.h"

struct threadcount {
	u32 pid, tid, event;
	u64 n;    /* over all CPUs, in the event's unit */
	u64 time; /* when the thread ended, as session_sample.time */
};

struct threadcounts {
	struct session_observer observer;
	const struct session *session;
	VEC(struct threadcount) at;
	struct table index;
};

/* Watches the first pass; call this before it. *t must not move until the pass is over. */
void threadcounts_watch(struct threadcounts *t, struct session *s);

/* Sorts the counts; call this after the pass. */
int threadcounts_settle(struct threadcounts *t, struct err *err);

void threadcounts_fini(struct threadcounts *t);

#endif
