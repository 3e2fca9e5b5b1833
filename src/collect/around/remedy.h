/*
 * remedy.h - what would change a refusal: for each cause the one command with the least privilege.
 *
 * Errors of `record` and `stat` and the page of `doctor` take their commands from here, so that
 * they never advise different things.
 * In       a kind with its number or capabilities; the site, which tells who has to run it
 * Out      "sudo sysctl kernel.perf_event_paranoid=1", or advice where no command does it
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
	REMEDY_CAPABILITIES,   /* capabilities: of enum remedy_capability, for pace's file */
	REMEDY_ROOT,           /* once, for what no lesser right does */
	REMEDY_CONTAINER,      /* let perf_event_open(2) through */
	REMEDY_COUNTERS,       /* give the virtual machine a PMU */
	REMEDY_CLOCK,          /* do without: software clocks */
	REMEDY_KERNEL,         /* another kernel */
	REMEDY_MOUNT_PROC,
	REMEDY_MOUNT_TRACEFS,
	REMEDY_OPEN_TRACEFS,     /* for the user's group */
	REMEDY_OPEN_TRACEPOINTS, /* and value: perf_event_paranoid */
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

/* Whether remedy_add() gives a line for a shell, and not advice in words. */
bool remedy_is_command(const struct remedy *r, const struct site *site);

/* The command or the advice; nothing if there is none. */
void remedy_add(const struct remedy *r, const struct site *site, struct str *out);

/* How it holds after the next boot or update; nothing if it does anyway. */
void remedy_add_lasting(const struct remedy *r, const struct site *site, struct str *out);

/* As the end of a sentence: ": run 'x'", ": run 'x' on the host", ": advice". */
void remedy_add_ending(const struct remedy *r, const struct site *site, struct str *out);

/* Whether it is the machine around the container that has to be changed. */
bool remedy_is_outside(const struct remedy *r, const struct site *site);

#endif
