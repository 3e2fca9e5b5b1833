/*
 * stream.h - a recording's records in the order of time, in bounded memory, as they come.
 *
 * Records queue until a FINISHED_ROUND says that nothing older can come: it releases what is not newer
 * than the round before it. A recording without rounds queues a fixed amount. Records that come too
 * late all the same are handed out late, and counted.
 * In       an opened session, of a file or of a pipe that is still being written; or a live one, whose records
 *          are pushed
 * Out      all records, those without a time at once
 * Owns     its queue
 * Life     a record that was handed out is valid until the next step
 * Units    times are ns of the perf clock; where records carry none, offsets stand in for them
 * Errors   reading errors. Damage is described in the session's tally
 * Threads  one
 */
#ifndef PACE_SESSION_STREAM_H
#define PACE_SESSION_STREAM_H

#include <sys/uio.h>

#include "session/queue.h"
#include "session/session.h"

struct stream_event {
	struct record rec;
	u64 nr;    /* its number in the order of reading, from 0 */
	u32 event; /* TABLE_NONE: of an event that the recording does not describe */
	u64 time;  /* 0: none */
};

/* How far the recording is from being sorted. */
struct stream_disorder {
	u64 n_backwards; /* records that follow a later one */
	u64 n_late;      /* of these, those that were handed out too late */
	u64 most_ns;     /* by how much a record was older than one before it, at most */
	u64 most_bytes;  /* how far apart in the file records were that changed places, at most */
	u64 n_rounds;
	u64 most_queued; /* bytes that were held back */
};

struct stream_part;

struct stream {
	struct session *session;
	struct str
		pushed; /* of a live session: records that were not read yet, from `pushed_at` on */
	size_t pushed_at;
	u64 n_pushed;              /* bytes that came before those in `pushed` */
	bool is_over;              /* stream_end(): no more will be pushed */
	struct stream_part *parts; /* one, or one for each file of a directory */
	size_t n_parts;
	u64 n_read;
	u64 n_allowed; /* bytes that may be held, by the last call of reader_allows() */
	u64 n_charged; /* bytes made from records, at the last charge */
	/* The bytes that the taker of the records has made from them; NULL: nothing that stays. */
	u64 (*held)(const void *holder);
	const void *holder;
	struct stream_disorder disorder;
};

void stream_init(struct stream *stream, struct session *session);
void stream_fini(struct stream *stream);

/*
 * Takes whole records, which may continue from one run into the next, and the marks of rounds. Call
 * stream_next() until it returns 0 before pushing more: that bounds the memory.
 */
void stream_push(struct stream *stream, const struct iovec *runs, int n);

/*
 * For callers that know up to when nothing is missing, instead of pushing: a record waits until stream_finish_round()
 * releases all up to a time. Returns its time; 0: the next call releases it.
 */
u64 stream_put(struct stream *stream, const struct record *rec);
void stream_finish_round(struct stream *stream, u64 until);

/* Ends the pushing: all records that wait are released. */
void stream_end(struct stream *stream);

/* 1: *ret is the next; 0: the end, or there is none until more is pushed; < 0: reading failed. */
int stream_next(struct stream *stream, struct stream_event *ret, struct err *err);

/* After the end: says in the session's log what could not be put in order. */
void stream_note_disorder(const struct stream *stream);

/*
 * Used by callers that read in the order of the file: fills in the event and the time of ret->rec. Time
 * 0: it has none, and holds from the beginning or at once.
 */
void stream_place(const struct session *session, struct stream_event *ret);

#endif
