/*
 * branchstreams.h - streams: the sequences of branches that led to samples, in recordings on two sides.
 *
 * Samples are of the same stream if the branches before them, the newest first, go from and to the same places: functions and lines,
 * or offsets in functions where lines are not known. Callers before the oldest branch do not count. If the other side does not
 * have a stream, its source may have moved: then one is the same whose places are as far behind the beginnings of their functions.
 * In       profiles with names and lines, whose stacks have histories (profile/gather/history)
 * Out      streams, those with the most samples on side A first, then those that only B has
 * Owns     all its text: the profiles may go
 * Units    cycles, from the oldest branch to the sample
 *
 * Invariant: the samples of all streams and those without branches sum to those of a side, unless a filter removed some whose shares
 * are to stay as they were.
 */
#ifndef PACE_PROFILE_BRANCHSTREAMS_H
#define PACE_PROFILE_BRANCHSTREAMS_H

#include "base/table.h"
#include "profile/diff/delta.h"

/* A place that branches go to or come from. */
struct branchstream_step {
	const char *
		function; /* interned, without suffixes of compilers; an address if it has no name */
	const char *line; /* interned: "a.c:12"; NULL: not known */
	const char *dso;
	/* Interned: of a place without a function, whose address means something in one build only; else NULL. */
	const char *build;
	u64 offset; /* in the function */
	/* The first known place with the same line, or offset where none is known; and that with the same offset. */
	u32 same, moved;
};

/* The newest step of a sequence and, as its parent, the steps before it. Node 0 is no step. */
struct branchstream_node {
	u32 parent, place;
	u32 n;     /* steps up to here: two for each branch, where it went and where it came from */
	u32 moved; /* the first node whose steps have the same offsets */
};

struct branchstream_value { /* on one side */
	u64 n_samples;
	u64 cycles;       /* of all samples */
	u64 n_iterations; /* of loops, of which the steps have one */
};

struct branchstream {
	u32 node[DELTA_SIDES]; /* the same, unless the source moved */
	struct branchstream_value of[DELTA_SIDES];
	bool is_gone; /* it became a part of another one */
};

struct branchstreams {
	VEC(struct branchstream) at;
	VEC(struct branchstream_node) nodes;
	VEC(struct branchstream_step) places;
	u64 n_samples[DELTA_SIDES]; /* of all */
	u64 n_without[DELTA_SIDES]; /* no branch was recorded before them */
	VEC(u32) of_node;           /* by node: position in `at`, + 1; 0: no stream ends there */
	struct table by_place, by_line, by_offset; /* of places */
	struct table by_step, by_moved;            /* of nodes */
	struct intern strings;
};

/* The steps of a stream on a side, the newest first: walks from node to node until there is none. */
static inline const struct branchstream_step *branchstream_step(const struct branchstreams *s,
	u32 node)
{
	return &s->places.at[s->nodes.at[node].place];
}

static inline u32 branchstream_older(const struct branchstreams *s, u32 node)
{
	return s->nodes.at[node].parent;
}

/*
 * Adds the samples of one event of a recording. Code without names is the same only in the same build; where builds are not known,
 * in recordings with the same number.
 */
void branchstreams_add(struct branchstreams *s, int side, const struct profile *p, u32 event,
	u32 recording);

/* Pairs streams whose lines moved, and sorts. Call it when all recordings are added. */
void branchstreams_pair(struct branchstreams *s);
void branchstreams_fini(struct branchstreams *s);

/* Whether cycles were counted at all. */
bool branchstreams_have_cycles(const struct branchstreams *s, int side);

/* The share of a side's samples, 0 to 1. */
double branchstream_share(const struct branchstreams *s, const struct branchstream *stream,
	int side);

/* The mean cycles of a side's samples; NAN without samples. */
double branchstream_cycles(const struct branchstream *stream, int side);

/*
 * Whether a stream is one of the `most` with the most samples on some side. Equal ones are in the order of their steps.
 * ret: by stream. The caller frees it.
 */
bool *branchstreams_hottest(const struct branchstreams *s, size_t most);

#endif
