/*
 * threadcounts.h - what each thread counted until it ended: READ records, which record -s asks for.
 *
 * In       a session after its first pass, and its machine
 * Out      a count for each thread and event, by pid, tid, event
 * Owns     the counts
 * Errors   ERR_INVAL if the recording has none; those of reading
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
	VEC(struct threadcount) at;
	struct table index;
};

int threadcounts_read(struct threadcounts *t, struct session *s, struct err *err);
void threadcounts_fini(struct threadcounts *t);

#endif
