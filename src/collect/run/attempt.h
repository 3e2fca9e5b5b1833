/*
 * attempt.h - one run of a command with its counters, from its start to the last reading.
 *
 * In       argv; what to count, and where (the command, or the CPUs of a system-wide target); the
 *          command's standard files
 * Out      how long it took, how it ended, what it used; the readings, in `counting`
 * Owns     counters, and the command's process, until the next run or attempt_close()
 * Units    ns of CLOCK_MONOTONIC
 * Errors   the command cannot be executed; no event may be counted
 */
#ifndef PACE_COLLECT_ATTEMPT_H
#define PACE_COLLECT_ATTEMPT_H

#include "collect/open/counting.h"
#include "collect/run/run.h"
#include "collect/run/stop.h"
#include "collect/run/workload.h"

struct attempt {
	struct event_list *events;
	struct target *target;
	struct stop *stop;
	struct log *log;
	bool no_inherit;
	const char *why_lost; /* see struct counting; NULL: counters are not lost */
	int files[3];         /* standard input, output, error; -1: pace's own */

	struct counting counting;
	struct workload workload;
	u64 elapsed_ns;
};

/* *ret_end RUN_SIGNAL: pace was told to end; then the command was told, too. */
int attempt_run(struct attempt *t, char **argv, enum run_end *ret_end, struct err *err);
void attempt_close(struct attempt *t);

#endif
