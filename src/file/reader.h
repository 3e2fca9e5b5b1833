/*
 * reader.h - opens a recording in any dialect and walks it record by record.
 *
 * Dialects: file mode and pipe mode, version 1, the other byte order, compressed, a directory with
 * a file for each of the recorder's threads. Callers see none of it: records come unpacked and in
 * this machine's byte order.
 * In       the path of a file or directory, or "-" for standard input
 * Out      events with names and ids; facts from the sections; records
 * Owns     the descriptors, the events, the facts
 * Life     a record is a view into its cursor's buffer, valid until the cursor's next step
 * Units    offsets are those of the file; the files of a directory count as one file, each starting
 *          where the one before ends. Unpacked records have the offset of their compressed record
 * Errors   ERR_NOENT, ERR_PERM, ERR_FORMAT with file, offset and reason. Damage behind the header
 *          is not fatal: it ends the walk and is described in struct reader_damage
 * Threads  a cursor belongs to one thread; any number of cursors at once, unless the recording
 *          comes from a pipe (is_stream) or is_packed. The reader itself changes only in
 *          reader_open(), reader_take() and reader_spool()
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

/* The file, or one file of a directory. Its byte at `from` has the offset `base` + `from`. */
struct reader_part {
	int fd;
	u64 base;
	u64 from, end; /* where its records are, within this file */
	/*
	 * The whole file, shared by all cursors; .at NULL: too large to map, or mapping does not
	 * pay.
	 */
	struct mapping mapping;
};

struct reader {
	const char *path; /* borrowed */
	struct allowance allowance;
	u64 file_size; /* of the file with the header; UINT64_MAX for a pipe */
	struct layout_header header;
	u64 preface; /* in pipe mode, where the records about events begin; else data_start */
	u64 data_start, data_end; /* offsets of the records; data_end UINT64_MAX for a pipe */
	VEC(struct reader_part) parts;
	bool is_pipe_mode; /* the format of `record -o -`, in a pipe or stored in a file */
	bool is_stream;    /* cannot be read twice: see reader_spool() */
	bool is_version_1;
	bool is_foreign; /* the other byte order */
	bool is_packed;  /* has compressed records, which can only be read from the start */
	bool is_directory;
	bool has_typed_sections; /* Google's perf: see pipe.c */
	char *kallsyms; /* path of the copy in the directory ('perf record --kcore'); NULL: none */
	bool is_unfinished; /* the recorder never wrote the final header */
	bool is_cut;        /* the file ends before its data should */
	u64 n_behind; /* records behind the end given by the header: the recorder was killed */
	/* The table of what was known at the start; size 0: not needed, or there is none. */
	struct layout_section early;
	VEC(struct layout_section)
	ids; /* where the ids are, in the order of events; adjacent ranges are joined */
	struct event_list events;
	struct formats formats; /* of the samples of each event */
	struct layout_section sections[LAYOUT_FEATURE_BITS];
	struct file_info info;
	/* Bytes of a stream that were read ahead, and the offset of the first one. */
	struct str ahead;
	u64 ahead_from;
	bool has_new_events; /* since `formats` was made */
	u64 taken_to;        /* end of the last record that reader_take() took in */
	/* After an error: the first bytes, if this is no recording. A stream cannot be read for them twice. */
	u8 start[LAYOUT_PIPE_HEADER];
	size_t n_start;
	u64 n_named; /* comparisons made to name events, up to READER_NAMING_LIMIT */
};

/* Each name is compared with all events. This limit ends the work if there are very many of both. */
enum { READER_NAMING_LIMIT = 1 << 28 };

/* Whether a path is a file that begins as recordings do. */
bool reader_is_recording(const char *path);

int reader_open(struct reader *r, const char *path, struct log *log, struct err *err);

/* The same from a descriptor, which stays the caller's. `name` is for messages. */
int reader_open_fd(struct reader *r, int fd, const char *name, struct log *log, struct err *err);
void reader_close(struct reader *r);

/*
 * How many bytes may be made of the recording, given that it was read up to `offset`: a pipe has no
 * size.
 */
static inline u64 reader_allows(const struct reader *r, u64 offset)
{
	return allowance_bytes(&r->allowance, r->is_stream ? offset : r->data_end);
}

/*
 * Copies the rest of a stream into a nameless temporary file, so that it can be read twice and by
 * several cursors. No cursor may be open.
 */
