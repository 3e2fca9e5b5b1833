/*
 * multiplexing.h - how much of the time that events were enabled they were on a counter.
 *
 * Events that take turns on counters miss what happens meanwhile, and nothing makes up for it in recordings: the sum of their
 * periods is of the time that they were on a counter.
 * In       the records of a session's first pass, which it observes: samples that read counters, and READ records (record -s) of events
 *          that have one counter, if their formats have times. Of a counter on each CPU, READ records tell only where the thread ended
 * Out      the times of each event, summed over threads or, for counters of whole CPUs, over these. A thread's counter on each CPU is
 *          enabled wherever the thread runs: what one of them misses, another has
 * Owns     the times
 * Units    ns
 * Source   perf_event_open(2): read_format, PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING
 */
#ifndef PACE_PROFILE_MULTIPLEXING_H
#define PACE_PROFILE_MULTIPLEXING_H

#include "base/table.h"
#include "session/session.h"

struct multiplexing_counter {
	u64 id;
	u32 tid; /* 0: it is no thread's, but a CPU's */
	u32 event;
	bool is_inherited;
	u64 enabled_ns, running_ns; /* as last read */
};

struct multiplexing {
	struct session_observer observer;
	const struct session *session;
	struct table index; /* of counters, by id and tid */
	VEC(struct multiplexing_counter) counters;
};

/* Watches the first pass if the recording may have times; call this before it. *m must not move until the pass is over. */
void multiplexing_watch(struct multiplexing *m, struct session *s);

/* Puts the counters in order; call this after the pass. */
void multiplexing_settle(struct multiplexing *m);

/* The times of an event; false: they are not known. */
bool multiplexing_of(const struct multiplexing *m, u32 event, u64 *ret_enabled_ns,
	u64 *ret_running_ns);

void multiplexing_fini(struct multiplexing *m);

#endif
