/*
 * lane.h - what a CPU or a task did, one state after the other, in bounded memory.
 *
 * A lane is made coarser when there is too much of it: neighbours that are shorter than some length become a group, in which
 * each state keeps its exact time while the order of its pieces is lost. A piece that is longer, or alone between longer
 * ones, stays exact. So the sums of states never change, however coarse a lane is.
 * In       states, in the order of time
 * Out      pieces without gaps: each lasts until the next one begins, the last one until `end`
 * Owns     its pieces
 * Units    ns of the perf clock
 */
#ifndef PACE_PROFILE_LANE_H
#define PACE_PROFILE_LANE_H

#include "base/types.h"
#include "base/vec.h"

enum lane_state {
	LANE_NOTHING, /* not there, or not known */
	LANE_RUNNING,
	LANE_IDLE,
	LANE_DEEPER_IDLE,
	LANE_DEEPEST_IDLE,
	LANE_SLEEPING,
	LANE_WAITING, /* for a CPU */
	LANE_BLOCKED, /* on I/O */
	LANE_STATES
};

enum { LANE_N_MOST = (1 << 27) - 1 };

#define LANE_SEVERAL UINT32_MAX

struct lane_piece {
	u64 from;
	u32 who;          /* a task's CPU, a CPU's task; LANE_SEVERAL: more than one, or none */
	u32 n : 27;       /* 1: it is exact; else of a group, made of about so many pieces */
	u32 is_first : 1; /* of a group, or alone */
	u32 state : 4;    /* enum lane_state */
};

struct lane {
	VEC(struct lane_piece) pieces;
	u64 end;
};

/* From `time` on; a time before the last change counts as that moment. */
void lane_put(struct lane *l, u64 time, enum lane_state state, u32 who);

/* Says how far it is known. */
void lane_extend(struct lane *l, u64 time);

/* Adds the pieces of another lane, which begins where this one ends or later. */
void lane_append(struct lane *l, const struct lane *other);

/* Merges neighbours shorter than `shortest` ns. The last piece may still grow and stays. */
void lane_coarsen(struct lane *l, u64 shortest);

static inline u64 lane_piece_end(const struct lane *l, const struct lane_piece *p)
{
	return p + 1 < l->pieces.at + l->pieces.n ? p[1].from : l->end;
}

void lane_fini(struct lane *l);

#endif
