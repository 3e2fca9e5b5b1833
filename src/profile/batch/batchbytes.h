/*
 * batchbytes.h - a batch as bytes: what is kept in files and sent.
 *
 * A file is BATCH_MAGIC and chunks. A chunk is a head (struct batch_head) and a batch's tables, packed by zstd; all but
 * the first chunk of a file are packed with the first one's tables as their prefix, because the functions of one
 * minute are mostly those of another. So any chunk is read with the first one and nothing else, chunks are appended by
 * one write, and a file that ends within a chunk lacks only that one.
 * In       batches; or the bytes of a file, hostile ones included
 * Out      bytes; batches, whose tables hold what their invariants say
 * Owns     the reader its prefix; not the bytes
 * Errors   ERR_FORMAT with the file, offset and reason; the reader goes on with the next chunk
 */
#ifndef PACE_PROFILE_BATCHBYTES_H
#define PACE_PROFILE_BATCHBYTES_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "profile/batch/batch.h"

#define BATCH_MAGIC "PACEBAT1"

enum {
	BATCH_MAGIC_BYTES = 8,
	BATCH_PLAIN_MOST = 64 << 20, /* bytes of a batch's tables */
};

/* Little-endian, as all numbers of the file. */
struct batch_head {
	u8 magic[4]; /* BATCH_CHUNK */
	u32 is_first;
	u32 n_packed, n_plain; /* bytes that follow; bytes that they unpack to */
	u64 start_ns, end_ns;
	u64 check; /* of the packed bytes and the head before it */
};

#define BATCH_CHUNK "pbc1"

struct batch_writer {
	struct str prefix; /* the first batch's tables */
};

/* Adds the bytes of the next chunk of a file, with BATCH_MAGIC in front of the first. */
int batch_write(struct batch_writer *w, const struct batch *b, struct str *out, struct err *err);
void batch_writer_fini(struct batch_writer *w);

/* A writer that goes on in a file with these bytes. ERR_FORMAT: its first chunk cannot be read. */
int batch_writer_resume(struct batch_writer *w, struct bytes file, const char *path,
	struct err *err);

/* The tables, not packed; and the batch that they are of, or the reason why they are damaged. */
void batch_add_tables(const struct batch *b, struct str *out);
const char *batch_of_tables(struct bytes tables, struct batch *ret);

struct batch_reader {
	const char *path; /* of messages; borrowed */
	struct bytes left;
	u64 plain_most; /* bytes of a batch's tables; more is damage */
	struct str prefix;
	struct batch_head head; /* of the last chunk */
	struct bytes packed;
};

bool batch_recognizes(const u8 *first, size_t n);

/* Begins at a file's first byte. */
int batch_reader_init(struct batch_reader *r, struct bytes file, const char *path, struct err *err);
void batch_reader_fini(struct batch_reader *r);

/*
 * Moves to the next chunk, whose times are then in `head`: 1; 0 at the end; or an error of damage, after which the
 * next call finds the chunk behind it. batch_read() makes the batch; it must not be initialized.
 */
int batch_next(struct batch_reader *r, struct err *err);
int batch_read(struct batch_reader *r, struct batch *ret, struct err *err);

#endif
