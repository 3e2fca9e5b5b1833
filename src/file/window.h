/*
 * window.h - the newest seconds of a recording, kept in memory until a caller wants them in a file.
 *
 * In       runs of whole records, as they come from rings; the time of CLOCK_MONOTONIC
 * Out      into a file: first who ran what before the window (tasks, maps, names), then every record
 *          of the window, round by round
 * Owns     copies of the records. Of rounds older than the window only the records of tasks, maps and
 *          code are kept, and those that no longer hold are dropped (checkpoint.h), so that memory grows
 *          with what is running, not with what has run
 * Units    ns of CLOCK_MONOTONIC, when a record was read: at most 100 ms, or 1/64 of the window if
 *          that is more, after it was written
 * Errors   the writer's
 *
 * Why not overwritten rings? They hold a size, not a time: a busy CPU's ring would reach back less far than
 * an idle one's, and the kernel writes no LOST records into them. The window holds everything that
 * arrived, and losses are reported as in any recording. The price is one copy of each record.
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
	u32 time_from_end; /* of the time in a record; 0: unknown (checkpoint.h) */
	u64 most_bytes;    /* limit for the rounds; 0: none */
	struct str state;  /* records from before the rounds */
	u64 state_ns;      /* when the last record of `state` was read */
	bool has_news; /* records were added to `state` since it was last compacted as complete */
	size_t compacted; /* bytes of `state` after the last compaction */
	VEC(struct window_round) rounds;
	u64 bytes;     /* in all rounds */
	bool was_full; /* most_bytes made it shorter than span_ns at least once */
};

void window_init(struct window *w, u64 span_ns, u64 most_bytes, u32 time_from_end);
void window_fini(struct window *w);

/* Where the time stands in the records of all these events, as window_init() takes it; 0: not in the same place. */
u32 window_time_place(const struct event_list *events);

void window_add(struct window *w, const struct iovec *runs, int n, u64 now_ns);

/*
 * Adds what a recorder reads. At the end counters report all that they dropped since they were opened, which is left out:
 * what the window lacks is told by LOST records.
 */
struct sink window_sink(struct window *w);

/* Moves rounds that are older than the window into `state`. */
void window_advance(struct window *w, u64 now_ns);

/* Appends everything to the file. The window stays as it is. */
int window_write(const struct window *w, struct writer *writer, struct err *err);

/* Appends those records that describe tasks, maps and code, which stay true after their moment. */
void window_keep_lasting(const struct str *records, struct str *out);

/* Drops from `state` what is no longer true. window_advance() calls it when it pays. */
void window_compact(struct window *w, u64 now_ns);

#endif
