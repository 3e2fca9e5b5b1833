/*
 * follow.h - the records of a trace one after the other, while its machine goes through time with them.
 *
 * In       a trace after trace_begin(), of a file or of a pipe that is still being written; or after
 *          trace_begin_live(), with a sink for what a recorder takes out of its rings
 * Out      a visit for each record; samples that read counters are a visit for each counter that has
 *          counted something since, and one that is_idle if none has
 * Owns     the queue of records that wait for older ones
 * Life     a visit is valid until the next one, states of threads as well. Live, threads that have ended are
 *          forgotten, and memory grows with what runs, not with what has run
 * Errors   reading errors. Damage is described in the session's tally
 * Threads  one
 */
#ifndef PACE_TRACE_FOLLOW_H
#define PACE_TRACE_FOLLOW_H

#include "collect/record/sink.h"
#include "session/decoder.h"
#include "session/periods.h"
#include "session/stream.h"
#include "trace/visit.h"

enum follow_order {
	FOLLOW_IN_TIME, /* the machine is at the moment of each visit */
	FOLLOW_IN_FILE, /* it stays where it was: nothing is known of threads */
	FOLLOW_LIVE,    /* as FOLLOW_IN_TIME, with records that are pushed */
};

struct follow {
	struct trace *trace;
	enum follow_order order;
	struct stream stream;        /* not FOLLOW_IN_FILE */
	struct reader_cursor cursor; /* FOLLOW_IN_FILE */
	struct stream_event at;
	union record_body body;
	struct decoder decoder;
	struct visits visits;
	struct visit visit;
	/* Of the sample that has read counters; NULL: it has read none, or all were handed out. */
	struct periods periods;
	struct sample *reading;
	u64 n_taken, period; /* of its values; its own */
	u64 n_read;
};

/* `wanted`: PERF_SAMPLE_* fields of samples; of others only what the visits themselves need. */
void follow_init(struct follow *f, struct trace *t, enum follow_order order, u64 wanted);
void follow_fini(struct follow *f); /* also of what is all zero */

/*
 * 1: *ret is the next one; 0: the end, and all of it is in the tally; < 0: reading failed. Live, 0: there is none
 * until more is pushed.
 */
int follow_next(struct follow *f, struct visit **ret, struct err *err);

/*
 * FOLLOW_LIVE: records go in here, and come out as visits once nothing older can come any more: two rounds
 * later. What was there before the first one goes in the same way. After each round follow_next() is to be
 * called until it returns 0: the recorder's pilot is the place for that.
 */
struct sink follow_sink(struct follow *f);

/* What still waits comes now; the next 0 is the end. */
void follow_end(struct follow *f);

#endif
