/*
 * session.h - a recording, read in two passes without sorting its samples.
 *
 * Pass 1 (session_scan) hops over all record headers, hands on what says who ran where in the order
 * of time, and remembers where pieces of the data begin. Pass 2 (session_samples) hands the pieces
 * to all cores: who has taken in the first pass can place each sample by itself.
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
#include "base/types.h"
#include "base/vec.h"
#include "file/reader.h"
#include "record/formats.h"
#include "record/oddity.h"

/* What was met, and what was lost, on the way from file to samples. */
struct session_tally {
	u64 n_by_type[128]; /* records, by type; [0] counts all types from 128 up */
	u64 n_samples; /* in the file: SAMPLE records; of those that read counters, what they stand for */
	u64 n_lost_records;        /* dropped by the kernel, by LOST records */
	u64 n_lost_samples;        /* dropped by the kernel, by LOST_SAMPLES records */
	u64 n_throttled;           /* THROTTLE records */
	u64 n_undecoded;           /* samples and side-band records whose fields do not fit */
	u64 n_unread_samples;      /* of these, the samples */
	u64 n_odd;                 /* records that say what cannot be: record/oddity.h */
	u64 odd_offset;            /* of the first of them */
	enum oddity oddity;        /* and what it says */
	u64 n_foreign_id;          /* samples of an event that the file does not describe */
	u64 n_not_native;          /* records of the other byte order that make no sense */
	u64 n_out_of_order;        /* side-band records that stand behind a later one */
	u64 first_time, last_time; /* of samples; 0 without times. Filled in by pass 2 */
	struct reader_damage damage;
};

/* Who wants to see all records of the first pass, samples too, in the order of the file. */
struct session_observer {
	void *ctx;
	void (*see)(void *ctx, const struct record *rec); /* per record; a view */
	const struct session_observer *next;              /* session_watch() */
};

/* A value that a sample read: a sample of that event. */
struct session_value {
	u64 period; /* 0: the counter stood still */
	u32 event;  /* TABLE_NONE: of none that the recording describes */
};

/* A SAMPLE record with such values: those from `first` up to the next one's. */
struct session_reading {
	u64 nr; /* of all SAMPLE records, from 0 */
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
	unsigned n_readers; /* workers that some of the pieces fell to in the second pass */
	VEC(struct session_reading) readings; /* after the first pass */
	VEC(struct session_value) values;     /* of these */
	bool has_times;                       /* records of all kinds carry the time */
	bool has_kernel_samples;
	bool is_live; /* session_begin_live(): its events are somebody else's */
	u64 n_held;   /* bytes that what was made of its records so far takes */
	/*
	 * So many bytes of records are looked through for samples, in pieces from all parts of the file; of what
	 * is packed in its beginning. 0: all. The tally has all samples.
	 */
	u64 read_most;
	u64 n_read; /* records of samples that session_samples() has looked at */
	const struct session_observer *observers; /* session_watch(); the last one first */
};

struct session_sample {
	const struct sample
		*sample; /* cpu is (u32)-1 where it was not recorded; period is always filled in */
	const struct record *rec;
	u32 event;
	u32 taken_by; /* the event whose record it is: another one if that has read this one's counter */
	bool is_next; /* as the sample before, of the same record, but of another counter */
	u64 time;     /* ns, or the offset in the file */
};

struct session_sink {
	u64 wanted; /* PERF_SAMPLE_* fields; the others may be missing */
	void (*sample)(void *worker, const struct session_sample *s); /* per sample */
	void **workers; /* one context for each worker */
	/* How many bytes what it made of its samples takes; NULL: nothing that grows. */
	u64 (*held)(const void *worker);
};

int session_open(struct session *s, const char *path, struct log *log, struct err *err);
int session_open_fd(struct session *s, int fd, const char *name, struct log *log, struct err *err);
void session_close(struct session *s);

/* Of no file: for records that are measured now (stream_push()). `events`, how they were opened, are borrowed. */
void session_begin_live(struct session *s, const struct event_list *events, struct log *log);

/* Before the first pass, after which nobody observes any more: it must stay where it is until then. */
void session_watch(struct session *s, struct session_observer *observer);

/*
 * `state` gets every record for which record_is_state(); its body is a view that ends with the
 * call. It says how many bytes what it made of them so far takes: where that is more than the
 * recording's allowance, reading ends with ERR_LIMIT.
 */
int session_scan(struct session *s,
	u64 (*state)(void *ctx, const struct record *rec, const union record_body *body, u64 time),
	void *ctx, struct err *err);
/*
 * For who walks over the records by himself (stream.c): counts a record in the tally, and takes in
 * what it says of events; at the end of a cursor, what became of it. Of a live session there is no cursor.
 */
void session_take(struct session *s, struct reader_cursor *c, const struct record *rec);
void session_note_end(struct session *s, const struct reader_cursor *c);

/* Counts a record that says what cannot be; ODDITY_NONE: does nothing. */
void session_note_odd(struct session_tally *t, const struct record *rec, enum oddity oddity);

/*
 * After all records were seen: says, as a note, what a recording without samples holds instead, and which
 * command shows that; and that a trace beside the samples is not looked at.
 */
void session_explain_content(const struct session *s);

int session_samples(struct session *s, unsigned n_workers, const struct session_sink *sink,
	struct err *err);

#endif
