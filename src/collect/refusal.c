#include "collect/refusal.h"

#include <errno.h>
#include <sys/resource.h>

#include "collect/privilege.h"
#include "event/abi.h"

static int not_permitted(const struct event_attr *attr, const char *name, pid_t pid, int sys,
	struct err *err)
{
	enum privilege_wish wish = pid == -1         ? PRIVILEGE_CPU
		: attr->type == PERF_TYPE_TRACEPOINT ? PRIVILEGE_TRACEPOINT
		: attr->flags & ATTR_EXCLUDE_KERNEL  ? PRIVILEGE_USER
						     : PRIVILEGE_KERNEL;
	struct privilege p;
	char why[700];

	privilege_read(&p);
	if (pid > 0 && privilege_allows(&p, wish) && !p.has_perfmon)
		err_set(err, ERR_PERM,
			"opening '%s' on process %d: it belongs to another user; measuring it needs CAP_PERFMON, "
			"CAP_SYS_PTRACE or root",
			name, pid);
	else
		err_set(err, ERR_PERM, "opening '%s': %s: %s", name,
			sys == EPERM ? "not permitted" : "access denied",
			privilege_explain(&p, wish, why, sizeof(why)));
	err->sys = sys;
	return err->code;
}

static int not_there(const struct event_attr *attr, const char *name, int cpu, int sys,
	struct err *err)
{
	bool is_hardware = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
		attr->type == PERF_TYPE_RAW;

	if (sys == ENODEV && !is_hardware && cpu >= 0)
		return err_set(err, ERR_NOENT, "opening '%s': CPU %d is not online", name, cpu);
	return err_set(err, ERR_UNSUPPORTED, "opening '%s': %s%s", name,
		sys == EOPNOTSUPP ? "this PMU cannot do it"
			: is_hardware
			? "this machine has no such hardware counter (virtual machines often have none)"
			: "this kernel does not have it",
		is_hardware ? "; 'cpu-clock', 'task-clock' and 'page-faults' work everywhere" : "");
}

static int invalid(const struct event_attr *attr, const char *name, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
		"opening '%s': the kernel finds the combination invalid (EINVAL)%s", name,
		attr_precise(attr)                 ? "; precise events (:p) need PEBS, IBS or SPE"
			: attr->branch_sample_type ? "; branch stacks need LBR, BRS or BRBE"
						   : "");
}

static int too_many_files(const char *name, struct err *err)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	return err_set(err, ERR_LIMIT,
		"opening '%s': %llu files are open and that is the limit: raise it ('ulimit -n'), or choose fewer threads "
		"(-t) or CPUs (-C)",
		name, (unsigned long long)limit.rlim_cur);
}

int refusal_explain(const struct event_attr *attr, const char *name, pid_t pid, int cpu, int sys,
	struct err *err)
{
	switch (sys) {
	case EACCES:
	case EPERM:
		return not_permitted(attr, name, pid, sys, err);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return not_there(attr, name, cpu, sys, err);
	case EINVAL:
		return invalid(attr, name, err);
	case ESRCH:
		return err_set(err, ERR_NOENT, "opening '%s': there is no process %d", name, pid);
	case ENOSYS:
		return err_set(err, ERR_UNSUPPORTED,
			"opening '%s': this kernel was built without CONFIG_PERF_EVENTS", name);
	case EBUSY:
		return err_set(err, ERR_SYS,
			"opening '%s': the PMU is in use by somebody who does not share it", name);
	case EMFILE:
		return too_many_files(name, err);
	default:
		return err_sys(err, sys, "opening '%s'", name);
	}
}
