/*
 * record_wall.h - what time off the CPU takes to be measured, in 'record --wall' and in 'top --wall'.
 *
 * In       options, the events to sample, what is measured
 * Out      events that report when threads leave CPUs and come back; without access to the kernel, samples of waits
 * Owns     struct record_waits, what is known of the threads that wait
 * Errors   ERR_INVAL: options that would leave holes in the threads' time
 */
#ifndef PACE_CMD_RECORD_WALL_H
#define PACE_CMD_RECORD_WALL_H

#include "cmd/record/record_options.h"
#include "collect/record/waiting.h"
#include "event/event.h"
#include "event/target.h"
#include "record/sample.h"

int record_wall_check(const struct record_options *o, struct err *err);

/* What else these options stand for: call chains; a clock that can be read, for what /proc tells, where that is wanted. */
void record_wall_imply(struct record_options *o, bool wants_proc);

/* Whether the kernel may not tell where threads block. */
bool record_wall_is_blind(void);

/* Appends the events. */
void record_wall_add(struct event_list *events, struct log *log);

/* The event of these that tells when threads leave CPUs; NULL: there is none. */
const struct event *record_wall_event(const struct event_list *events);

/* Without the right to see the kernel /proc tells where threads wait, and that becomes samples. */
struct record_waits {
	struct waiting waiting;
	bool is_on;
	const struct event *event; /* that the samples belong to */
	const struct target *target;
	bool names_threads; /* threads of the target are meant, not their processes */
	struct sample_format format;
	struct str out; /* records */
};

void record_waits_begin(struct record_waits *w, const struct event *e, const struct target *t,
	bool names_threads);
void record_waits_end(struct record_waits *w);

/* With -t only the named threads are meant; of processes all threads. */
bool record_waits_is_meant(const struct record_waits *w, pid_t tid);

/* Appends the sample that the kernel would have written, had it been allowed to. Its chain is the place alone. */
void record_waits_add(struct record_waits *w, const struct waiting_place *place);

#endif
