/*
 * reader.h - a perf.data file, opened and walked record by record.
 *
 * In       the path of a regular file, written by perf or pace on a machine of this byte order
 * Out      events with names and ids; facts from the sections; records, from any number of cursors
 *          at once
 * Owns     the descriptor, the events, the facts
 * Life     a record is a view into its cursor's buffer, valid until the cursor's next step
 * Errors   ERR_NOENT, ERR_PERM, ERR_FORMAT with file, offset and reason; ERR_UNSUPPORTED for
 *          dialects that are not read yet. Damage behind the header is not fatal: it ends the walk
 *          and is described in struct reader_damage
 * Threads  a cursor belongs to one thread; the reader itself does not change after reader_open()
 * Source   perf.data-file-format.txt
 */
#ifndef PACE_FILE_READER_H
#define PACE_FILE_READER_H

#include "base/err.h"
#include "base/log.h"
#include "base/types.h"
#include "event/abi.h"
#include "event/event.h"
#include "file/feature.h"
#include "file/layout.h"
#include "record/record.h"

struct reader {
	int fd;
	const char *path; /* borrowed */
	u64 file_size;
	struct layout_header header;
	u64 data_start, data_end; /* file offsets of the records */
	bool is_unfinished;       /* the recorder never wrote its last header */
	bool is_cut;              /* the file ends before its data does */
	struct event_list events;
	struct layout_section sections[LAYOUT_FEATURE_BITS];
	struct file_info info;
};

int reader_open(struct reader *r, const char *path, struct log *log, struct err *err);
void reader_close(struct reader *r);

/* Why and where a walk ended before its time. */
struct reader_damage {
	u64 offset;         /* of the first byte that was not read as a record */
	u64 bytes;          /* how many were left */
	const char *reason; /* a literal */
};

struct reader_cursor {
	const struct reader *reader;
	u64 at, end; /* file offsets: the next record; where to stop */
	u8 *buf;
	u64 buf_at, buf_n;           /* file offset and length of what the buffer holds */
	struct reader_damage damage; /* reason NULL: none */
};

/* A cursor over [from, to) of the data; `from` is where a record starts. */
void reader_cursor_init(struct reader_cursor *c, const struct reader *r, u64 from, u64 to);
/* The same cursor, buffer and all, over another part. */
void reader_cursor_aim(struct reader_cursor *c, u64 from, u64 to);
void reader_cursor_fini(struct reader_cursor *c);

/* reader_next() where it takes more than a look into the buffer. */
int reader_next_hard(struct reader_cursor *c, struct record *ret_rec, struct err *err);

/* 1: *ret_rec is the next record; 0: the end, or damage (see c->damage); < 0: reading failed. */
static inline int reader_next(struct reader_cursor *c, struct record *ret_rec, struct err *err)
{
	u64 offset = c->at - c->buf_at;
	struct record_header header;

	/* For one that wraps, nothing is in the buffer. */
	if (UNLIKELY(c->at >= c->end || offset >= c->buf_n || c->buf_n - offset < sizeof(header)))
		return reader_next_hard(c, ret_rec, err);
	memcpy(&header, c->buf + offset, sizeof(header));
	if (UNLIKELY(header.size < sizeof(header) || header.size > c->buf_n - offset ||
		    header.type == PERF_RECORD_AUXTRACE))
		return reader_next_hard(c, ret_rec, err);
	*ret_rec = (struct record){header.type, header.misc, header.size, c->buf + offset, c->at};
	c->at += header.size;
	return 1;
}

#endif
