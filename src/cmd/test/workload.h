/*
 * workload.h - small programs of which one knows what they do, to try a profiler on.
 *
 * In       a workload's name and its numbers
 * Out      CPU time in functions of known names; the process's exit status
 * Errors   ERR_INVAL: not a number, too many of them. ERR_SYS: no thread, no pipe
 * Threads  thloop and named_threads start some, which have ended when workload_run() returns
 */
#ifndef PACE_CMD_WORKLOAD_H
#define PACE_CMD_WORKLOAD_H

#include "base/err.h"
#include "base/types.h"

struct workload_numbers {
	double seconds; /* until the alarm that sets workload_is_over */
	u64 n;          /* threads, rounds: what the workload's usage says */
};

struct workload {
	const char *name;
	const char *usage; /* of its numbers, in their order */
	const char *help;  /* what it does, and where */
	struct workload_numbers
		usual; /* what stands for numbers that are not given; seconds 0: it takes none */
	int (*run)(const struct workload_numbers *numbers, struct err *err);
};

extern const struct workload workloads[];
extern const size_t workload_n;

/* NULL: there is none of that name. */
const struct workload *workload_find(const char *name);

int workload_run(const struct workload *w, int argc, char **argv, struct err *err);

/* Set by the alarm at the end. */
extern volatile bool workload_is_over;

/* ---- inlineloop.c ---- */

int inlineloop_run(const struct workload_numbers *numbers, struct err *err);

#endif
