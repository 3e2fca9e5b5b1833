/*
 * pairs.h - what two commands took that were run in pairs: a row for each quantity, a value for each run.
 *
 * In       both runs of each pair: times, memory, counts
 * Out      rows to compare with profile/diff/versus: elapsed time, CPU time, memory, each event
 * Owns     rows and values; not the events
 * Units    seconds, bytes, and the events' own units; NAN for a run that was not counted
 */
#ifndef PACE_PROFILE_PAIRS_H
#define PACE_PROFILE_PAIRS_H

#include <sys/resource.h>

#include "base/vec.h"
#include "profile/diff/counts.h"
#include "profile/diff/versus.h"

enum pairs_kind { PAIRS_ELAPSED, PAIRS_CPU, PAIRS_MEMORY, PAIRS_EVENT };

struct pairs_side {
	VEC(double) values;
	u64 enabled_ns, running_ns;
};

struct pairs_row {
	enum pairs_kind kind;
	const char *name;
	const char *unit;          /* "s", "bytes", or the event's unit */
	const struct event *event; /* for PAIRS_EVENT */
	struct pairs_side sides[2];
	enum count_state state; /* the best of all runs */
	const char *reason;     /* why some run was not counted; NULL: all were */
};

struct pairs {
	VEC(struct pairs_row) rows; /* PAIRS_ELAPSED first */
	VEC(u8) is_b_first;         /* by pair */
	u64 n;
	struct arena arena;
};

struct pairs_run { /* of one command */
	u64 elapsed_ns;
	struct rusage usage;
	struct counts counts; /* of one run: counts.now */
};

void pairs_init(struct pairs *p, const struct event_list *events);
void pairs_fini(struct pairs *p);
void pairs_add(struct pairs *p, const struct pairs_run runs[2], bool is_b_first);

/*
 * Drops the memory values of runs that had no more memory than pace itself when it started the command: see
 * workload_gate_memory().
 */
void pairs_drop_memory(struct pairs *p, u64 gate_bytes);

/* Compares the row's values; runs that were not counted are left out with their partners. */
void pairs_compare(const struct pairs_row *row, u64 seed, struct versus *ret);

/* The share of its enabled time that the event was on the PMU, 0 to 1. */
double pairs_share(const struct pairs_side *side);

#endif
