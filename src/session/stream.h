/*
 * stream.h - a recording's records in the order of time, in bounded memory, as they come.
 *
 * Records queue until a FINISHED_ROUND says that nothing older can come: what stands before the
 * round before last is safe then. A recording without rounds queues a fixed amount. What comes too
 * late all the same is handed out late, and counted.
 * In       an opened session, of a file or of a pipe that is still being written
 * Out      all records, those without a time at once
 * Owns     its queue
 * Life     what is handed out is valid until the next step
 * Units    times are ns of the perf clock; where records carry none, offsets stand in for them
 * Errors   reading errors. Damage is described in the session's tally
 * Threads  one
 */
#ifndef PACE_SESSION_STREAM_H
#define PACE_SESSION_STREAM_H

#include "session/queue.h"
#include "session/session.h"

struct stream_event {
	struct record rec;
	u64 nr;    /* which one it was to be read, from 0 */
	u32 event; /* TABLE_NONE: of an event that the recording does not describe */
	u64 time;  /* 0: none */
};

/* How far the recording is from being sorted. */
struct stream_disorder {
	u64 n_backwards; /* records that stand behind a later one */
	u64 n_late;      /* of these, those that were handed out too late */
	u64 most_ns;     /* by how much one was older than one before it */
	u64 most_bytes;  /* how many bytes of the file one would have had to hold back */
	u64 n_rounds;
	u64 most_queued; /* bytes that were held back */
};

struct stream_part;

struct stream {
	struct session *session;
	struct stream_part *parts; /* one, or one for each file of a directory */
	size_t n_parts;
	u64 n_read;
	u64 n_allowed; /* bytes that may be held, as far as that was asked: reader_allows() */
	u64 n_charged; /* what was made of records when it was asked */
	/* Bytes that whoever takes the records has made of them; NULL: nothing is made that stays. */
	u64 (*held)(const void *holder);
	const void *holder;
	struct stream_disorder disorder;
};

void stream_init(struct stream *stream, struct session *session);
void stream_fini(struct stream *stream);

/* 1: *ret is the next; 0: the end; < 0: reading failed. */
int stream_next(struct stream *stream, struct stream_event *ret, struct err *err);

/* Behind the end: says in the session's log what could not be put in order. */
void stream_note_disorder(const struct stream *stream);

/*
 * For who walks in the order of the file: fills in whose record ret->rec is, and when; 0: it has no
 * time, and holds from the beginning or at once.
 */
void stream_place(const struct session *session, struct stream_event *ret);

#endif
