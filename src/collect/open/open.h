/*
 * open.h - opens every event on every CPU and thread of the target, or says why not.
 *
 * An event that cannot be opened descends a ladder (ladder.h). The events' attrs and names hold what was opened in the end, so
 * that the recording shows it too.
 *
 * In       events; a target (or the threads of a command that waits at its gate)
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
 * Opens events for counting: those that cannot be opened are left out, and refusals[event] says why
 * (code 0: opened). Without -C, counters of tasks follow them from CPU to CPU. ERR_LIMIT and the
 * like, which concern all events, are errors.
 */
int open_possible(struct event_list *events, const struct target *target,
	struct counters *ret_counters, struct err *refusals, struct log *log, struct err *err);

/*
 * Opens counter i's event once more in the same place, with its group, cgroup and filter, after its
 * CPU was offline and took the counter along. *ret_fd is the caller's.
 */
int open_again(const struct event_list *events, const struct counters *counters, size_t i,
	int *ret_fd, struct err *err);

/* Fetches the ids of all counters, into the counters and their events. */
int open_fetch_ids(struct event_list *events, struct counters *counters, struct err *err);

/* Raises the soft limit on open files to at least `need`, if the hard limit allows that. */
int open_raise_limit(u64 need, struct err *err);

#endif
