/*
 * run.h - one counting run, from its start to its end, with what happens in between.
 *
 * In       opened counters; a command at its gate, or running threads; when to look
 * Out      calls of `look` at intervals and slices; the final readings; how it ended
 * Owns     nothing
 * Units    ms in the options, ns of CLOCK_MONOTONIC elsewhere
 * Errors   the command cannot be executed, or counters cannot be switched
 */
#ifndef PACE_COLLECT_RUN_H
#define PACE_COLLECT_RUN_H

#include "collect/run/control.h"
#include "collect/open/counting.h"
#include "collect/run/stop.h"
#include "collect/run/workload.h"

struct run_options {
	u64 interval_ms;    /* 0: none */
	u64 interval_count; /* ends after that many intervals; 0: no limit */
	u64 timeout_ms;     /* ends after that time; 0: no limit */
	s64 delay_ms;       /* counting starts that much later; -1: on a command */
	u64 slice_ms;       /* initial time between looks within an interval; 0: none */
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
	 * Called with fresh readings at each interval and (is_interval false) each slice. It may
	 * set slice_ns to the time until the next slice it wants.
	 */
	void (*look)(void *ctx, struct run *run, bool is_interval);
	void *ctx;

	u64 start_ns, now_ns; /* when counting began; time of the last readings */
	u64 n_intervals;
	u64 slice_ns, sliced_ns; /* length of a slice; when the last one ended */
	bool is_on;              /* the counters are enabled */
};

/* Runs it to the end; the readings are then the final ones. < 0: error. */
int run_execute(struct run *run, enum run_end *ret_end, struct err *err);

#endif
