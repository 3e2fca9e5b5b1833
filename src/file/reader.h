/*
 * reader.h - a recording, opened whatever its dialect, and walked record by record.
 *
 * Dialects: file mode and pipe mode, version 1, the other byte order, compressed, a directory with
 * a file for each thread of the recorder. Whoever walks sees none of it: records come unpacked and
 * in this machine's byte order.
 * In       the path of a file or directory, or "-" for standard input
 * Out      events with names and ids; facts from the sections; records
 * Owns     the descriptors, the events, the facts
 * Life     a record is a view into its cursor's buffer, valid until the cursor's next step
 * Units    offsets are those of the file; the files of a directory are counted as one behind the
 *          other. The records of a compressed one all have its offset
 * Errors   ERR_NOENT, ERR_PERM, ERR_FORMAT with file, offset and reason. Damage behind the header
 *          is not fatal: it ends the walk and is described in struct reader_damage
 * Threads  a cursor belongs to one thread; any number of cursors at once, unless the recording
 *          comes from a pipe (is_stream) or is_packed. The reader changes in reader_open(),
 *          reader_take() and reader_spool() only
 * Source   perf.data-file-format.txt
 */
#ifndef PACE_FILE_READER_H
#define PACE_FILE_READER_H

#include "base/err.h"
#include "base/log.h"
#include "base/types.h"
#include "event/abi.h"
#include "event/event.h"
#include "file/allowance.h"
#include "file/feature.h"
#include "file/layout.h"
#include "file/mapping.h"
#include "record/formats.h"
#include "record/oddity.h"
#include "record/record.h"

/* A file of a directory, or the only one. Its byte at `from` has the offset `base` + `from`. */
struct reader_part {
	int fd;
	u64 base;
	u64 from, end; /* where records are, in the file */
	/* All of it, for all cursors; at NULL: it is read, or too large for that. */
	struct mapping mapping;
};

struct reader {
	const char *path; /* borrowed */
	struct allowance allowance;
	u64 file_size; /* of the file with the header; UINT64_MAX for a pipe */
	struct layout_header header;
	u64 preface; /* of a file in pipe mode: where its records about events begin; else data_start */
	u64 data_start, data_end; /* offsets of the records; data_end UINT64_MAX for a pipe */
	VEC(struct reader_part) parts;
	bool is_pipe_mode; /* what `record -o -` writes, in a pipe or in a file by now */
	bool is_stream;    /* cannot be read twice: see reader_spool() */
	bool is_version_1;
	bool is_foreign; /* the other byte order */
	bool is_packed;  /* there are compressed records: they can only be read from the start */
	bool is_directory;
	bool has_typed_sections; /* Google's perf: see pipe.c */
	char *kallsyms; /* a copy that lies in the directory ('perf record --kcore'); NULL: none */
	bool is_unfinished; /* the recorder never wrote its last header */
	bool is_cut;        /* the file ends before its data does */
	u64 n_behind; /* records behind the end that the header says: its recorder was killed */
	/* The table of what was known at the start; size 0: not needed, or there is none. */
	struct layout_section early;
	VEC(struct layout_section)
	ids; /* where ids lie, in the order of events; touching ones are one */
	struct event_list events;
	struct formats formats; /* of the events' samples */
	struct layout_section sections[LAYOUT_FEATURE_BITS];
	struct file_info info;
	/* Bytes of a stream that were read already, and the offset of the first of them. */
	struct str ahead;
	u64 ahead_from;
	bool has_new_events; /* since `formats` were made */
	u64 taken_to;        /* in pipe mode: behind the last record that reader_take() took in */
	u8 start[LAYOUT_PIPE_HEADER]; /* of what is no recording, after an error: of a stream they are read */
	size_t n_start;
	u64 n_named; /* comparisons made to name events: READER_NAMING_LIMIT is the end */
};

/* What names events is compared with all of them: many with many must end. */
enum { READER_NAMING_LIMIT = 1 << 28 };

/* That is a file which begins as recordings do. */
bool reader_is_recording(const char *path);

int reader_open(struct reader *r, const char *path, struct log *log, struct err *err);

/* The same from a descriptor, which stays the caller's; `name` is for messages. */
int reader_open_fd(struct reader *r, int fd, const char *name, struct log *log, struct err *err);
void reader_close(struct reader *r);

/* What may be made of it, as far as it is known at an offset: a pipe has no size. */
static inline u64 reader_allows(const struct reader *r, u64 offset)
{
	return allowance_bytes(&r->allowance, r->is_stream ? offset : r->data_end);
}

/*
 * Copies what is left of a stream into a nameless temporary file, so that it can be read twice and
 * by many. No cursor may be open.
 */
int reader_spool(struct reader *r, struct err *err);

