/*
 * privilege.h - what this process may measure, and the least that would let it measure more.
 *
 * Out      the kernel's settings, this process's capabilities, and sentences about them
 * Source   Documentation/admin-guide/sysctl/kernel.rst (perf_event_paranoid, kptr_restrict),
 *          Documentation/admin-guide/perf-security.rst, capabilities(7); levels 3 and 4 are
 *          Debian's, Ubuntu's and Android's
 */
#ifndef PACE_COLLECT_PRIVILEGE_H
#define PACE_COLLECT_PRIVILEGE_H

#include "base/err.h"
#include "base/types.h"
#include "collect/around/remedy.h"
#include "collect/around/site.h"

struct privilege {
	bool has_perf_events; /* the kernel was built with perf events and /proc is mounted */
	bool has_proc;
	/* -1 no limits; 0 no raw tracepoints; 1 no CPU-wide; 2 no kernel; 3, 4 nothing */
	s64 paranoid;
	s64 kptr_restrict;
	/* Effective, by number; those of a user namespace count only inside it. */
	u64 capabilities;
	bool has_admin;    /* CAP_SYS_ADMIN */
	bool has_perfmon;  /* CAP_PERFMON or CAP_SYS_ADMIN: the levels do not apply */
	bool has_syslog;   /* CAP_SYSLOG: sees kernel addresses whatever kptr_restrict says */
	bool has_ipc_lock; /* CAP_IPC_LOCK: rings of any size */
	bool has_ptrace;   /* CAP_SYS_PTRACE: other users' processes */
	struct site site;
};

enum privilege_wish {
	PRIVILEGE_USER,       /* own processes, user space */
	PRIVILEGE_KERNEL,     /* own processes, kernel included */
	PRIVILEGE_CPU,        /* everything that runs on a CPU */
	PRIVILEGE_TRACEPOINT, /* tracepoints with their contents */
	PRIVILEGE_PASSES,     /* tracepoints, counted in own processes */
	PRIVILEGE_KPROBE,     /* probes in the kernel: no level grants them */
	PRIVILEGE_UPROBE,     /* probes in programs: nor does CAP_PERFMON, in kernels since 2025 */
	PRIVILEGE_STRANGER,   /* processes of other users: no level grants them */
};

void privilege_read(struct privilege *p);

/* The same for copies of /proc and /sys below `root`; NULL: this machine. */
void privilege_read_at(struct privilege *p, const char *root);
bool privilege_allows(const struct privilege *p, enum privilege_wish wish);

/*
 * Writes the reason into buf, like "perf_event_paranoid is 2, measuring the kernel needs 1 or less,
 * CAP_PERFMON or CAP_SYS_ADMIN". Returns what would change it.
 */
struct remedy privilege_reason(const struct privilege *p, enum privilege_wish wish, char *buf,
	size_t size);

/* Writes reason and remedy as one sentence: level, capability and the one command. */
const char *privilege_explain(const struct privilege *p, enum privilege_wish wish, char *buf,
	size_t size);

/*
 * Whether /proc/kallsyms shows addresses; if not, why it shows zeros, and what would change that.
 * Source: kernel/ksyms_common.c, kallsyms_show_value()
 */
bool privilege_shows_kernel(const struct privilege *p);
struct remedy privilege_reason_hidden(const struct privilege *p, char *buf, size_t size);
const char *privilege_explain_hidden(const struct privilege *p, char *buf, size_t size);

/* What a level lets users without capabilities do. */
const char *privilege_level_text(s64 level);

/* Adds the process's capabilities that matter here, like "CAP_PERFMON, CAP_SYSLOG". */
void privilege_add_capabilities(const struct privilege *p, struct str *out);

#endif
