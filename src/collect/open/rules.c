#include "collect/open/rules.h"

#include <errno.h>
#include <stdio.h>

#include "base/sysfile.h"
#include "event/abi.h"

static s64 number_at(const struct privilege *p, const char *path, s64 otherwise)
{
	char full[512];

	sysfile_s64(site_path(&p->site, full, sizeof(full), "%s", path), &otherwise);
	return otherwise;
}

/* A capability that the core PMU's driver reports; -1: not reported. */
static s64 capability(const struct privilege *p, const char *name)
{
	static const char *const pmus[] = {"cpu", "cpu_core"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(pmus); i++) {
		s64 v;

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/%s", pmus[i],
			name);
		v = number_at(p, path, -1);
		if (v >= 0)
			return v;
	}
	return -1;
}

static int hardware_answer(const struct privilege *p, const struct event_attr *attr)
{
	if (!site_has_core_pmu(&p->site))
		return ENOENT;
	if (attr_precise(attr) && capability(p, "max_precise") < (s64)attr_precise(attr))
		return EOPNOTSUPP;
	return attr->branch_sample_type && capability(p, "branches") <= 0 ? EOPNOTSUPP : 0;
}

static bool is_of(const struct privilege *p, const struct event_attr *attr, const char *type_path)
{
	return attr->type > PERF_TYPE_BREAKPOINT && (s64)attr->type == number_at(p, type_path, -1);
}

/* The kernel checks probes before everything else that the capability grants. */
static bool is_denied_probe(const struct privilege *p, const struct event_attr *attr)
{
	return (is_of(p, attr, "/sys/bus/event_source/devices/uprobe/type") &&
		       !privilege_allows(p, PRIVILEGE_UPROBE)) ||
		(is_of(p, attr, "/sys/bus/event_source/devices/kprobe/type") &&
			!privilege_allows(p, PRIVILEGE_KPROBE));
}

int rules_answer(const struct privilege *p, const struct event_attr *attr, pid_t pid)
{
	bool is_hardware = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
		attr->type == PERF_TYPE_RAW;

	/* Containers' default profiles allow the system call only with the capability. */
	if (p->site.seccomp == SITE_SECCOMP_ACTIVE && p->site.container && !p->has_perfmon)
		return EPERM;
	if (!p->has_perf_events)
		return ENOSYS;
	if (!privilege_allows(p,
		    attr->flags & ATTR_EXCLUDE_KERNEL ? PRIVILEGE_USER : PRIVILEGE_KERNEL))
		return EACCES;
	if (attr->flags & ATTR_FREQ &&
		attr->sample_period >
			(u64)number_at(p, "/proc/sys/kernel/perf_event_max_sample_rate", 100000))
		return EINVAL;
	if (pid > 0 && !p->has_perfmon && !p->has_ptrace)
		return EACCES;
	if (is_denied_probe(p, attr))
		return EACCES;
	if (is_hardware && hardware_answer(p, attr))
		return hardware_answer(p, attr);
	if (attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_SAMPLE_RAW &&
		!privilege_allows(p, PRIVILEGE_TRACEPOINT))
		return EPERM;
	return pid == -1 && !privilege_allows(p, PRIVILEGE_CPU) ? EACCES : 0;
}
