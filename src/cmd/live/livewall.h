/*
 * livewall.h - a feed of time, as of top --wall: where the time of threads went since the last refresh, on CPUs and off them.
 *
 * In       visits; without access to the kernel, and for threads that waited before there was anybody to record it, what
 *          /proc tells
 * Out      counts of AGGREGATE_WALL and the events after it, in ns
 * Owns     what is known of the threads
 * Errors   those of pushing records
 */
#ifndef PACE_CMD_LIVEWALL_H
#define PACE_CMD_LIVEWALL_H

#include "cmd/record/record_wall.h"
#include "collect/record/sink.h"
#include "profile/gather/aggregate.h"
#include "profile/gather/wallnow.h"

struct livewall {
	bool is_on;
	struct wallnow now;
	struct record_waits waits;
	bool looks_once; /* the kernel tells of all later waits */
	/* Whether samples of that mode are left out. */
	bool (*is_hidden)(const void *ctx, u8 mode);
	const void *ctx;
	struct aggregate *counted;
};

/* What was counted since the last refresh. */
struct livewall_facts {
	u64 ns[WALL_STATES], untold_ns; /* untold: the part of these that no sample represents */
	u64 n_threads;
};

/* After the trace has begun; `is_hidden`, `ctx` and `counted` are the caller's to set. */
void livewall_begin(struct livewall *w, const struct session *s, const struct event_list *events,
	const struct target *target, bool names_threads);
void livewall_end(struct livewall *w);

/* When /proc is looked at next; UINT64_MAX: never. */
u64 livewall_due(const struct livewall *w);
int livewall_look(struct livewall *w, const struct sink *sink, struct err *err);

/* Counts what has passed until that time. */
void livewall_settle(struct livewall *w, u64 time, struct visits *visits,
	struct livewall_facts *ret);

/* Adds "12% cpu, 1% runnable, 87% blocked of 9 threads". */
void livewall_add_states(const struct livewall_facts *facts, struct str *text);

#endif
