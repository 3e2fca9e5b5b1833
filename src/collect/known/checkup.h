/*
 * checkup.h - everything about a machine that decides what pace can measure on it.
 *
 * In       /proc, /sys, /boot; the results of trial openings (trial.h)
 * Out      findings, each with its value in words; trials, each with its cause
 * Owns     the texts of the findings
 * Source   Documentation/admin-guide/sysctl/kernel.rst, perf_event_open(2), proc(5)
 */
#ifndef PACE_COLLECT_CHECKUP_H
#define PACE_COLLECT_CHECKUP_H

#include "base/mem.h"
#include "base/vec.h"
#include "collect/around/kconfig.h"
#include "collect/around/privilege.h"
#include "collect/known/trial.h"

enum finding_group {
	FINDING_MACHINE,
	FINDING_RIGHTS,
	FINDING_LIMITS,
	FINDING_KERNEL,
	FINDING_GROUP_COUNT,
};

enum finding_state {
	FINDING_FINE,
	FINDING_LIMITS_US, /* another value would allow more */
	FINDING_UNKNOWN,   /* the machine does not tell */
};

struct finding {
	const char *key;   /* "perf_event_paranoid": its name in JSON */
	const char *label; /* its name on the page */
	enum finding_group group;
	enum finding_state state;
	bool has_value;
	s64 value;        /* if the setting is a number */
	const char *text; /* the value in words */
	struct remedy remedy;
};

struct checkup_option {
	const char *name;  /* "CONFIG_PERF_EVENTS" */
	const char *gives; /* what is missing without it */
	enum kconfig_state state;
};

enum { CHECKUP_OPTIONS_MAX = 16 };

struct checkup {
	struct privilege privilege;
	struct kconfig config;
	char release[128], arch[32];
	u32 n_cpus;
	VEC(struct finding) findings; /* by group */
	struct checkup_option options[CHECKUP_OPTIONS_MAX];
	size_t n_options;
	struct trial trials[TRIAL_COUNT];
	struct arena arena;
};

/* `root` NULL: this machine; else copies of another machine's /proc, /sys and /boot are below it. */
void checkup_run(struct checkup *c, const char *root);
void checkup_fini(struct checkup *c);

/* Whether a user can count and sample their own programs, on which everything else builds. */
bool checkup_is_fit(const struct checkup *c);

#endif
