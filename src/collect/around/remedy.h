/*
 * remedy.h - what would change a refusal: for each cause the one command with the least privilege.
 *
 * The errors of `record` and `stat` and the page of `doctor` take their commands from here, so that
 * they never give different advice.
 * In       a kind with its number or capabilities; the site, which tells on what machine to act
 * Out      "sudo sysctl kernel.perf_event_paranoid=1", or advice if no command helps
 * Source   Documentation/admin-guide/{sysctl/kernel,perf-security}.rst; setcap(8); mount(8)
 */
#ifndef PACE_COLLECT_REMEDY_H
#define PACE_COLLECT_REMEDY_H

#include "base/str.h"
#include "collect/around/site.h"

enum remedy_kind {
	REMEDY_NONE,
	REMEDY_LEVEL,          /* value: perf_event_paranoid */
	REMEDY_KPTR,           /* kptr_restrict */
	REMEDY_KPTR_AND_LEVEL, /* value: perf_event_paranoid */
	REMEDY_CAPABILITIES,   /* capabilities: bits of enum remedy_capability, for pace's file */
	REMEDY_ROOT,           /* run pace as root, for what no lesser right allows */
	REMEDY_CONTAINER,      /* let perf_event_open(2) through */
	REMEDY_COUNTERS,       /* give the virtual machine a PMU */
	REMEDY_CLOCK,          /* measure by software clocks */
	REMEDY_KERNEL,         /* another kernel */
	REMEDY_MOUNT_PROC,
	REMEDY_MOUNT_TRACEFS,
	REMEDY_OPEN_TRACEFS,     /* for the user's group */
	REMEDY_OPEN_TRACEPOINTS, /* the same, and value: perf_event_paranoid */
	REMEDY_WATCHDOG,         /* frees a counter */
	REMEDY_FILES,            /* value: how many */
	REMEDY_LOCKED_MEMORY,    /* value: kernel.perf_event_mlock_kb */
	REMEDY_STACK,            /* value: kernel.perf_event_max_stack */
	REMEDY_RATE,             /* value: kernel.perf_event_max_sample_rate */
	REMEDY_USER_READS,       /* the cpu PMU's rdpmc; arm64: kernel.perf_user_access */
	REMEDY_WHOLE_CPUS,       /* -a */
	REMEDY_COUNT,
};

enum remedy_capability {
	REMEDY_PERFMON = 1 << 0,
	REMEDY_SYSLOG = 1 << 1,
	REMEDY_SYS_PTRACE = 1 << 2,
	REMEDY_IPC_LOCK = 1 << 3,
};

struct remedy {
	enum remedy_kind kind;
	s64 value;
	unsigned capabilities;
};

/* Whether remedy_add() gives a command for a shell rather than advice. */
bool remedy_is_command(const struct remedy *r, const struct site *site);

/* Adds the command or the advice, if there is any. */
void remedy_add(const struct remedy *r, const struct site *site, struct str *out);

/* Adds what keeps the remedy beyond the next boot or update, if that takes more. */
void remedy_add_lasting(const struct remedy *r, const struct site *site, struct str *out);

/* Adds the end of a sentence: ": run 'x'", ": run 'x' on the host", ": advice". */
void remedy_add_ending(const struct remedy *r, const struct site *site, struct str *out);

/* Whether the machine around the container has to be changed. */
bool remedy_is_outside(const struct remedy *r, const struct site *site);

#endif
