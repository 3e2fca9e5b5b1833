/*
 * window.h - the newest seconds of a recording, kept in memory until somebody wants them in a file.
 *
 * In       runs of whole records, as they come out of rings; the time of CLOCK_MONOTONIC
 * Out      into a file: first who ran what before the window (tasks, maps, names), then every record
 *          of the window, round by round
 * Owns     copies of the records. Rounds older than the window are forgotten but for what they tell
 *          of tasks, maps and code; what of that is not so any more is forgotten too (checkpoint.h), so
 *          that memory grows with what runs and not with what has run
 * Units    ns of CLOCK_MONOTONIC, when a record was read; not later than 100 ms, or 1/64 of the
 *          window if that is more, behind the moment it was written at
 * Errors   the writer's
 *
 * Why no overwritten rings: these hold a size, not a time; a busy CPU's would reach back less far than an
 * idle one's, and the kernel writes no LOST records into them. What is kept here is all that came, and
 * what was lost meanwhile is told as in any recording. The price is one copy of each record.
 */
#ifndef PACE_FILE_WINDOW_H
#define PACE_FILE_WINDOW_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"
#include "file/writer.h"

struct window_round {
	u64 begin_ns, end_ns; /* when its first and its last records were read */
	struct str records;
};

struct window {
	u64 span_ns;
	u32 time_from_end; /* of records; 0: unknown (checkpoint.h) */
	u64 most_bytes;    /* of the rounds; 0: as many as there are in the time */
	struct str state;  /* records of before the rounds */
	u64 state_ns;      /* when the last of them were read */
	bool has_news;     /* in it, since it was last compacted behind all that belongs there */
	size_t compacted;  /* bytes of `state` when it was last compacted */
	VEC(struct window_round) rounds;
	u64 bytes;     /* of all rounds */
	bool was_full; /* most_bytes made it shorter than span_ns at least once */
};

void window_init(struct window *w, u64 span_ns, u64 most_bytes, u32 time_from_end);
void window_fini(struct window *w);

void window_add(struct window *w, const struct iovec *runs, int n, u64 now_ns);

/* Forgets what is older than the window. */
void window_advance(struct window *w, u64 now_ns);

/* Appends everything to the file; the window stays as it is. */
int window_write(const struct window *w, struct writer *writer, struct err *err);

/* Appends those of whole records that tell of tasks, maps and code that stay. */
void window_keep_lasting(const struct str *records, struct str *out);

/* Drops from `state` what is not so any more. Done by window_advance() when it pays. */
void window_compact(struct window *w, u64 now_ns);

#endif
