/*
 * open.h - every event on every CPU and thread of the target, or the reason why not.
 *
 * An event that cannot be opened walks the ladder: rung by rung something is given up (precision,
 * newer features, the kernel, at last the PMU) until the kernel agrees. Each step is said once in
 * the log; the events' attrs and names hold what was opened in the end, so the recording tells it
 * too.
 *
 * In       events; a target (the threads of a command that waits at its gate included)
 * Out      the counters, their ids, and in each event its ids
 * Errors   ERR_PERM with level, capability and command; ERR_UNSUPPORTED with what works instead;
 *          ERR_NOENT if the processes have ended
 * Source   perf_event_open(2), section ERRORS
 */
#ifndef PACE_COLLECT_OPEN_H
#define PACE_COLLECT_OPEN_H

#include "base/err.h"
#include "base/log.h"
#include "collect/counter/counter.h"
#include "event/event.h"
#include "event/target.h"

/* Opens all; on failure nothing is left open. */
int open_events(struct event_list *events, const struct target *target,
	struct counters *ret_counters, struct log *log, struct err *err);

/*
 * The same for events that are to count: those that cannot be opened are left out, and
 * refusals[event] says why (code 0: it was opened). Without -C, counters of tasks follow them from
 * CPU to CPU. ERR_LIMIT and the like, which concern all events, are errors.
 */
int open_possible(struct event_list *events, const struct target *target,
	struct counters *ret_counters, struct err *refusals, struct log *log, struct err *err);

/*
 * What counter i counts, opened once more in its place, in the group, the cgroup and with the filter
 * that it has: a CPU that went off took its counters along. *ret_fd is the caller's.
 */
int open_again(const struct event_list *events, const struct counters *counters, size_t i,
	int *ret_fd, struct err *err);

/*
 * For who opens one event without the ladder: takes the precision from cycles that are sampled, and that the
 * kernel refused with this errno; the next time makes them the timer that samples in their place. False: it is
 * no such event, or refusal.
 */
bool open_clock_instead(struct event_attr *attr, int sys);

/* The kernel's numbers of all counters, into them and into their events. */
int open_fetch_ids(struct event_list *events, struct counters *counters, struct err *err);

/* Raises the soft limit of open files to at least `need`, if the hard limit lets it. */
int open_raise_limit(u64 need, struct err *err);

#endif
