/*
 * aggregate.h - samples counted as they come: the one counter of all commands, of files and of what goes on.
 *
 * It counts in two steps. While samples come, it counts what is literally the same: the same callers'
 * addresses in the same address space, under the same instruction (profile/gather/uniques.h). aggregate_flush() looks
 * the addresses of new ones up in maps, once for each, and adds all to the profile (profile/gather/mapresolve.h).
 *
 *     aggregate_init(), aggregate_add()..., aggregate_flush()          a file, by one of its workers
 *     ..., aggregate_flush(), aggregate_decay(), aggregate_add()...    live, at each refresh
 *     aggregate_forget(), machine_forget()                            live, now and then
 *
 * In       visits of a trace
 * Out      a->profile, without names: whoever shows it while it grows merges it into another one
 *          (profile_merge()) and names that
 * Owns     what was counted, the profile. It borrows spaces of the machine, until aggregate_forget()
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
	u64 labels;      /* LABEL_BIT()s: what rows have to tell apart */
	bool has_stacks; /* callers too; else only the innermost frame */
	u32 max_stack;   /* addresses of each chain, the sampled one first; 0: all */
	bool has_history; /* with has_stacks: the branches before a sample are the end of its stack */
	bool has_branches; /* count the branches that samples carry instead of the samples */
	bool has_blocks;   /* with has_branches: those with cycles, which are their periods */
	bool is_weighed;   /* weights stand in for periods */
	/*
	 * The events of the profile are those of enum aggregate_wall, in ns, and samples count for what
	 * they speak for; NULL: the recording's own.
	 */
	const struct wall *wall;
};

enum aggregate_wall {
	AGGREGATE_WALL,     /* all of the following three */
	AGGREGATE_BY_STATE, /* + enum wall_state */
	AGGREGATE_LATENCY = AGGREGATE_BY_STATE + WALL_STATES,
	AGGREGATE_WALL_EVENTS,
};

struct aggregate {
	const struct trace *trace;
	struct aggregate_options options;
	void (*add)(void *a, struct visit *v);
	VEC(u8) wall_roles; /* by event: enum wall_role */
	struct label_maker maker;
	struct depths depths;
	struct history *history; /* room for one; NULL: not wanted */
	struct intern strings;   /* of labels */
	struct uniques uniques;
	struct profile profile;
};

/* Whether the recording has so few events that they can be told apart; else ERR_LIMIT. */
int aggregate_check(const struct trace *t, struct err *err);

/* PERF_SAMPLE_*: what samples must carry to be counted so. */
u64 aggregate_needs(const struct aggregate_options *options);

/* What counts samples so: aggregate_add() by its own name, for a struct visitor. */
void (*aggregate_adder(const struct aggregate_options *options))(void *aggregate, struct visit *v);

/* `facts`: what labels and weights are made of; NULL if there are none. */
void aggregate_init(struct aggregate *a, const struct trace *t,
	const struct aggregate_options *options, struct label_facts *facts);
void aggregate_fini(struct aggregate *a);

/* per sample */
static inline void aggregate_add(struct aggregate *a, struct visit *v)
{
	a->add(a, v);
}

/* How many bytes what is counted takes, without the profile. */
u64 aggregate_bytes(const struct aggregate *a);

/*
 * Puts all that was added since the last time into the profile; nobody else adds rows to it, nor removes any.
 * False, and not all of it, if the profile would take more than `allowed` bytes when it has names.
 */
bool aggregate_flush(struct aggregate *a, u64 allowed);

/* Flushes, and multiplies all that was counted so far by a factor from 0 to 1. */
void aggregate_decay(struct aggregate *a, double factor);

/*
 * Flushes; what has decayed to nothing is no longer in the profile, rows that say the same are one, and no space is
 * borrowed any more: machine_forget() may follow.
 */
void aggregate_forget(struct aggregate *a);

#endif
