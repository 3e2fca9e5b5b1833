/*
 * counting.h - events that count: opened on a target, switched together, read.
 *
 * In       parsed events, whose attrs are completed here; a target, or a command waiting at its gate
 * Out      for each counter its value so far; for each event that has none the reason
 * Owns     the counters and the readings
 * Errors   counting_open(): only what concerns all events (limits, a target that has ended). An
 *          event that cannot be opened is left out: see why[]. Reading never fails as a whole
 * Units    values as the kernel counts them, times in ns
 * Source   perf_event_open(2): Reading results
 */
#ifndef PACE_COLLECT_COUNTING_H
#define PACE_COLLECT_COUNTING_H

#include "base/err.h"
#include "base/log.h"
#include "collect/counter/counter.h"
#include "collect/open/latency.h"
#include "event/event.h"
#include "event/target.h"

struct reading { /* of one counter, since it was opened */
	u64 value;
	u64 enabled_ns;  /* while it was enabled and its task ran */
	u64 running_ns;  /* while it was also on the PMU */
	u64 n_samples;   /* EVENT_RETIRE_LATENCY: `value` is the sum of the cycles of so many */
	bool has_failed; /* a pinned event lost its place, or the descriptor is useless */
};

struct counting_options {
	bool no_inherit; /* children are not counted */
	bool is_command; /* the target waits at its gate: its exec starts the counters */
	bool needs_ids;  /* fetch the events' ids, for a recording */
	bool has_no_samples; /* with needs_ids: attrs say that no record has any field, as perf's in pipes */
	bool samples_latencies; /* EVENT_RETIRE_LATENCY is measured; else such events are left out */
	bool starts_off;        /* counters stay off until counting_enable() */
};

struct counting {
	struct event_list *events;
	struct counters counters;  /* by event; within an event by thread, then by CPU */
	struct reading *readings;  /* by counter: the latest */
	struct latency *latencies; /* by counter; NULL: no event has any */
	struct reading *base;      /* by counter: what its earlier descriptors had counted */
	struct err *why;           /* by event: code 0, or why it was not opened */
	/* By counter: the next one of the same group read, or TABLE_NONE. */
	u32 *next;
	bool *comes_along; /* by counter: reading its leader reads it too */
	/*
	 * Why no reading of tasks can be trusted; NULL: they can. A caller that finds out sets it
	 * before reading.
	 */
	const char *why_lost;
};

int counting_open(struct counting *c, struct event_list *events, const struct target *target,
	const struct counting_options *options, struct log *log, struct err *err);
void counting_close(struct counting *c);

/* Only leaders are switched, and their groups with them. */
int counting_enable(struct counting *c, struct err *err);
/* Enables the counters of whole CPUs, which a command's exec does not enable. */
int counting_enable_whole_cpus(struct counting *c, struct err *err);
int counting_disable(struct counting *c, struct err *err);

/*
 * Opens the counters of a CPU that came back online: they went off with it, and continue from their
 * last readings. Returns how many could not be opened.
 */
size_t counting_reopen_cpu(struct counting *c, s32 cpu, bool is_on);

/* Reads all counters into c->readings; a group in one call, so that its values belong together. */
void counting_read(struct counting *c);

#endif
