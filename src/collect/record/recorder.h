/*
 * recorder.h - rings drained into a sink until the target ends or somebody says stop.
 *
 * In       opened counters and their events; a sink; a workload or none; blocked signals
 * Out      records in the sink, one round after the other
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
 * Who changes records on their way from the rings into the sink. In every round `see` gets all records
 * that have come to any ring, then `settle` says that these were all, then `take` gets the records of
 * this round, ring by ring, and appends what is to be written in the place of each.
 *
 * What a task did before a sample of its was written, on whatever CPU, has been seen when that sample
 * is taken: how far a round goes is read from all rings first, and only then how far `see` may look. A
 * record that was in its ring before the sample came to another one is there at the second look.
 */
struct recorder_filter {
	void *ctx;
	/* Each record once. `is_due`: this round ends behind it; else it will be taken in a later one. */
	void (*see)(void *ctx, const struct record *rec, bool is_due);
	void (*settle)(void *ctx);
	void (*take)(void *ctx, const struct record *rec, struct str *out);
	/* Whether what comes behind is more than there is room for: what can be done with less, is. May be NULL. */
	void (*hurry)(void *ctx, bool is_late);
};

/*
 * Who decides what becomes of a recording meanwhile: `look` is called when something that was given to
 * recorder_watch() can be read, at `due_ns`, and behind every drain; it does not wait. It may switch
 * counters, exchange the sink, take a snapshot, and say that it is enough.
 */
struct recorder_pilot {
	void *ctx;
	u64 due_ns; /* of CLOCK_MONOTONIC; UINT64_MAX: whenever something comes */
	int (*look)(void *ctx, bool *ret_is_end, struct err *err);
};

enum recorder_affinity { RECORDER_ANY_CPU, RECORDER_CPU_OF_RING, RECORDER_NODE_OF_RING };

/* A ring, and which counters write into it. */
struct recorder_ring {
	struct ring ring;
	u64 seen_to; /* position behind what the filter has seen; of a backward ring, what is written */
	u64 due_to;       /* where the round ends */
	bool is_backward; /* read by drain_newest() only */
	bool is_deeper;   /* of counters that have taken others' place */
	s32 cpu;          /* -1: it is the thread's, wherever that runs */
	pid_t tid;
	cpu_set_t cpus;       /* near it */
	VEC(size_t) counters; /* positions in the list of counters: the first mapped it */
	/* Of `counters`: the one whose descriptor wakes us; behind the last: all have ended. */
	size_t watched;
};

enum recorder_end {
	RECORDER_TARGET_ENDED, /* the workload, or all threads that were attached to */
	RECORDER_SIGNAL,       /* see recorder->stop */
	RECORDER_ENOUGH,       /* the pilot said so */
	RECORDER_FAILED,
};

struct recorder {
	struct counters *counters;
	struct event_list *events;
	const struct sink *sink;   /* borrowed, set before recorder_run() */
	struct workload *workload; /* NULL: none */
	struct log *log;
	const struct recorder_filter *filter; /* borrowed, set after recorder_open(); NULL: none */
	/* These too, if anybody wants them. */
	struct recorder_pilot *pilot;
	const struct reweigh *reweigh; /* NULL: what the kernel tells of periods is right */
	u64 flush_bytes;               /* less than that waits in its ring, for a second at most */
	enum recorder_affinity affinity;
	VEC(struct recorder_ring) rings;
	VEC(struct iovec) runs;
	struct str
		filtered; /* records as the sink gets them, where they are not those of the rings */
	int epoll_fd;
	u64 pages; /* of each ring */
	bool has_backward;
	cpu_set_t own_cpus; /* where this thread may run without `affinity` */
	u64 n_wakeups, n_rounds;
	u64 start_ns;         /* of recorder_run() */
	unsigned fullest_pct; /* of a ring when it was read, at most; whoever looks sets it to 0 */
	unsigned round_pct;   /* the same of the last round */
	int own_nice;         /* before recorder_run() */
	bool is_ahead;        /* of others, by its nice value, as long as that runs */
	u64 n_broken_rings;
	struct stop stop; /* stop.signal: the one that ended it */
};

/*
 * Maps one ring for each CPU and lets all counters of the CPU write into it. `pages` 0: what perf
 * takes (512 KiB), or less if the mlock limit is lower, which is said. Where samples carry copies of the
 * stack it is up to 8 MiB, half a second's worth of 2,000 samples, and of all tasks of a CPU up to 32 MiB.
 */
int recorder_open(struct recorder *r, struct counters *counters, struct event_list *events,
	u64 pages, struct log *log, struct err *err);

/*
 * Runs until the end. All is in the sink and synced when it returns; the last records are LOST_SAMPLES
 * with what each counter says it dropped (Linux >= 6.0; older kernels leave it at LOST records).
 */
enum recorder_end recorder_run(struct recorder *r, struct workload *workload, struct err *err);

/*
 * Back in the queue with everybody else: for children that have another task than to read rings. The recorder
 * does so itself when recorder_run() returns.
 */
void recorder_fall_back(struct recorder *r);

/* Wakes the loop, and with it the pilot, when `fd` can be read. */
int recorder_watch(struct recorder *r, int fd, struct err *err);
/* The same for a counter, as long as what it counts is there. */
int recorder_watch_task(struct recorder *r, int fd, struct err *err);
void recorder_unwatch(struct recorder *r, int fd);

/*
 * A CPU that went off took its counters along. Opens them again, with a new ring, their new ids behind
 * those of their events; on, unless `is_off`. Returns how many could not be opened.
 */
size_t recorder_reopen_cpu(struct recorder *r, s32 cpu, bool is_off);

/*
 * Counters with larger copies of the stack (collect/run/deeper.h) take the others' place: they get rings of
 * their own, larger ones, or write into those that there are if no more memory can be locked. On, unless
 * `is_off`. On failure all is as it was.
 */
int recorder_go_deeper(struct recorder *r, bool is_off, struct err *err);

void recorder_close(struct recorder *r);

#endif
