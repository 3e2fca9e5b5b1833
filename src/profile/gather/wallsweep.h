/*
 * wallsweep.h - the states of threads, mark by mark, and the pieces of time that their samples represent.
 *
 * In       marks in the order of time; lives, all zero, one for each of wall.threads
 * Out      sums, shares and rests of wall.threads
 * Owns     nothing
 * Units    ns of the perf clock
 */
#ifndef PACE_PROFILE_WALLSWEEP_H
#define PACE_PROFILE_WALLSWEEP_H

#include "profile/gather/wall.h"

/* The state of a thread during the sweep through time. */
struct walllife {
	bool is_alive, has_run, is_known, is_gone;
	bool is_out;      /* it was last seen leaving a CPU */
	bool is_starting; /* born, and not on a CPU yet */
	u8 state;
	u64 since;             /* when the state began */
	double clock;          /* the state's clock at that time */
	u64 sure;              /* until when it was certainly on the CPU */
	u64 unseen, seen_time; /* ns blocked since the last sampled wait; when that was */
	u64 out_time;          /* of the sample taken when it left the CPU; 0: none */
	u64 off[WALL_STATES];  /* ns of the present absence from CPUs */
	double latency[WALL_STATES];
	u64 told_latency[WALL_STATES], told_cpu; /* the part that shares and rests have already */
	size_t spoken;                           /* share of the last sample on a CPU, + 1 */
};

/*
 * Clocks distribute latency: the clock of running threads advances by 1/n of the time while n threads run; the
 * clock of runnable threads does the same while none runs.
 */
struct wallsweep {
	struct wall *wall;
	struct walllife *lives; /* by thread */
	u64 now;
	u64 n_in[WALL_STATES];
	double clocks[WALL_STATES];
	u64 idle_since; /* when the last thread blocked; valid while no thread is on a CPU or runnable */
};

/* Goes on to that time, which is not before the present one. */
void wallsweep_advance(struct wallsweep *s, u64 time);

/* A thread begins to be known, now and in that state. */
void wallsweep_begin(struct wallsweep *s, u32 i, enum wall_state state);
void wallsweep_end(struct wallsweep *s, u32 i);

/*
 * For a thread that is off the CPU: what has passed of that time is told now, as if it were over. The latency of a wait
 * is known only when it ends.
 */
void wallsweep_tell(struct wallsweep *s, u32 i);

/* What a mark of now says about a thread. */
void wallsweep_apply(struct wallsweep *s, u32 i, enum wall_mark mark);

#endif
