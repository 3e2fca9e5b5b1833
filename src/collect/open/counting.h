/*
 * counting.h - events that count: opened on a target, switched together, read.
 *
 * In       parsed events, whose attrs are completed here; a target, a command at its gate included
 * Out      for each counter its value so far; for each event why it has none
 * Owns     the counters and the readings
 * Errors   counting_open(): only what concerns all events (limits, a target that has ended). An
 *          event that cannot be opened is left out: see why[]. Reading cannot fail as a whole
 * Units    values as the kernel counts them, times in ns
 * Source   perf_event_open(2): Reading results
 */
#ifndef PACE_COLLECT_COUNTING_H
#define PACE_COLLECT_COUNTING_H

#include "base/err.h"
#include "base/log.h"
#include "collect/counter/counter.h"
#include "event/event.h"
#include "event/target.h"

struct reading { /* of one counter, since it was opened */
	u64 value;
	u64 enabled_ns;  /* it was switched on and its task ran */
	u64 running_ns;  /* it was on the PMU meanwhile */
	bool has_failed; /* a pinned event that lost its place, or its descriptor is of no use */
};

struct counting_options {
	bool no_inherit; /* children are not counted */
	bool is_command; /* the target waits at its gate: counters start with its exec */
	bool needs_ids;  /* events' ids are wanted, for a recording */
	bool starts_off; /* nothing is switched on until counting_enable() */
};

struct counting {
	struct event_list *events;
	struct counters counters; /* by event; within one by thread, then by CPU */
	struct reading *readings; /* by counter: the last ones */
	struct reading *base;     /* by counter: of descriptors it had before */
	struct err *why;          /* by event: code 0, or why it was not opened */
	u32 *next;                /* by counter: the one that is read with it, or TABLE_NONE */
	bool *comes_along;        /* by counter: it is read with its leader */
	/* Why nothing that is read of tasks is true; NULL: it is. Set by who knows, before reading. */
	const char *why_lost;
};

int counting_open(struct counting *c, struct event_list *events, const struct target *target,
	const struct counting_options *options, struct log *log, struct err *err);
void counting_close(struct counting *c);

/* Leaders switch their groups. */
int counting_enable(struct counting *c, struct err *err);
/* Those that the exec of a command does not switch on: they count whole CPUs, whoever runs there. */
int counting_enable_whole_cpus(struct counting *c, struct err *err);
int counting_disable(struct counting *c, struct err *err);

/*
 * A CPU that was off takes no more part: its counters are opened anew, and go on where they were.
 * How many could not.
 */
size_t counting_reopen_cpu(struct counting *c, s32 cpu, bool is_on);

/* Reads all counters into c->readings; groups in one call, so that they belong together. */
void counting_read(struct counting *c);

#endif
