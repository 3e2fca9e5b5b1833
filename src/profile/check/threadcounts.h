/*
 * threadcounts.h - what each thread counted until it ended: READ records, which record -s asks for.
 *
 * In       the records of a session's first pass, as an observer of it
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
	u64 n;    /* of all CPUs, in the event's unit */
	u64 time; /* when the thread ended, as session_sample.time */
};

struct threadcounts {
	struct session_observer observer;
	const struct session *session;
	VEC(struct threadcount) at;
	struct table index;
};

/* Before the first pass, which it watches. *t must stay where it is until the pass is over. */
void threadcounts_watch(struct threadcounts *t, struct session *s);

/* After it: they are in order. */
int threadcounts_settle(struct threadcounts *t, struct err *err);

void threadcounts_fini(struct threadcounts *t);

#endif