/* Why and where a walk ended before its time. */
struct reader_damage {
	u64 offset;         /* of the first byte that was not read as a record */
	u64 bytes;          /* how many were left */
	const char *reason; /* a literal */
};

struct reader_unpacker;

struct reader_cursor {
	struct reader *reader;
	u64 from, at, end; /* offsets: where it began; the next record; where to stop */
	const struct reader_part *part; /* that it is in; NULL: none yet */
	const u8 *buf;                  /* `own`, or what is mapped of the file */
	u64 buf_at, buf_n;              /* offset and length of what the buffer holds */
	u64 plain_n;                    /* buf_n if records can be handed out as they are, else 0 */
	u8 *own;
	bool is_mapped; /* rather than read */
	struct mapping mapping;
	u8 *native;                       /* a record of the other byte order, turned around */
	struct reader_unpacker *unpacker; /* NULL until there is something to unpack */
	u64 payload;                      /* bytes behind the last record that belong to it */
	u64 n_text;                       /* bytes of text behind the last record */
	u64 n_not_native;                 /* records of the other byte order that make no sense */
	u64 n_unpacked;                   /* bytes that compressed records came to so far */
	struct reader_damage damage;      /* reason NULL: none */
};

/* A cursor over [from, to) of the data; `from` is where a record starts. */
void reader_cursor_init(struct reader_cursor *c, struct reader *r, u64 from, u64 to);
/* The same cursor, buffer and all, over another part. */
void reader_cursor_aim(struct reader_cursor *c, u64 from, u64 to);
void reader_cursor_fini(struct reader_cursor *c);

/* reader_next() where it takes more than a look into the buffer. */
int reader_next_hard(struct reader_cursor *c, struct record *ret_rec, struct err *err);

/* What the file says that all samples of an event keep to. */
struct oddity_limits reader_limits(const struct reader *r, u32 event);

/* Whether a record stays until reader_close(), wherever its cursor goes: all of its file is mapped. */
bool reader_stays(const struct reader *r, const struct record *rec);

/* Whether n bytes of the file with the header, from `offset` on, are there and all zero. Not of a stream. */
bool reader_is_zero(const struct reader *r, u64 offset, u64 n);

/* 1: *ret_rec is the next record; 0: the end, or damage (see c->damage); < 0: reading failed. */
static inline int reader_next(struct reader_cursor *c, struct record *ret_rec, struct err *err)
{
	u64 offset = c->at - c->buf_at;
	struct record_header header;

	/* For one that wraps, nothing is in the buffer. */
	if (UNLIKELY(c->at >= c->end || offset >= c->plain_n ||
		    c->plain_n - offset < sizeof(header)))
		return reader_next_hard(c, ret_rec, err);
	memcpy(&header, c->buf + offset, sizeof(header));
	if (UNLIKELY(header.size < sizeof(header) || header.size > c->plain_n - offset ||
		    header.type >= PERF_RECORD_USER_TYPE_START))
		return reader_next_hard(c, ret_rec, err);
	*ret_rec = (struct record){header.type, header.misc, header.size, c->buf + offset, c->at};
	c->at += header.size;
	return 1;
}

/*
 * The bytes behind the record that was just handed out and that belong to it without being in its
 * size: a trace (AUXTRACE), formats of tracepoints (TRACING_DATA), the rest of a large record of
 * simpleperf's. Appends them to `out`; without
 * this call they are skipped. ERR_LIMIT if there are more than `limit`.
 */
int reader_payload(struct reader_cursor *c, u64 limit, struct str *out, struct err *err);

/*
 * Takes in the record that was just handed out, if it says what a section would: events, names,
 * build-ids, features. Pipe mode has nothing else. What was taken in by a walk before is not taken
 * in again.
 */
void reader_take(struct reader_cursor *c, const struct record *rec, struct log *log);

/* Of a file, before its walk: the records at its beginning that say what sections of other files do. */
int reader_take_front(struct reader *r, struct log *log, struct err *err);

/* After reader_take() took in events, before records of theirs are decoded. */
void reader_settle(struct reader *r);

/* ---- for reader.c, cursor.c and pipe.c only ---- */

/* Reads from a pipe until `n` bytes are ahead, or it ends. */
int reader_read_ahead(struct reader *r, size_t n, struct err *err);

/* Takes in what stands before the first record of what ran; the others come next then. */
int reader_open_pipe_mode(struct reader *r, struct log *log, struct err *err);

/* Names the events whose config is `id`, if nobody has named them better. */
void reader_name_event_type(struct reader *r, u64 id, const char *name, size_t room);

/*
 * Names the events by what the sections say: EVENT_DESC has what the user called them, the formats of
 * tracepoints have theirs, simpleperf a list. Puts them into their groups.
 */
void reader_name_events(struct reader *r);

#endif
