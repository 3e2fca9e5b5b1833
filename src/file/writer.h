/*
 * writer.h - writes a perf.data file.
 *
 * In       events with their ids; runs of whole records; a struct file_info, at the end or, for a
 *          pipe, at the start
 * Out      a file that perf can read at every moment: writer_sync() updates the header's data size, and
 *          records are never cut
 * Owns     the file descriptor
 * Errors   ERR_LIMIT when the disk is full or the size limit is reached: what was written so far stays
 *          a complete file, and writer_finish() still adds its sections, in space reserved at the start
 * Source   perf.data-file-format.txt; fallocate(2)
 *
 * A file that has the name is moved to NAME.old; the new one is created with O_EXCL and mode 0600, so
 * a link planted at that path is never followed.
 */
#ifndef PACE_FILE_WRITER_H
#define PACE_FILE_WRITER_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "collect/record/sink.h"
#include "event/event.h"
#include "file/feature.h"
#include "file/layout.h"
#include "file/newfile.h"
#include "file/packer.h"

struct writer {
	int fd;
	const char *path; /* borrowed */
	struct newfile made;
	struct layout_header header;
	u64 data_end;                /* file offset behind the last whole record */
	struct layout_section early; /* what writer_foretell() wrote */
	struct {
		struct str bytes; /* as written to the file */
		VEC(struct layout_early) table;
	} foretold;       /* the early sections that the end need not repeat */
	u64 reserved_end; /* disk space is reserved up to here */
	u64 size_limit;   /* of this process: RLIMIT_FSIZE */
	u64 reserve;      /* bytes kept free for the sections at the end */
	bool can_reserve; /* the file system knows fallocate() */
	bool is_file;     /* false: /dev/null or a pipe */
	bool is_pipe;     /* writer_open_pipe() */
	bool is_full;
	const struct event_list *changed; /* borrowed: with ids to write at the end; NULL: none */
	u32 *id_room;                     /* by event: how many ids have room at the start */
	struct packer *packer;            /* borrowed; NULL: records are written as they are */
};

/* Moves an old file aside, creates the new one, and writes header, ids and attrs. */
int writer_open(struct writer *w, const char *path, const struct event_list *events,
	struct err *err);

/*
 * Writes to a pipe instead, which is closed at the end. What a file has in sections is written
 * first, as records. What is known only at the end is missing: build-ids, times.
 */
int writer_open_pipe(struct writer *w, int fd, const struct event_list *events,
	const struct file_info *info, struct err *err);

/*
 * Writes the sections of `info` before the records, in case the end of the file is never written.
 * Call it before anything is appended.
 */
int writer_foretell(struct writer *w, const struct file_info *info, struct err *err);

/*
 * Packs records from here on. `info` describes how: it is also written as a record, where perf
 * looks for it too, in case the end of the file is never written.
 */
int writer_pack(struct writer *w, struct packer *packer, const struct file_info *info,
	struct err *err);

/* What a file says of how its records are packed; the ratio is that so far. */
struct file_compression writer_compression(const struct packer *p, int level);

/* Appends runs of whole records; a record may continue in the next run. */
int writer_append(struct writer *w, const struct iovec *runs, int n, struct err *err);

/* Updates the header's data size, so that a reader sees everything written so far. */
int writer_sync(struct writer *w, struct err *err);

/* Append and sync, for a recorder. */
struct sink writer_sink(struct writer *w);

/*
 * Takes over ids that the events got since the file was opened. If room was reserved for them
 * (event.n_more_ids), readers see them at once; else writer_finish() writes all ids behind the
 * sections.
 */
void writer_change_ids(struct writer *w, const struct event_list *events);

/*
 * Writes all sections that `info` can fill, and the final header. May be called again with more
 * sections: except for a short moment, the file is complete all the time.
 */
int writer_finish(struct writer *w, const struct file_info *info, struct err *err);

/*
 * The same with sections from elsewhere: `add` appends section `id`, or returns false if there is
 * none.
 */
int writer_finish_with(struct writer *w, bool (*add)(void *ctx, unsigned id, struct str *out),
	void *ctx, struct err *err);

/* Closes the file. `keep` false: removes it and restores the old one, as nothing was recorded. */
void writer_close(struct writer *w, bool keep);

static inline u64 writer_data_bytes(const struct writer *w)
{
	return w->data_end - w->header.data.offset;
}

#endif
