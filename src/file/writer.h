/*
 * writer.h - a perf.data file on its way to the disk.
 *
 * In       events with their ids; runs of whole records; at the end a struct file_info, or for a
 *          pipe at the start
 * Out      a file that perf reads, at every moment: the header's data size is brought up to date by
 *          writer_sync(), and records are never cut
 * Owns     the file descriptor
 * Errors   ERR_LIMIT when the disk is full or the size limit is reached: what was written so far
 *          stays a complete file, writer_finish() still adds its sections from space that was set
 *          aside at the start
 * Source   perf.data-file-format.txt; fallocate(2)
 *
 * A file of that name is moved to NAME.old; the new one is made with O_EXCL and mode 0600, so a
 * link that somebody laid there is never followed.
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
		struct str bytes; /* as they are in the file */
		VEC(struct layout_early) table;
	} foretold;       /* of it, the sections that the end need not repeat */
	u64 reserved_end; /* the disk has room for us up to here */
	u64 size_limit;   /* of the process: RLIMIT_FSIZE */
	u64 reserve;      /* bytes kept free for the sections at the end */
	bool can_reserve; /* the file system knows fallocate() */
	bool is_file;     /* not /dev/null, not a pipe */
	bool is_pipe;     /* writer_open_pipe() */
	bool is_full;
	const struct event_list *changed; /* borrowed; NULL: the ids in the file are all */
	u32 *id_room;          /* by event: for how many ids there is room at the start */
	struct packer *packer; /* borrowed; NULL: records are written as they are */
};

/* Moves an old file aside, creates the new one, writes header, ids and attrs. */
int writer_open(struct writer *w, const char *path, const struct event_list *events,
	struct err *err);

/*
 * The same into a pipe, which is closed at the end: what a file has in sections goes ahead as
 * records. What is known at the end only is missing: build-ids, times.
 */
int writer_open_pipe(struct writer *w, int fd, const struct event_list *events,
	const struct file_info *info, struct err *err);

/*
 * Writes what `info` says at the start before the records, for the case that the end of the file is
 * never written. Before anything was appended.
 */
int writer_foretell(struct writer *w, const struct file_info *info, struct err *err);

/*
 * Lets records be packed from here on. `info` says how: a file whose end is never written has that among
 * its records, where perf looks for it too.
 */
int writer_pack(struct writer *w, struct packer *packer, const struct file_info *info,
	struct err *err);

/* Appends runs of whole records; a record may go on from one run into the next. */
int writer_append(struct writer *w, const struct iovec *runs, int n, struct err *err);

/* Brings the header's data size up to date, so that a reader sees everything so far. */
int writer_sync(struct writer *w, struct err *err);

/* Both, for a recorder. */
struct sink writer_sink(struct writer *w);

/*
 * The events have got more ids since the file was opened. Where that was foreseen (event.n_more_ids) a
 * reader knows them at once; else writer_finish() will write them all behind the sections.
 */
void writer_change_ids(struct writer *w, const struct event_list *events);

/*
 * Writes all sections that `info` can fill and the final header. Again with more of them: the file is
 * whole at every moment but a short one.
 */
int writer_finish(struct writer *w, const struct file_info *info, struct err *err);

/* The same with sections from elsewhere: `add` appends section `id`, or says that there is none. */
int writer_finish_with(struct writer *w, bool (*add)(void *ctx, unsigned id, struct str *out),
	void *ctx, struct err *err);

/* Closes the file. `keep` false removes it and brings the old one back: nothing was recorded. */
void writer_close(struct writer *w, bool keep);

static inline u64 writer_data_bytes(const struct writer *w)
{
	return w->data_end - w->header.data.offset;
}

#endif
