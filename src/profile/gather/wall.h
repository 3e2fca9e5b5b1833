/*
 * wall.h - where the time of every thread went: on a CPU, waiting for one, or blocked.
 *
 * A thread's life is cut where it left a CPU and where it came back. What it does in between is told
 * by the switch: who was taken off while he could have gone on waits for a CPU; who went by himself is
 * blocked until he is woken, or, where nobody recorded wake-ups, until he runs again. Each piece of
 * time is spoken for by one sample: time on a CPU by the next sample that was taken there, time off it
 * by the sample that was taken when the thread left. So the pieces sum to the threads' lives, whatever
 * was sampled how often.
 *
 * Latency is the same time seen from outside: each moment of the recording counts once. While threads
 * run it is theirs, in equal parts; while none runs but some could it is theirs; while all are blocked
 * it belongs to the wait that ends first, because that is what the program was waiting for. A thread
 * that waits while others work costs no latency.
 * In       marks, in any order: wall_add(); then wall_cut()
 * Out      for each thread its sums; for each sample the pieces that it speaks for
 * Owns     its arrays
 * Units    ns of the perf clock
 * Errors   none: what contradicts itself, because records were lost, is unaccounted
 * Threads  behind wall_cut() any number of readers
 * Source   linux/perf_event.h: PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
 *
 * Invariant: of each thread, cpu + runnable + blocked + unaccounted = lived; and of each state, what the
 * samples speak for + rest = the thread's sum. Latencies sum to the time between begin and end, but
 * for moments in which no thread is alive and those around missing records.
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
	WALL_IN,        /* it is on a CPU from now on */
	WALL_PREEMPTED, /* it leaves the CPU and could go on */
	WALL_LEFT,      /* it leaves the CPU and cannot */
	WALL_WOKEN,
	WALL_SAMPLED,      /* on a CPU */
	WALL_SAMPLED_OUT,  /* about to leave it */
	WALL_SEEN_WAITING, /* sampled while it was off the CPU */
};

/* Time that no sample speaks for: by its state, or that before a new thread's first time on a CPU. */
enum wall_rest { WALL_REST_STARTING = WALL_STATES, WALL_RESTS };

/* A piece of a thread's time that a sample speaks for; a sample may have several, of other states. */
struct wall_share {
	u64 time;    /* of the sample */
	u64 ns;      /* so much of the thread's time */
	u64 latency; /* ns */
	u8 state;    /* enum wall_state */
	bool is_out; /* the sample is WALL_SAMPLED_OUT, or WALL_SEEN_WAITING */
};

struct wall_thread {
	u32 pid, tid;
	u64 last;  /* when it was there for sure */
	u64 lived; /* in the recording; of all lives, where a number came again */
	u64 ns[WALL_STATES], unaccounted;
	u64 latency[WALL_STATES];
	/* Of these, what no sample speaks for: by enum wall_rest. */
	u64 rest[WALL_RESTS], rest_latency[WALL_RESTS];
	u64 n_left, n_preempted;
	bool is_told;                  /* that it was there, or that it began */
	bool has_switched;             /* it came to a CPU or left one */
	VEC(struct wall_share) shares; /* by time */
};

struct wall {
	VEC(struct wall_thread) threads; /* that ran; behind wall_cut() no others */
	u64 begin, end; /* the first and the last moment in which a thread was seen to run */
	u64 n_slept; /* threads that were there and never on a CPU: they are left out of all sums */
	/* Over all threads. */
	u64 lived, ns[WALL_STATES], unaccounted, latency[WALL_STATES], n_left, n_preempted;
	bool has_told;        /* who was there before is told */
	bool has_outs;        /* somebody was sampled on leaving a CPU */
	bool has_waits;       /* somebody was seen waiting */
	bool has_wakes;       /* somebody was seen to be woken */
	u64 n_contradictions; /* switches that cannot follow each other */
	struct table by_tid;
	VEC(struct sort_item) marks; /* key: time; value: thread and mark */
};

/* Of a zeroed struct. Marks without a time (0) tell that a thread is there, no more. */
void wall_add(struct wall *w, u32 pid, u32 tid, u64 time, enum wall_mark mark);

/* All marks are there. */
void wall_cut(struct wall *w);

/* The pieces that the sample of that thread and time speaks for: *ret_n, one behind the other. */
const struct wall_share *wall_find(const struct wall *w, u32 tid, u64 time, bool is_out,
	size_t *ret_n);

void wall_fini(struct wall *w);

#endif
