/*
 * topdown.h - what a thread's pipeline slots were used for between two moments, from two registers of Intel's.
 *
 * Fixed counter 3 counts slots: what the pipeline could have issued. PERF_METRICS divides those since the last reset into eight fractions
 * of a byte each, of 255: four of level 1, which are all slots, and since Sapphire Rapids a part of each for level 2. A fraction times the
 * slots is a number that grows, and two such numbers can be subtracted.
 *
 * In       the pages of an open group of slots and one metric, of the calling thread
 * Out      points in time, shares between two of them, and how far these may be off
 * Units    shares are of 1
 * Source   Linux' tools/perf/Documentation/topdown.txt; Intel's SDM volume 3, Performance Metrics; the kernel's
 *          icl_get_metrics_event_value() and intel_update_topdown_event()
 */
#ifndef PACE_COLLECT_TOPDOWN_H
#define PACE_COLLECT_TOPDOWN_H

#include "base/types.h"
#include "collect/counter/userread.h"

enum topdown_share {
	/* Level 1, in the register's order; then level 2: what the register has, each with what is left of its level 1. */
	TOPDOWN_RETIRING,
	TOPDOWN_BAD_SPECULATION,
	TOPDOWN_FRONTEND,
	TOPDOWN_BACKEND,
	TOPDOWN_HEAVY,
	TOPDOWN_LIGHT,
	TOPDOWN_MISPREDICTS,
	TOPDOWN_CLEARS,
	TOPDOWN_FETCH_LATENCY,
	TOPDOWN_FETCH_BANDWIDTH,
	TOPDOWN_MEMORY,
	TOPDOWN_CORE,
	TOPDOWN_COUNT,
	TOPDOWN_LEVEL1 = 4,
};

struct topdown_point {
	u64 slots, metrics; /* the registers, since both were 0 */
};

struct topdown_shares {
	u64 slots;
	double share[TOPDOWN_COUNT]; /* those of level 2 are NAN if `level` is 1 */
	double error; /* a fraction of the register is off by less than one of 255; what is left of a level 1 by twice that */
};

/*
 * The registers at this moment. False: these are not the pages of slots and a metric, the thread is another one than that which opened
 * them, or they are not on the PMU now.
 */
bool topdown_read(const struct userread *slots, const struct userread *metric,
	struct topdown_point *ret_point);

/* The same on any pages. */
bool topdown_read_pages(const struct ring_page *slots, const struct ring_page *metric,
	const struct userread_registers *registers, struct topdown_point *ret_point);

/* `level` is 1 or 2. False: no slot passed between the two, or the second is before the first. */
bool topdown_between(const struct topdown_point *first, const struct topdown_point *second,
	int level, struct topdown_shares *ret_shares);

#endif
