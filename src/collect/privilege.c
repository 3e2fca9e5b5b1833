#include "collect/privilege.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/sysfile.h"

enum { CAP_IPC_LOCK_BIT = 14, CAP_SYS_ADMIN_BIT = 21, CAP_SYSLOG_BIT = 34, CAP_PERFMON_BIT = 38 };

/* For each wish: what it is called, and the highest perf_event_paranoid that grants it. */
static const struct {
	const char *what;
	s64 level;
} wishes[] = {
	[PRIVILEGE_USER] = {"measuring at all", 2},
	[PRIVILEGE_KERNEL] = {"measuring the kernel", 1},
	[PRIVILEGE_CPU] = {"measuring all processes (-a, -C)", 0},
	[PRIVILEGE_TRACEPOINT] = {"reading tracepoints", -1},
};

static u64 effective_capabilities(void)
{
	struct str status = {0};
	struct err err;
	const char *line;
	u64 caps = 0;

	if (!sysfile_read("/proc/self/status", 1 << 16, &status, &err)) {
		line = strstr(str_text(&status), "\nCapEff:");
		caps = line ? strtoull(line + 8, NULL, 16) : 0;
	}
	str_fini(&status);
	return caps;
}

void privilege_read(struct privilege *p)
{
	u64 caps = effective_capabilities();

	memset(p, 0, sizeof(*p));
	p->has_perf_events = sysfile_s64("/proc/sys/kernel/perf_event_paranoid", &p->paranoid);
	sysfile_s64("/proc/sys/kernel/kptr_restrict", &p->kptr_restrict);
	p->has_perfmon = caps >> CAP_PERFMON_BIT & 1 || caps >> CAP_SYS_ADMIN_BIT & 1;
	p->has_syslog = caps >> CAP_SYSLOG_BIT & 1;
	p->has_ipc_lock = caps >> CAP_IPC_LOCK_BIT & 1;
}

bool privilege_allows(const struct privilege *p, enum privilege_wish wish)
{
	return p->has_perf_events && (p->has_perfmon || p->paranoid <= wishes[wish].level);
}

const char *privilege_explain(const struct privilege *p, enum privilege_wish wish, char *buf,
	size_t size)
{
	if (!p->has_perf_events)
		snprintf(buf, size,
			"this kernel offers no perf events (/proc/sys/kernel/perf_event_paranoid is missing): it was built "
			"without CONFIG_PERF_EVENTS, or /proc is not mounted");
	else if (privilege_allows(p, wish))
		snprintf(buf, size,
			"perf_event_paranoid is %lld, which allows %s, yet the kernel refused: a seccomp filter (containers "
			"have one), an LSM or lockdown forbids perf_event_open(2)",
			(long long)p->paranoid, wishes[wish].what);
	else
		snprintf(buf, size,
			"perf_event_paranoid is %lld, %s needs %lld or less, or CAP_PERFMON (CAP_SYS_ADMIN before Linux "
			"5.8): run 'sudo sysctl kernel.perf_event_paranoid=%lld', or pace as root%s",
			(long long)p->paranoid, wishes[wish].what, (long long)wishes[wish].level,
			(long long)wishes[wish].level,
			wish >= PRIVILEGE_CPU && privilege_allows(p, PRIVILEGE_USER)
				? "; your own programs can be recorded as it is: 'pace record COMMAND'"
				: "");
	return buf;
}

const char *privilege_explain_hidden(const struct privilege *p, char *buf, size_t size)
{
	/* Without restriction perf's own level decides; CAP_SYSLOG helps up to 1. */
	bool is_open = p->kptr_restrict == 0 && p->paranoid <= 1,
	     is_ours = p->kptr_restrict <= 1 && p->has_syslog;
	const char *kptr = p->kptr_restrict ? " kernel.kptr_restrict=0" : "";
	const char *paranoid = p->paranoid > 1 ? " kernel.perf_event_paranoid=1" : "";

	if (is_open || is_ours)
		snprintf(buf, size,
			"kptr_restrict is %lld, which lets us see them: a container, an LSM or lockdown hides them",
			(long long)p->kptr_restrict);
	else
		snprintf(buf, size,
			"kptr_restrict is %lld and perf_event_paranoid %lld: run 'sudo sysctl%s%s'%s",
			(long long)p->kptr_restrict, (long long)p->paranoid, kptr, paranoid,
			p->kptr_restrict <= 1 ? ", or pace as root" : "");
	return buf;
}
