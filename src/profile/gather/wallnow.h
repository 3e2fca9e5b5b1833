/*
 * wallnow.h - where the time of threads goes, as it passes: profile/gather/wall.h without knowing what comes.
 *
 * A piece of time is told as soon as it is known which sample represents it: time on a CPU at the next sample there,
 * time off the CPU when the thread comes back. wallnow_settle() tells what has passed so far of the waits that last.
 * A thread is known from its first switch or sample on, or the moment in which it was seen waiting.
 * In       all visits of a live trace, which is in the order of time; fields: PERF_SAMPLE_TID, _TIME, _RAW and what the
 *          counter wants to have in the samples
 * Out      a call of `tell` for each piece, with a visit that is valid meanwhile: the sample that represents the piece,
 *          with its callers, in the thread's present state
 * Owns     copies of two samples for each thread that has not ended
 * Units    ns of the perf clock
 * Errors   none
 * Threads  one
 */
#ifndef PACE_PROFILE_WALLNOW_H
#define PACE_PROFILE_WALLNOW_H

#include "profile/gather/wallmarks.h"
#include "profile/gather/wallsweep.h"
#include "trace/visit.h"

/* A sample, until another one takes its place. */
struct wallnow_sample {
	struct sample sample; /* without what lies in its record */
	VEC(u64) chain;
	struct stack_end end;
	const struct sample_format *format;
	u32 event;
	u8 mode;
	bool is_there, has_end;
};

/* The last samples of a thread: on a CPU, and when it left it or waited. */
struct wallnow_thread {
	struct wallnow_sample on, out;
};

struct wallnow {
	struct wall wall; /* its shares are told, and go */
	struct wallsweep sweep;
	struct wallmarks marks;
	VEC(struct walllife) lives;         /* by thread of `wall` */
	VEC(struct wallnow_thread) samples; /* likewise */
	size_t n_ended;
	bool has_callers;
	void (*tell)(void *ctx, struct visit *v, const struct wall_share *piece);
	void *ctx;
	/* Of all threads, since wallnow_clear_sums(): by state, and the part of it that no sample represents. */
	u64 ns[WALL_STATES], untold_ns;
};

/* `has_callers`: samples are told with their callers. `tell` and `ctx` are the caller's to set. */
void wallnow_init(struct wallnow *w, const struct session *s, bool has_callers);
void wallnow_fini(struct wallnow *w);

/* per record: for callers that know what it says about a thread */
void wallnow_mark(struct wallnow *w, struct visit *v, u32 pid, u32 tid, enum wall_mark mark);

/* per record */
void wallnow_take(struct wallnow *w, struct visit *v);

/* Tells what has passed until that time; `visits`: the trace's. */
void wallnow_settle(struct wallnow *w, u64 time, struct visits *visits);
void wallnow_clear_sums(struct wallnow *w);

/* Forgets what threads do: nothing was measured for a while. */
void wallnow_forget(struct wallnow *w);

/* Threads that are known and have not ended. */
static inline size_t wallnow_n_threads(const struct wallnow *w)
{
	return w->wall.threads.n - w->n_ended;
}

#endif
