/*
 * countmaker.h - counters and their readings, made by hand.
 *
 *     struct countmaker m;
 *     countmaker_init(&m);
 *     countmaker_event(&m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
 *     countmaker_counter(&m, 0, -1, 101);
 *     countmaker_begin(&m, COUNTS_ALL, "/sys");
 *     countmaker_add(&m, 0, 7, 100, 100);
 *     counts_take_run(&m.counts);
 *     countmaker_fini(&m);
 *
 * Counters are given event by event, as collect/open/counting opens them.
 * Owns     everything in it
 */
#ifndef PACE_TESTS_UNIT_COUNTMAKER_H
#define PACE_TESTS_UNIT_COUNTMAKER_H

#include "event/abi.h"
#include "profile/diff/counts.h"

enum { COUNTMAKER_MAX = 64 }; /* counters */

struct countmaker {
	struct event_list events;
	struct counting counting;
	struct counts counts;
	struct reading readings[COUNTMAKER_MAX];
	struct err why[COUNTMAKER_MAX];
};

void countmaker_init(struct countmaker *m);
void countmaker_fini(struct countmaker *m);

/* The address is valid until the next one. */
struct event *countmaker_event(struct countmaker *m, u32 type, u64 config, const char *name);

/* Joins the last `n` events in a group. */
void countmaker_group(struct countmaker *m, u32 n);
void countmaker_counter(struct countmaker *m, u32 event, s32 cpu, pid_t tid);

/* A run begins: all readings are 0. */
void countmaker_begin(struct countmaker *m, enum counts_scope scope, const char *sys);

/* The same counters for another run. */
void countmaker_again(struct countmaker *m, const char *sys);

/* What counter i has counted in addition. */
void countmaker_add(struct countmaker *m, size_t i, u64 value, u64 enabled_ns, u64 running_ns);

#endif
