/*
 * trial.h - what works here, by trying it: each wish of a user, opened for a moment and closed.
 *
 * In       the privileges, with the site they were read from
 * Out      for each wish: it works, or the cause and what would change it; the causes are those of
 *          refusal.h, so that the doctor and the errors agree
 * Threads  one
 *
 * Of a copy of another machine nothing can be tried; then rules.h answers.
 */
#ifndef PACE_COLLECT_TRIAL_H
#define PACE_COLLECT_TRIAL_H

#include "collect/around/privilege.h"
#include "collect/around/remedy.h"

/* In the order in which people ask for it. */
enum trial_wish {
	TRIAL_COUNT_OWN,
	TRIAL_SAMPLE_OWN,
	TRIAL_STACKS,
	TRIAL_KERNEL,
	TRIAL_KERNEL_NAMES,
	TRIAL_HARDWARE,
	TRIAL_HARDWARE_SAMPLES,
	TRIAL_ALL,
	TRIAL_STRANGER,
	TRIAL_PASSES,
	TRIAL_TRACEPOINT,
	TRIAL_PROBE,
	TRIAL_BREAKPOINT,
	TRIAL_PRECISE,
	TRIAL_BRANCHES,
	TRIAL_USER_READS,
	TRIAL_COUNT,
};

struct trial {
	const char *key;  /* "sample_own": what JSON calls it */
	const char *what; /* "sample your own programs" */
	bool works;
	char detail[64]; /* of what works: "precision 2", "6 counters"; or "" */
	char why[512];   /* of what does not: the cause */
	struct remedy remedy;
};

void trial_all(const struct privilege *p, struct trial trials[TRIAL_COUNT]);

#endif
