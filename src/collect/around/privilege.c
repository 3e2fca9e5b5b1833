#include "collect/around/privilege.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "base/sysfile.h"

enum {
	CAP_DAC_READ_SEARCH_BIT = 2,
	CAP_IPC_LOCK_BIT = 14,
	CAP_SYS_PTRACE_BIT = 19,
	CAP_SYS_ADMIN_BIT = 21,
	CAP_SYSLOG_BIT = 34,
	CAP_PERFMON_BIT = 38,
	NO_LEVEL = -100, /* lower than any: only the capability helps */
};

/* For each wish: what it is called, and the highest perf_event_paranoid that grants it. */
static const struct {
	const char *what;
	s64 level;
} wishes[] = {
	[PRIVILEGE_USER] = {"measuring at all", 2},
	[PRIVILEGE_KERNEL] = {"measuring the kernel", 1},
	[PRIVILEGE_CPU] = {"measuring all processes (-a, -C)", 0},
	[PRIVILEGE_TRACEPOINT] = {"reading tracepoints", -1},
	[PRIVILEGE_PASSES] = {"counting tracepoints", 1},
	[PRIVILEGE_KPROBE] = {"putting probes into the kernel", NO_LEVEL},
	[PRIVILEGE_UPROBE] = {"putting probes into programs", NO_LEVEL},
	[PRIVILEGE_STRANGER] = {"measuring other users' processes", NO_LEVEL},
};

static const struct {
	int bit;
	const char *name;
} capability_names[] = {
	{CAP_PERFMON_BIT, "CAP_PERFMON"},
	{CAP_SYS_ADMIN_BIT, "CAP_SYS_ADMIN"},
	{CAP_SYSLOG_BIT, "CAP_SYSLOG"},
	{CAP_IPC_LOCK_BIT, "CAP_IPC_LOCK"},
	{CAP_SYS_PTRACE_BIT, "CAP_SYS_PTRACE"},
	{CAP_DAC_READ_SEARCH_BIT, "CAP_DAC_READ_SEARCH"},
};

static u64 effective_capabilities(const struct site *site)
{
	struct str status = {0};
	char path[512];
	struct err err;
	const char *line;
	u64 caps = 0;

	if (!sysfile_read(site_path(site, path, sizeof(path), "/proc/self/status"), 1 << 16,
		    &status, &err)) {
		line = strstr(str_text(&status), "\nCapEff:");
		caps = line ? strtoull(line + 8, NULL, 16) : 0;
	}
	str_fini(&status);
	return caps;
}

void privilege_read_at(struct privilege *p, const char *root)
{
	char path[512];
	u64 caps;

	memset(p, 0, sizeof(*p));
	site_read(&p->site, root);
	p->has_perf_events = sysfile_s64(
		site_path(&p->site, path, sizeof(path), "/proc/sys/kernel/perf_event_paranoid"),
		&p->paranoid);
	p->has_proc =
		access(site_path(&p->site, path, sizeof(path), "/proc/self/status"), F_OK) == 0;
	sysfile_s64(site_path(&p->site, path, sizeof(path), "/proc/sys/kernel/kptr_restrict"),
		&p->kptr_restrict);
	p->capabilities = effective_capabilities(&p->site);
	/* For measuring, the kernel wants capabilities of the first namespace, whatever ours grants. */
	caps = p->site.in_user_namespace ? 0 : p->capabilities;
	p->has_perfmon = caps >> CAP_PERFMON_BIT & 1 || caps >> CAP_SYS_ADMIN_BIT & 1;
	p->has_admin = caps >> CAP_SYS_ADMIN_BIT & 1;
	p->has_syslog = caps >> CAP_SYSLOG_BIT & 1;
	p->has_ipc_lock = caps >> CAP_IPC_LOCK_BIT & 1;
	p->has_ptrace = caps >> CAP_SYS_PTRACE_BIT & 1;
}

void privilege_read(struct privilege *p)
{
	privilege_read_at(p, NULL);
}

bool privilege_allows(const struct privilege *p, enum privilege_wish wish)
{
	/*
	 * A probe in the middle of an instruction breaks the program: so Linux 6.16 withdrew this
	 * right.
	 */
	if (wish == PRIVILEGE_UPROBE)
		return p->has_perf_events && p->has_admin;
	return p->has_perf_events && (p->has_perfmon || p->paranoid <= wishes[wish].level);
}

const char *privilege_level_text(s64 level)
{
	static const char *const texts[] = {
		"users measure everything",
		"users measure everything but tracepoints' contents",
		"users measure their own programs, kernel included",
		"users measure their own programs, in user space only",
		"users measure nothing on Debian's, Ubuntu's and Android's kernels; elsewhere as with 2",
	};

	return texts[MIN(MAX(level, -1), 3) + 1];
}

void privilege_add_capabilities(const struct privilege *p, struct str *out)
{
	const char *comma = "";

	for (size_t i = 0; i < ARRAY_SIZE(capability_names); i++) {
		if (!(p->capabilities >> capability_names[i].bit & 1))
			continue;
		str_addf(out, "%s%s", comma, capability_names[i].name);
		comma = ", ";
	}
}

static struct remedy none_at_all(const struct privilege *p, char *buf, size_t size)
{
	static const char file[] = "/proc/sys/kernel/perf_event_paranoid";

