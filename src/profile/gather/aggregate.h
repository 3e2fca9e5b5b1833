/*
 * aggregate.h - counts samples as they come. All commands use this one counter, for files and for live samples.
 *
 * It counts in two steps. While samples come, it counts those that are literally the same: the same instruction and
 * the same callers' addresses in the same address space (profile/gather/uniques.h). aggregate_flush() looks the
 * addresses of new unique samples up in maps, each once, and adds them to the profile (profile/gather/mapresolve.h).
 *
 *     aggregate_init(), aggregate_add()..., aggregate_flush()          a file, by one of its workers
 *     ..., aggregate_flush(), aggregate_decay(), aggregate_add()...    live, at each refresh
 *     aggregate_forget(), machine_forget()                            live, now and then
 *
 * In       visits of a trace
 * Out      a->profile, without names. To show it while it grows, merge it into another profile
 *          (profile_merge()) and name that one
 * Owns     the counts and the profile. It borrows spaces of the machine, until aggregate_forget()
 * Errors   none
 * Threads  one; several of them may count samples of one trace
 */
#ifndef PACE_PROFILE_AGGREGATE_H
#define PACE_PROFILE_AGGREGATE_H

#include "profile/gather/depths.h"
#include "profile/gather/label.h"
#include "profile/gather/profile.h"
#include "profile/gather/uniques.h"
#include "profile/gather/wall.h"
#include "trace/visit.h"

struct aggregate_options {
	u64 labels;        /* LABEL_BIT()s: what distinguishes rows */
	bool has_stacks;   /* callers too; else only the innermost frame */
	u32 max_stack;     /* most addresses kept of a chain, the sampled one first; 0: all */
	bool has_history;  /* with has_stacks: stacks end in the branches taken before the sample */
	bool has_branches; /* count the branches that samples carry instead of the samples */
	bool has_blocks;   /* with has_branches: those with cycles, which are their periods */
	bool is_weighed;   /* periods are the samples' weights */
	/*
	 * The profile's events are those of enum aggregate_wall, in ns, and each sample counts for the
	 * time that it represents. NULL: the profile has the recording's events.
	 */
	const struct wall *wall;
	/* Also keep samples in the order of time, at most about so many, in profile.timeline; 0: do not. */
	u64 timeline_most;
};

enum aggregate_wall {
	AGGREGATE_WALL,     /* the sum of the states that follow */
	AGGREGATE_BY_STATE, /* + enum wall_state */
	AGGREGATE_LATENCY = AGGREGATE_BY_STATE + WALL_STATES,
	AGGREGATE_WALL_EVENTS,
};

struct aggregate {
	const struct trace *trace;
	struct aggregate_options options;
	void (*add)(void *a, struct visit *v);
	VEC(u8) wall_roles; /* by event: enum wall_role */
	VEC(u8) are_aborts; /* by event: whether it counts aborts of transactions */
	struct label_maker maker;
	struct depths depths;
	struct history *history; /* scratch; NULL: not wanted */
	struct intern strings;   /* of labels */
	struct uniques uniques;
	struct profile profile;
};

/* ERR_LIMIT if the recording has more events than one report can hold. */
int aggregate_check(const struct trace *t, struct err *err);

/* PERF_SAMPLE_*: the fields that samples must carry to be counted with these options. */
u64 aggregate_needs(const struct aggregate_options *options);

/* The function that aggregate_add() calls with these options, for a struct visitor. */
void (*aggregate_adder(const struct aggregate_options *options))(void *aggregate, struct visit *v);

/* Labels and weights are made from `facts`; NULL if neither is wanted. */
void aggregate_init(struct aggregate *a, const struct trace *t,
	const struct aggregate_options *options, struct label_facts *facts);
void aggregate_fini(struct aggregate *a);

/* per sample */
static inline void aggregate_add(struct aggregate *a, struct visit *v)
{
	a->add(a, v);
}

/*
 * With options.wall, live: counts a piece of a thread's time for the sample that represents it, once it is known
 * (profile/gather/wallnow.h); aggregate_add() is not used then.
 */
void aggregate_add_time(struct aggregate *a, struct visit *v, const struct wall_share *piece);

/* The bytes that the counts take, without the profile. */
u64 aggregate_bytes(const struct aggregate *a);

/*
 * Puts all samples added since the last flush into the profile, whose rows nobody else may add or remove.
 * Stops and returns false if the profile, once it has names, would take more than `allowed` bytes.
 */
bool aggregate_flush(struct aggregate *a, u64 allowed);

/* Flushes, then multiplies all counts so far by a factor from 0 to 1. */
void aggregate_decay(struct aggregate *a, double factor);

/* Flushes, then lets all counts fade to n / of: profile_fade(). */
void aggregate_fade(struct aggregate *a, u32 n, u32 of, u64 *rest);

/*
 * Flushes, merges equal rows and drops rows that have decayed to nothing. No space is borrowed afterwards, so
 * machine_forget() may follow.
 */
void aggregate_forget(struct aggregate *a);

#endif
