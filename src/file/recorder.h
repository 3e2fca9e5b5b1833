/*
 * recorder.h - rings drained into a file until the target ends or somebody says stop.
 *
 * In       opened counters and their events; a writer; a workload or none; blocked signals
 * Out      records in the file, one round after the other
 * Owns     the rings, the epoll and signal descriptors; not counters, writer, workload
 * Errors   recorder_open(): ERR_PERM when not even the smallest rings fit the mlock limit.
 *          recorder_run(): the writer's; what was written before stays a complete file
 * Source   perf_event_open(2), MMAP layout and Overflow handling
 */
#ifndef PACE_FILE_RECORDER_H
#define PACE_FILE_RECORDER_H

#include "base/err.h"
#include "base/log.h"
#include "collect/counter.h"
#include "collect/ring.h"
#include "collect/stop.h"
#include "collect/workload.h"
#include "event/target.h"
#include "file/writer.h"

/* A ring, and which counters write into it. */
struct recorder_ring {
	struct ring ring;
	s32 cpu;
	size_t *counters; /* positions in the list of counters: the first mapped it */
	size_t n_counters;
	/* Of `counters`: the one whose descriptor wakes us; n_counters: all have ended. */
	size_t watched;
};

enum recorder_end {
	RECORDER_TARGET_ENDED, /* the workload, or all threads that were attached to */
	RECORDER_SIGNAL,       /* see recorder->stop */
	RECORDER_FAILED,
};

struct recorder {
	const struct counters *counters;
	const struct event_list *events;
	struct writer *writer;
	struct workload *workload; /* NULL: none */
	struct log *log;
	VEC(struct recorder_ring) rings;
	VEC(struct iovec) runs;
	int epoll_fd;
	u64 pages; /* of each ring */
	u64 n_wakeups, n_rounds;
	u64 n_broken_rings;
	struct stop stop; /* stop.signal: the one that ended it */
};

/*
 * Maps one ring for each CPU and lets all counters of the CPU write into it. `pages` 0: what perf
 * takes (512 KiB), or less if the mlock limit is lower; each halving is said.
 */
int recorder_open(struct recorder *r, const struct counters *counters,
	const struct event_list *events, u64 pages, struct log *log, struct err *err);

/*
 * Runs until the end. The writer's data are whole and in the file when it returns; the last records
 * are LOST_SAMPLES with what each counter says it dropped (Linux >= 6.0; older kernels leave it at
 * LOST records).
 */
enum recorder_end recorder_run(struct recorder *r, struct writer *writer, struct workload *workload,
	struct err *err);
void recorder_close(struct recorder *r);

#endif
