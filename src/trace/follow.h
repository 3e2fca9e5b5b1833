/*
 * follow.h - the records of a trace one after the other, while its machine goes through time with them.
 *
 * In       a trace after trace_begin(), of a file or of a pipe that is still being written; or after
 *          trace_begin_live(), with a sink for what a recorder takes out of its rings
 * Out      a visit for each record; a sample that reads counters is a visit for each counter that has
 *          counted something since the previous one, or a single visit that is_idle if none has
 * Owns     the queue of records that wait for older ones
 * Life     a visit and its thread's state are valid until the next visit. A live trace forgets threads that
 *          have ended, and closes files that none has mapped any more for its callers: its memory grows
 *          with what runs, not with what has run
 * Progress the session's, if it has one: the user may end the recording where it was read up to, which is counted in the tally
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
	FOLLOW_IN_FILE, /* the machine stays where it was: nothing is known about threads */
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
	/* `reading`: the sample whose counter values are being handed out, or NULL. */
	struct periods periods;
	struct sample *reading;
	/*
	 * FOLLOW_LIVE: called before the machine forgets what has ended, by follow_next() in place of a visit. Callers
	 * that borrow spaces, such as profile/gather/aggregate, let go of them here. NULL: nobody borrows any.
	 */
	void (*let_go)(void *borrower);
	void *borrower;
	u64 n_taken, period; /* how many of its values are; its own period */
	u64 n_read;
	u64 n_visits; /* while there is a progress to tell */
};

/* `wanted`: the PERF_SAMPLE_* fields that the caller needs; of the others only those that visits need are filled in. */
void follow_init(struct follow *f, struct trace *t, enum follow_order order, u64 wanted);
void follow_fini(struct follow *f); /* *f may be all zero */

/*
 * 1: *ret is the next visit; 0: the end, and the tally is complete; < 0: reading failed. In a live trace, 0 also
 * means that there is none until more is pushed.
 */
int follow_next(struct follow *f, struct visit **ret, struct err *err);

/*
 * FOLLOW_LIVE: the sink for records, which come out as visits when nothing older can come any more: two rounds
 * later. Records of what existed before the start go in the same way. After each round, call follow_next() until
 * it returns 0; the recorder's pilot is the place for that.
 */
struct sink follow_sink(struct follow *f);

/* Releases the records that still wait; the next 0 of follow_next() is the end. */
void follow_end(struct follow *f);

#endif
