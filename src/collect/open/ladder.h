/*
 * ladder.h - what is given up of an event that the kernel refuses: on each rung something (precision, newer features, the
 * kernel, at last the PMU), until it agrees.
 *
 * In       events that are being opened, and the errno of the refusal
 * Out      the event's attr and name, changed; each step is logged once
 * Owns     nothing
 * Errors   none: false if there is no rung left
 * Source   perf_event_open(2), section ERRORS
 */
#ifndef PACE_COLLECT_LADDER_H
#define PACE_COLLECT_LADDER_H

#include "base/err.h"
#include "base/log.h"
#include "collect/counter/counter.h"
#include "event/event.h"
#include "event/target.h"

/* One opening of events. */
struct opener {
	struct event_list *events;
	const struct target *target;
	struct counters *counters;
	struct log *log;
	struct err *err;
	/*
	 * By event: why it could not be opened. NULL: the events sample, and one refusal is an
	 * error.
	 */
	struct err *refusals;
	int cgroup_fd; /* of the event that is being opened; -1: all tasks */
	u64 n_ended;   /* threads that had ended before they were opened */
	size_t found;  /* a hint for the search of the next leader */
	/* Whether the event would open with this attr and outside its group. */
	bool (*opens_alone)(const struct opener *o, const struct event *e,
		const struct event_attr *attr);
};

/* Takes one step down the ladder. False: there is none. */
bool ladder_step_down(struct opener *o, struct event *e, int sys);

/*
 * For callers that open one event without the ladder. If the kernel refused, with this errno,
 * cycles that are to be sampled, the first call removes their precision and the next one turns them
 * into the timer that samples instead. False: it is another event, or another refusal.
 */
bool ladder_clock_instead(struct event_attr *attr, int sys);

#endif
