/*
 * recorder.h - drains rings into a sink until the target ends or recording is stopped.
 *
 * In       opened counters and their events; a sink; a workload or none; blocked signals
 * Out      records in the sink, round by round
 * Owns     the rings, the epoll and signal descriptors; not counters, sink, workload
 * Errors   recorder_open(): ERR_PERM when not even the smallest rings fit the mlock limit.
 *          recorder_run(): the sink's; what it took before is whole
 * Source   perf_event_open(2), MMAP layout and Overflow handling
 */
#ifndef PACE_COLLECT_RECORDER_H
#define PACE_COLLECT_RECORDER_H

#include <sched.h>

#include "base/err.h"
#include "base/log.h"
#include "collect/counter/counter.h"
#include "collect/record/reweigh.h"
#include "collect/counter/ring.h"
#include "collect/record/sink.h"
#include "collect/run/stop.h"
#include "collect/run/workload.h"
#include "event/event.h"

/*
 * Changes records on their way from the rings to the sink. In every round `see` gets all records
 * that have come to any ring; `settle` is called when it has seen them all; `take` then gets the
 * records of this round, ring by ring, and appends what is to be written for each.
 *
 * When a sample is taken, `see` has seen everything its task did, on any CPU, before the sample was
 * written: the round's end is read from all rings first, and only then how far `see` may look. A
 * record that was in its ring before the sample came to another ring is found by that second look.
 */
struct recorder_filter {
	void *ctx;
	/*
	 * Gets each record once. `is_due`: the record belongs to this round; else a later round
	 * takes it.
	 */
	void (*see)(void *ctx, const struct record *rec, bool is_due);
	void (*settle)(void *ctx);
	void (*take)(void *ctx, const struct record *rec, struct str *out);
	/*
	 * Whether records come faster than they are processed, so that the filter should do less.
	 * May be NULL.
	 */
	void (*hurry)(void *ctx, bool is_late);
};

/*
 * Steers a recording. `look` is called when a descriptor given to recorder_watch() is readable, at
 * `due_ns`, and after every drain; it must not wait. It may switch counters, replace the sink, take
 * a snapshot, and end the recording.
 */
struct recorder_pilot {
	void *ctx;
	u64 due_ns; /* on CLOCK_MONOTONIC; UINT64_MAX: none, only on what comes */
	int (*look)(void *ctx, bool *ret_is_end, struct err *err);
};

enum recorder_affinity { RECORDER_ANY_CPU, RECORDER_CPU_OF_RING, RECORDER_NODE_OF_RING };

/* A ring, and which counters write into it. */
struct recorder_ring {
	struct ring ring;
	u64 seen_to; /* end of what the filter has seen; of a backward ring, of what is written */
	u64 due_to;  /* where the round ends */
	bool is_backward; /* only drain_newest() reads it */
	bool is_deeper;   /* of counters that have replaced others */
	s32 cpu;          /* -1: a thread's ring, on whatever CPU it runs */
	pid_t tid;
	cpu_set_t cpus;       /* near the ring's memory */
	VEC(size_t) counters; /* indexes in the list of counters; the first one mapped the ring */
	/*
	 * Index in `counters` of the one whose descriptor wakes us; the number of counters: all
	 * have ended.
	 */
	size_t watched;
};

enum recorder_end {
	RECORDER_TARGET_ENDED, /* the workload, or all threads that are measured */
	RECORDER_SIGNAL,       /* see recorder->stop */
	RECORDER_ENOUGH,       /* the pilot ended it */
	RECORDER_FAILED,
};

struct recorder {
	struct counters *counters;
	struct event_list *events;
	const struct sink *sink;   /* borrowed, set before recorder_run() */
	struct workload *workload; /* NULL: none */
	struct log *log;
	const struct recorder_filter *filter; /* borrowed, set after recorder_open(); NULL: none */
	/* Optional, too. */
	struct recorder_pilot *pilot;
	const struct reweigh *reweigh; /* NULL: the kernel's periods are right */
	u64 flush_bytes;               /* less waits in its ring, for a second at most */
	enum recorder_affinity affinity;
	VEC(struct recorder_ring) rings;
	VEC(struct iovec) runs;
	struct str filtered; /* records for the sink that differ from those in the rings */
	int epoll_fd;
	u64 pages; /* of each ring */
	bool has_backward;
	cpu_set_t own_cpus; /* where this thread may run if `affinity` does not matter */
	u64 n_wakeups, n_rounds;
	u64 start_ns; /* when recorder_run() began */
	/* Highest fill of a ring when it was read, in per cent; whoever uses it resets it. */
	unsigned fullest_pct;
	unsigned round_pct; /* the same for the last round */
	int own_nice;       /* before recorder_run() */
	bool is_ahead;      /* its priority was raised for the run */
	u64 n_broken_rings;
	struct stop stop; /* stop.signal: the one that ended it */
};

/*
 * Maps one ring for each CPU and lets all counters of the CPU write into it. `pages` 0: perf's size
 * (512 KiB), or less if the mlock limit is lower, which is logged. If samples carry stack copies,
 * up to 8 MiB, which hold half a second of 2,000 samples a second; for all tasks of a CPU up to 32
 * MiB.
 */
int recorder_open(struct recorder *r, struct counters *counters, struct event_list *events,
	u64 pages, struct log *log, struct err *err);

/*
 * Runs until the end. On return everything is in the sink and synced. The last records are
 * LOST_SAMPLES with each counter's own number of drops (Linux >= 6.0; on older kernels there are
 * only LOST records).
 */
enum recorder_end recorder_run(struct recorder *r, struct workload *workload, struct err *err);

/*
 * Gives up the raised priority: for children that do not read rings. recorder_run() does so itself
 * when it returns.
 */
void recorder_fall_back(struct recorder *r);

/* Wakes the loop, and with it the pilot, whenever `fd` is readable. */
int recorder_watch(struct recorder *r, int fd, struct err *err);
/* The same for a counter, until its task ends. */
int recorder_watch_task(struct recorder *r, int fd, struct err *err);
void recorder_unwatch(struct recorder *r, int fd);

/*
 * Opens the counters of a CPU that came back online: they went off with it. They get a new ring,
 * and their new ids are appended to their events' ids. They are enabled unless `is_off`. Returns
 * how many could not be opened.
 */
size_t recorder_reopen_cpu(struct recorder *r, s32 cpu, bool is_off);

/*
 * Replaces the counters by those with larger stack copies (collect/run/deeper.h). These get larger
 * rings of their own, or write into the existing ones if no more memory can be locked. They are
 * enabled unless `is_off`. On failure everything stays as it was.
 */
int recorder_go_deeper(struct recorder *r, bool is_off, struct err *err);

void recorder_close(struct recorder *r);

#endif