	if (!p->has_proc) {
		snprintf(buf, size, "/proc is not mounted, so there is no '%s' either", file);
		return (struct remedy){REMEDY_MOUNT_PROC};
	}
	snprintf(buf, size,
		"this kernel offers no perf events ('%s' is missing): it was built without "
		"CONFIG_PERF_EVENTS",
		file);
	return (struct remedy){REMEDY_KERNEL};
}

/* The rules above would allow it, so something else forbids it. */
static struct remedy refused_by_others(const struct privilege *p, enum privilege_wish wish,
	char *buf, size_t size)
{
	const struct site *site = &p->site;
	char rules[256] = "an LSM or lockdown";

	if (site->seccomp != SITE_SECCOMP_NONE)
		snprintf(rules, sizeof(rules), "a seccomp filter (%s), an LSM or lockdown",
			site->container ? site->container->name : "containers have one");
	if (p->has_perfmon)
		snprintf(buf, size,
			"this process has CAP_PERFMON or CAP_SYS_ADMIN, which allows %s, yet the kernel refused: "
			"%s forbids perf_event_open(2)",
			wishes[wish].what, rules);
	else
		snprintf(buf, size,
			"perf_event_paranoid is %lld, which allows %s, yet the kernel refused: %s forbids "
			"perf_event_open(2)",
			(long long)p->paranoid, wishes[wish].what, rules);
	return (struct remedy){REMEDY_CONTAINER};
}

struct remedy privilege_reason(const struct privilege *p, enum privilege_wish wish, char *buf,
	size_t size)
{
	const char *others = p->site.in_user_namespace && p->capabilities >> CAP_SYS_ADMIN_BIT & 1
		? " (not of a user namespace)"
		: "";
	s64 level = wishes[wish].level;

	if (!p->has_perf_events)
		return none_at_all(p, buf, size);
	if (privilege_allows(p, wish))
		return refused_by_others(p, wish, buf, size);
	if (wish == PRIVILEGE_UPROBE) {
		snprintf(buf, size, "%s needs CAP_SYS_ADMIN%s", wishes[wish].what, others);
		return (struct remedy){REMEDY_ROOT};
	}
	if (level == NO_LEVEL) {
		snprintf(buf, size, "%s needs CAP_PERFMON%s CAP_SYS_ADMIN%s%s", wishes[wish].what,
			wish == PRIVILEGE_STRANGER ? "," : " or",
			wish == PRIVILEGE_STRANGER ? " or CAP_SYS_PTRACE" : "", others);
		return (struct remedy){REMEDY_CAPABILITIES, .capabilities = REMEDY_PERFMON};
	}
	snprintf(buf, size,
		"perf_event_paranoid is %lld, %s needs %lld or less, CAP_PERFMON or CAP_SYS_ADMIN%s",
		(long long)p->paranoid, wishes[wish].what, (long long)level, others);
	/* Giving one container the capability grants less than changing the whole host's level. */
	if (p->site.container && p->site.container->remedy && p->site.is_root &&
		!p->site.in_user_namespace)
		return (struct remedy){REMEDY_CONTAINER};
	return (struct remedy){REMEDY_LEVEL, .value = level};
}

/* Adds the remedy to the reason in buf. */
static const char *end_sentence(const struct privilege *p, const struct remedy *remedy, char *buf,
	size_t size)
{
	struct str ending = {0};
	size_t n = strlen(buf);

	remedy_add_ending(remedy, &p->site, &ending);
	snprintf(buf + n, size - n, "%s", str_text(&ending));
	str_fini(&ending);
	return buf;
}

const char *privilege_explain(const struct privilege *p, enum privilege_wish wish, char *buf,
	size_t size)
{
	struct remedy remedy = privilege_reason(p, wish, buf, size);

	return end_sentence(p, &remedy, buf, size);
}

bool privilege_shows_kernel(const struct privilege *p)
{
	/* If kptr_restrict is off, perf's own level decides; CAP_SYSLOG helps up to 1. */
	return (p->kptr_restrict <= 0 && p->paranoid <= 1) ||
		(p->kptr_restrict <= 1 && p->has_syslog);
}

struct remedy privilege_reason_hidden(const struct privilege *p, char *buf, size_t size)
{
	enum remedy_kind kind;

	if (!p->has_perf_events && !p->has_proc)
		return none_at_all(p, buf, size);
	if (privilege_shows_kernel(p)) {
		snprintf(buf, size,
			"kptr_restrict is %lld, which would show them, but a container, an LSM or lockdown hides them",
			(long long)p->kptr_restrict);
		return (struct remedy){REMEDY_NONE};
	}
	kind = !p->kptr_restrict                    ? REMEDY_LEVEL
		: p->paranoid > 1 && !p->has_syslog ? REMEDY_KPTR_AND_LEVEL
						    : REMEDY_KPTR;
	snprintf(buf, size, "kptr_restrict is %lld and perf_event_paranoid %lld",
		(long long)p->kptr_restrict, (long long)p->paranoid);
	return (struct remedy){kind, .value = 1};
}

const char *privilege_explain_hidden(const struct privilege *p, char *buf, size_t size)
{
	struct remedy remedy = privilege_reason_hidden(p, buf, size);

	return end_sentence(p, &remedy, buf, size);
}
