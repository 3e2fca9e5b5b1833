/*
 * run.h - one run of what is counted: from its start to its end, with what happens in between.
 *
 * In       opened counters; a command at its gate or threads that run; when to look
 * Out      calls of `look` at intervals and slices; the final readings; how it ended
 * Owns     nothing
 * Units    ms in the options, ns of CLOCK_MONOTONIC elsewhere
 * Errors   a command that cannot be executed, counters that cannot be switched
 */
#ifndef PACE_COLLECT_RUN_H
#define PACE_COLLECT_RUN_H

#include "collect/run/control.h"
#include "collect/open/counting.h"
#include "collect/run/stop.h"
#include "collect/run/workload.h"

struct run_options {
	u64 interval_ms;    /* 0: none */
	u64 interval_count; /* ends behind so many; 0: no limit */
	u64 timeout_ms;     /* ends behind so long; 0: no limit */
	s64 delay_ms;       /* counting starts so much later; -1: when it is told to */
	u64 slice_ms;       /* how often, at first, to look in between; 0: not */
};

enum run_end { RUN_TARGET_ENDED, RUN_SIGNAL, RUN_ENOUGH };

struct run {
	const struct run_options *options;
	struct counting *counting;
	const struct target *target;
	struct workload *workload; /* NULL: none */
	const char *command;       /* its name, for messages */
	struct stop *stop;
	struct control *control; /* NULL: none */
	struct log *log;
	/*
	 * Called at each interval and (is_interval false) each slice, with fresh readings. It may
	 * set slice_ns to when it wants the next slice.
	 */
	void (*look)(void *ctx, struct run *run, bool is_interval);
	void *ctx;

	u64 start_ns, now_ns; /* when counting began; of the last readings */
	u64 n_intervals;
	u64 slice_ns, sliced_ns; /* length of a slice; when the last one ended */
	bool is_on;              /* the counters are */
};

/* Runs it; the readings are then those of the end. < 0: error. */
int run_execute(struct run *run, enum run_end *ret_end, struct err *err);

#endif
