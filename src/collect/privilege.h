/*
 * privilege.h - what this process may measure, and the least that would let it measure more.
 *
 * Out      the kernel's setting, this process's capabilities, and sentences made of them
 * Source   Documentation/admin-guide/sysctl/kernel.rst (perf_event_paranoid, kptr_restrict),
 *          capabilities(7); levels 3 and 4 are Debian's and Ubuntu's
 */
#ifndef PACE_COLLECT_PRIVILEGE_H
#define PACE_COLLECT_PRIVILEGE_H

#include "base/err.h"
#include "base/types.h"

struct privilege {
	bool has_perf_events; /* the kernel was built with them and /proc is mounted */
	/* -1 no limits; 0 no raw tracepoints; 1 no CPU-wide; 2 no kernel; 3, 4 nothing */
	s64 paranoid;
	s64 kptr_restrict;
	bool has_perfmon;  /* CAP_PERFMON or CAP_SYS_ADMIN: the levels do not apply */
	bool has_syslog;   /* CAP_SYSLOG: sees kernel addresses whatever kptr_restrict says */
	bool has_ipc_lock; /* CAP_IPC_LOCK: rings of any size */
};

enum privilege_wish {
	PRIVILEGE_USER,       /* own processes, user space */
	PRIVILEGE_KERNEL,     /* own processes, kernel included */
	PRIVILEGE_CPU,        /* everything that runs on a CPU */
	PRIVILEGE_TRACEPOINT, /* tracepoints with their contents */
};

void privilege_read(struct privilege *p);
bool privilege_allows(const struct privilege *p, enum privilege_wish wish);

/*
 * "perf_event_paranoid is 2, kernel sampling needs 1 or less, or CAP_PERFMON: run 'sudo sysctl
 * ...'" into buf: level, capability and the one command.
 */
const char *privilege_explain(const struct privilege *p, enum privilege_wish wish, char *buf,
	size_t size);

/*
 * The same for /proc/kallsyms that shows zeros. Source: kernel/ksyms_common.c,
 * kallsyms_show_value()
 */
const char *privilege_explain_hidden(const struct privilege *p, char *buf, size_t size);

#endif
