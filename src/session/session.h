/*
 * session.h - a recording, read in two passes without sorting its samples.
 *
 * Pass 1 (session_scan) hops over all record headers, hands on the records that say who ran where, in
 * the order of time, and remembers where pieces of the data begin. Pass 2 (session_samples) hands the
 * pieces to all cores: with the state from pass 1, each sample can be placed by itself.
 * In       the path of a recording, or "-": a pipe is copied into a temporary file first
 * Out      state records in the order of time; then samples, in no order, on several threads
 * Owns     reader
 * Units    times are ns of the perf clock; where records carry none, file offsets stand in for them
 * Errors   those of reader_open(); reading errors. Damage is described in struct session_tally
 * Threads  sink->sample runs on up to n_workers threads, each with its own context
 */
#ifndef PACE_SESSION_SESSION_H
#define PACE_SESSION_SESSION_H

#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/types.h"
#include "base/vec.h"
#include "file/reader.h"
#include "record/formats.h"
#include "record/oddity.h"

/* What was read, and what was lost, on the way from the file to samples. */
struct session_tally {
	u64 n_by_type[128]; /* records, by type; [0] counts all types from 128 up */
	u64 n_packed,
		n_packed2; /* COMPRESSED and COMPRESSED2 records that these were unpacked from */
	u64 n_samples; /* SAMPLE records in the file; one that reads counters counts as the samples it stands for */
	u64 n_lost_records;   /* dropped by the kernel, by LOST records */
	u64 n_lost_samples;   /* dropped by the kernel, by LOST_SAMPLES records */
	u64 n_throttled;      /* THROTTLE records */
	u64 n_undecoded;      /* samples and side-band records whose fields do not fit */
	u64 undecoded_offset; /* of the first of them */
	u32 undecoded_type;
	u64 n_unread_samples; /* the samples among these */
	u64 n_odd;            /* records with impossible values: record/oddity.h */
	u64 odd_offset;       /* of the first of them */
	enum oddity oddity;   /* what is odd about it */
	u64 n_stopped_samples; /* samples that were not read because the user stopped the second pass */
	u64 n_stopped_bytes;       /* behind the place where the user stopped the first pass */
	u64 n_foreign_id;          /* samples of an event that the file does not describe */
	u64 n_not_native;          /* malformed records of the other byte order */
	u64 n_out_of_order;        /* side-band records that follow a later one */
	u64 first_time, last_time; /* of samples; 0 without times. Filled in by pass 2 */
	struct reader_damage damage;
};

/* Sees all records of the first pass, samples too, in the order of the file. */
struct session_observer {
	void *ctx;
	void (*see)(void *ctx, const struct record *rec); /* per record; a view */
	const struct session_observer *next;              /* session_watch() */
};

/* A counter value in a sample, which stands for a sample of that event. */
struct session_value {
	u64 period; /* 0: the counter stood still */
	u32 event;  /* TABLE_NONE: the recording does not describe it */
};

/* A SAMPLE record with such values: those from `first` up to the next reading's. */
struct session_reading {
	u64 nr; /* its number among all SAMPLE records, from 0 */
	u64 first;
};

struct session_piece {
	u64 offset;      /* where it begins */
	u64 nr, reading; /* its first SAMPLE record, its first reading */
};

struct session {
	struct reader reader;
	struct session_tally tally;
	struct log *log;
	VEC(struct session_piece) pieces;
	unsigned n_readers;                   /* workers that got pieces in the second pass */
	VEC(struct session_reading) readings; /* after the first pass */
	VEC(struct session_value) values;     /* of these */
	bool has_times;                       /* records of all kinds carry the time */
	bool has_kernel_samples;
	bool is_live; /* session_begin_live(): its events are borrowed */
	u64 n_held;   /* bytes of what was made from its records so far */
	/*
	 * The second pass reads so many bytes of records, in pieces from all parts of the file, or the first ones
	 * if they are packed. 0: all. The tally counts all samples.
	 */
	u64 read_most;
	u64 n_read;                /* SAMPLE records that session_samples() has read */
	struct progress *progress; /* of both passes; the user may stop each of them. NULL: none */
	const struct session_observer *observers; /* session_watch(); the last one first */
};

struct session_sample {
	const struct sample
		*sample; /* cpu is (u32)-1 where it was not recorded; period is always filled in */
	const struct record *rec;
	u32 event;
	u32 taken_by; /* the event whose record it is: another one if its sample read this event's counter */
	bool is_next; /* of the same record as the previous sample, but of another counter */
	u64 time;     /* ns, or the offset in the file */
};

struct session_sink {
	u64 wanted; /* PERF_SAMPLE_* fields; the others may be missing */
	void (*sample)(void *worker, const struct session_sample *s); /* per sample */
	void **workers; /* one context for each worker */
	/* The bytes of what a worker has made from its samples; NULL: nothing that grows. */
	u64 (*held)(const void *worker);
};

int session_open(struct session *s, const char *path, struct log *log, struct err *err);
int session_open_fd(struct session *s, int fd, const char *name, struct log *log, struct err *err);
void session_close(struct session *s);

/* Begins a session without a file, for records as they are measured (stream_push()). `events` are borrowed. */
void session_begin_live(struct session *s, const struct event_list *events, struct log *log);

/* Call when the ids of those events have changed. */
void session_change_ids(struct session *s);

/* Registers an observer for the first pass; it must stay where it is until that pass is over. */
void session_watch(struct session *s, struct session_observer *observer);

/*
 * `state` gets every record for which record_is_state(); its body is a view that ends with the
 * call. It returns the bytes of what it has made from all records so far: if they exceed the
 * recording's allowance, reading ends with ERR_LIMIT.
 */
int session_scan(struct session *s,
	u64 (*state)(void *ctx, const struct record *rec, const union record_body *body, u64 time),
	void *ctx, struct err *err);
/*
 * Used by callers that walk the records themselves (stream.c). session_take() counts a record in the tally
 * and takes in what it says about events; `c` is NULL in a live session. session_note_end() adds to the
 * tally what the cursor has met, at its end.
 */
void session_take(struct session *s, struct reader_cursor *c, const struct record *rec);
void session_note_end(struct session *s, const struct reader_cursor *c);

/* Counts a record whose fields do not fit. */
void session_note_undecoded(struct session_tally *t, const struct record *rec);

/* Counts a record with an impossible value; ODDITY_NONE: does nothing. */
void session_note_odd(struct session_tally *t, const struct record *rec, enum oddity oddity);

/*
 * After all records were read: says, as a note, what a recording without samples holds instead and which
 * command shows it; and that a trace besides the samples is not decoded.
 */
void session_explain_content(const struct session *s);

int session_samples(struct session *s, unsigned n_workers, const struct session_sink *sink,
	struct err *err);

#endif
