/*
 * testwork.h - small programs of which one knows what they do, to try a profiler on.
 *
 * In       a workload's name and its numbers
 * Out      CPU time in functions of known names; the process's exit status
 * Errors   ERR_INVAL: not a number, too many of them. ERR_SYS: no thread, no pipe
 * Threads  thloop and named_threads start some, which have ended when testwork_run() returns
 */
#ifndef PACE_CMD_TESTWORK_H
#define PACE_CMD_TESTWORK_H

#include "base/err.h"
#include "base/types.h"

struct testwork_numbers {
	double seconds; /* until the alarm that sets testwork_is_over */
	u64 n;          /* threads, rounds: what the workload's usage says */
};

struct testwork {
	const char *name;
	const char *usage; /* of its numbers, in their order */
	const char *help;  /* what it does, and where */
	struct testwork_numbers
		usual; /* what stands for numbers that are not given; seconds 0: it takes none */
	int (*run)(const struct testwork_numbers *numbers, struct err *err);
};

extern const struct testwork testworks[];
extern const size_t testwork_n;

/* NULL: there is none of that name. */
const struct testwork *testwork_find(const char *name);

int testwork_run(const struct testwork *w, int argc, char **argv, struct err *err);

/* Set by the alarm at the end. */
extern volatile bool testwork_is_over;

/* ---- inlineloop.c ---- */

int inlineloop_run(const struct testwork_numbers *numbers, struct err *err);

#endif