int reader_spool(struct reader *r, struct err *err);

/* Why and where a walk ended early. */
struct reader_damage {
	u64 offset;         /* of the first byte that was not read as a record */
	u64 bytes;          /* how many were left */
	const char *reason; /* a literal */
};

struct reader_unpacker;

struct reader_cursor {
	struct reader *reader;
	u64 from, at, end; /* offsets: where it began; the next record; where to stop */
	const struct reader_part *part; /* the part it is in; NULL: none yet */
	const u8 *buf;                  /* `own`, or mapped pages of the file */
	u64 buf_at, buf_n;              /* offset and length of what the buffer holds */
	u64 plain_n;                    /* buf_n if records can be returned as they are, else 0 */
	u8 *own;
	bool is_mapped; /* rather than read */
	struct mapping mapping;
	u8 *native;                       /* room for a record of the other byte order, swapped */
	struct reader_unpacker *unpacker; /* NULL until the first compressed record */
	u64 payload;                      /* bytes behind the last record that belong to it */
	u64 n_text;                       /* bytes of text behind the last record */
	u64 n_not_native;                 /* records of the other byte order that made no sense */
	u64 n_unpacked;                   /* bytes unpacked from compressed records so far */
	u64 n_packed, n_packed2;          /* COMPRESSED and COMPRESSED2 records so far */
	struct reader_damage damage;      /* reason NULL: none */
};

/* Sets up a cursor over [from, to) of the data; a record must start at `from`. */
void reader_cursor_init(struct reader_cursor *c, struct reader *r, u64 from, u64 to);
/* Points the same cursor, with its buffer, at another range. */
void reader_cursor_aim(struct reader_cursor *c, u64 from, u64 to);
void reader_cursor_fini(struct reader_cursor *c);

/* The slow path of reader_next(). */
int reader_next_hard(struct reader_cursor *c, struct record *ret_rec, struct err *err);

/* The limits that samples of an event must keep to, according to the file. */
struct oddity_limits reader_limits(const struct reader *r, u32 event);

/*
 * Whether a record stays valid until reader_close(), whatever its cursor does: its file is mapped
 * as a whole.
 */
bool reader_stays(const struct reader *r, const struct record *rec);

/* Whether [offset, offset + n) of the file with the header exists and is all zeros. Not for streams. */
bool reader_is_zero(const struct reader *r, u64 offset, u64 n);

/* 1: *ret_rec is the next record; 0: the end, or damage (see c->damage); < 0: reading failed. */
static inline int reader_next(struct reader_cursor *c, struct record *ret_rec, struct err *err)
{
	u64 offset = c->at - c->buf_at;
	struct record_header header;

	/* If c->at is before the buffer, `offset` wraps and the test fails too. */
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
 * Appends to `out` the bytes that follow the last record and belong to it without being part of its
 * size: a trace (AUXTRACE), formats of tracepoints (TRACING_DATA), the rest of one of simpleperf's
 * large records. Without this call they are skipped. ERR_LIMIT if there are more than `limit`.
 */
int reader_payload(struct reader_cursor *c, u64 limit, struct str *out, struct err *err);

/*
 * Takes in the last record if it says what a section would: events, names, build-ids, features. In
 * pipe mode that is the only source. What an earlier walk took in is not taken in again.
 */
void reader_take(struct reader_cursor *c, const struct record *rec, struct log *log);

/*
 * Takes in the first records of a file, before its walk, if they say what other files have in
 * sections.
 */
int reader_take_front(struct reader *r, struct log *log, struct err *err);

/*
 * Makes the formats of events that reader_take() took in. Must precede the decoding of their
 * records.
 */
void reader_settle(struct reader *r);

/* ---- for reader.c, cursor.c and pipe.c only ---- */

/* Reads from a pipe until `n` bytes are read ahead, or it ends. */
int reader_read_ahead(struct reader *r, size_t n, struct err *err);

/* Takes in the preface; the cursor's next record is the first one behind it. */
int reader_open_pipe_mode(struct reader *r, struct log *log, struct err *err);

/* Names the events whose config is `id`, unless they have a better name. */
void reader_name_event_type(struct reader *r, u64 id, const char *name, size_t room);

/*
 * Names the events by the sections: EVENT_DESC has the user's names for them, tracepoint formats
 * have names, and simpleperf has a list. Puts the events into their groups.
 */
void reader_name_events(struct reader *r);

#endif
