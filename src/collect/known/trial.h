/*
 * trial.h - what works here, found out by trying: each wish of a user is opened for a moment and closed.
 *
 * In       the privileges, with the site they were read from
 * Out      for each wish: it works, or the cause and what would change it; the causes are those of
 *          refusal.h, so that the doctor and the errors agree
 * Threads  one
 *
 * On a copy of another machine nothing can be tried: rules.h gives the answers instead.
 */
#ifndef PACE_COLLECT_TRIAL_H
#define PACE_COLLECT_TRIAL_H

#include "collect/around/privilege.h"
#include "collect/around/remedy.h"

/* In the order in which users want them. */
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
	const char *key;  /* "sample_own": its name in JSON */
	const char *what; /* "sample your own programs" */
	bool works;
	char detail[64]; /* if it works: "precision 2", "6 counters"; or "" */
	char why[512];   /* if it does not work: the cause */
	struct remedy remedy;
};

void trial_all(const struct privilege *p, struct trial trials[TRIAL_COUNT]);

#endif
