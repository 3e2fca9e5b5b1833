/*
 * timeline.h - the samples of a profile in the order of time: when, where, which thread, and the profile's row that
 * counts each.
 *
 * A profile's rows say what was counted, not when. Views that show time (exports with slices, the page's time section)
 * walk the timeline and look at each sample's row: its event, its stack and its labels, with names as soon as the rows
 * have them. The samples are counted in the same pass as the rows (struct aggregate_options.timeline_most).
 * In       samples as profile/gather/aggregate counts them: timeline_add(), then the rows' numbers
 * Out      samples by time, threads with their names
 * Owns     its arrays and strings
 * Units    ns of the perf clock; periods like the rows'
 * Errors   none
 * Threads  one; each worker has its own, and timeline_merge() joins them
 *
 * Invariant: as long as all samples are kept (`every` is 1), the samples of a row sum to its counts. Samples without
 * times are left out and counted in n_timeless.
 */
#ifndef PACE_PROFILE_TIMELINE_H
#define PACE_PROFILE_TIMELINE_H

#include "base/str.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

/* How many samples are kept unless another number is asked for: 64 MB of memory. */
enum { TIMELINE_MOST = 2000000 };

struct timeline_thread {
	u32 pid, tid;
	const char *comm; /* interned; a thread that changes its name is several threads here */
};

struct timeline_sample {
	u64 time;
	u64 period; /* of all samples that this one stands for */
	u32 row;    /* position in the profile's rows */
	u32 thread; /* position in threads */
	u32 cpu;    /* (u32)-1: not recorded */
	u32 n;      /* how many samples it stands for */
};

struct timeline {
	VEC(struct timeline_sample)
	at; /* by time after timeline_sort(); equal times by thread, CPU and event */
	VEC(struct timeline_thread) threads;
	struct table thread_index;
	struct intern strings;
	u32 every; /* one of so many samples is kept, chosen by a hash of time and thread; 1: all */
	u64 n_timeless;
	u32 last_thread; /* the thread of the sample before, + 1; 0: none */
};

struct timeline *timeline_new(u32 every);
void timeline_free(struct timeline *t);

/* How many samples must share one place so that at most `most` of `n_samples` are kept. */
u32 timeline_every(u64 n_samples, u64 most);

/* per sample: whether the sample of this thread and time is one of those kept */
bool timeline_wants(const struct timeline *t, u32 tid, u64 time);

/* per sample: adds a kept sample of that thread, whose `thread` is filled in and whose `n` and period are scaled */
void timeline_add(struct timeline *t, const struct timeline_thread *thread,
	const struct timeline_sample *sample);

/* Adds all of `from`, whose row 0 is now the row `first_row`. */
void timeline_merge(struct timeline *t, const struct timeline *from, u32 first_row);

/* Moves samples to the rows that `rows` says, by their present rows; TABLE_NONE: the sample is dropped. */
void timeline_move(struct timeline *t, const u32 *rows);

/* Sorts the samples. `event_of` tells the event of a row, for samples of the same time. */
void timeline_sort(struct timeline *t, u32 (*event_of)(const void *ctx, u32 row), const void *ctx);

/* The bytes of memory in use. */
u64 timeline_bytes(const struct timeline *t);

/* The position of the first sample at `time` or later; the timeline must be sorted. */
size_t timeline_find(const struct timeline *t, u64 time);

#endif
