/*
 * wall.h - where the time of every thread went: on a CPU, waiting for one, or blocked.
 *
 * A thread's life is cut where it left a CPU and where it came back. The switch record tells what the thread
 * does in between: a preempted thread waits for a CPU; a thread that left voluntarily is blocked until it is
 * woken or, if wake-ups were not recorded, until it runs again. One sample represents each piece of time:
 * time on a CPU belongs to the next sample taken there, time off the CPU to the sample taken when the thread
 * left. So the pieces sum to the threads' lives, however often each thread was sampled.
 *
 * Latency is the same time seen from outside: each moment of the recording counts once. While threads run,
 * they share it equally; while none runs but some could, those share it; while all are blocked, it belongs to
 * the wait that ends first, because that is what the program was waiting for. A thread that waits while
 * others work costs no latency.
 * In       marks, in any order: wall_add(); then wall_cut()
 * Out      for each thread its sums; for each sample the pieces that it represents
 * Owns     its arrays
 * Units    ns of the perf clock
 * Errors   none: time between contradictory marks, because records were lost, is unaccounted
 * Threads  any number of readers after wall_cut()
 * Source   linux/perf_event.h: PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
 *
 * Invariant: for each thread, cpu + runnable + blocked + unaccounted = lived; for each of its states, the
 * samples' shares + rest = the thread's sum. Latencies sum to the time between begin and end, except for
 * moments in which no thread is alive and those around missing records.
 */
#ifndef PACE_PROFILE_WALL_H
#define PACE_PROFILE_WALL_H

#include "base/sort.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum wall_state { WALL_CPU, WALL_RUNNABLE, WALL_BLOCKED, WALL_STATES };

/* What is known of a thread at a moment. */
enum wall_mark {
	WALL_BORN,
	WALL_ENDED,
	WALL_IN,        /* it comes to a CPU */
	WALL_PREEMPTED, /* it leaves the CPU but could go on */
	WALL_LEFT,      /* it leaves the CPU to wait */
	WALL_WOKEN,
	WALL_SAMPLED,      /* on a CPU */
	WALL_SAMPLED_OUT,  /* about to leave it */
	WALL_SEEN_WAITING, /* sampled while it was off the CPU */
};

/* Time that no sample represents: by its state, or before a new thread's first time on a CPU. */
enum wall_rest { WALL_REST_STARTING = WALL_STATES, WALL_RESTS };

/* A piece of a thread's time that a sample represents. A sample may have several, in different states. */
struct wall_share {
	u64 time;    /* of the sample */
	u64 ns;      /* length of the piece */
	u64 latency; /* ns */
	u8 state;    /* enum wall_state */
	bool is_out; /* the sample is WALL_SAMPLED_OUT, or WALL_SEEN_WAITING */
};

struct wall_thread {
	u32 pid, tid;
	u64 last;  /* the latest time at which it certainly existed */
	u64 lived; /* in the recording; all lives, if the tid was reused */
	u64 ns[WALL_STATES], unaccounted;
	u64 latency[WALL_STATES];
	/* The part of these that no sample represents: by enum wall_rest. */
	u64 rest[WALL_RESTS], rest_latency[WALL_RESTS];
	u64 n_left, n_preempted;
	bool is_told;                  /* a record says that it existed or began */
	bool has_switched;             /* it came to a CPU or left one */
	VEC(struct wall_share) shares; /* by time */
};

struct wall {
	VEC(struct wall_thread) threads; /* after wall_cut() only those that ran */
	u64 begin, end; /* the first and the last moment in which a thread was seen to run */
	u64 n_slept;    /* threads that existed but never ran: they are left out of all sums */
	/* Over all threads. */
	u64 lived, ns[WALL_STATES], unaccounted, latency[WALL_STATES], n_left, n_preempted;
	bool has_told;        /* records name the threads that existed before the recording */
	bool has_outs;        /* there are WALL_SAMPLED_OUT marks */
	bool has_waits;       /* there are WALL_SEEN_WAITING marks */
	bool has_wakes;       /* there are WALL_WOKEN marks */
	u64 n_contradictions; /* switches that cannot follow each other */
	struct table by_tid;
	VEC(struct sort_item) marks; /* key: time; value: thread and mark */
};

/* The position of the latest thread with that tid; TABLE_NONE: there is none. */
u32 wall_find_thread(const struct wall *w, u32 tid);

/* The same; it is added if there is none. */
u32 wall_get_thread(struct wall *w, u32 pid, u32 tid);

/* Adds a mark; *w starts zeroed. A mark without a time (0) only tells that the thread exists. */
void wall_add(struct wall *w, u32 pid, u32 tid, u64 time, enum wall_mark mark);

/* Computes all sums and shares, once all marks are added. */
void wall_cut(struct wall *w);

/* The pieces that the sample of that thread and time represents: an array of *ret_n. */
const struct wall_share *wall_find(const struct wall *w, u32 tid, u64 time, bool is_out,
	size_t *ret_n);

void wall_fini(struct wall *w);

#endif
