#include "collect/open/refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "collect/counter/counter.h"
#include "event/abi.h"
#include "event/cpus.h"
#include "event/pmu.h"

#define CLOCKS_WORK "'cpu-clock', 'task-clock' and 'page-faults' work everywhere"
#define CHAINS_WORK "'--call-graph dwarf' finds callers on every machine"
#define OWN_WORK    "your own programs can be measured now, without -a and -C"

struct asked {
	const struct privilege *p;
	const struct event_attr *attr;
	pid_t pid;
	int cpu, sys;
	struct refusal *r;
};

static void say(struct refusal *r, int code, const char *fmt, ...) PRINTF(3, 4);
static void say(struct refusal *r, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
	r->code = code;
}

static void say_more(struct refusal *r, const char *text)
{
	size_t n = strlen(r->why);

	snprintf(r->why + n, sizeof(r->why) - n, "%s", text);
}

static bool is_hardware(const struct event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
		attr->type == PERF_TYPE_RAW;
}

/* Finds the event source with this type number in sysfs. */
static bool find_pmu(const struct asked *a, struct pmu *ret_pmu)
{
	struct intern names = {0};
	bool is_found = false;
	struct err err;
	char sys[300];

	if (a->attr->type <= PERF_TYPE_BREAKPOINT)
		return false;
	site_path(&a->p->site, sys, sizeof(sys), "/sys");
	pmu_list(sys, &names);
	vec_each(name, &names.strings) {
		if (pmu_open(ret_pmu, sys, *name, &err))
			continue;
		is_found = ret_pmu->type == a->attr->type;
		if (is_found)
			break;
		pmu_close(ret_pmu);
	}
	intern_fini(&names);
	return is_found;
}

/* ---- not permitted ---- */

/* Whether the event is a probe, and which privilege that needs. */
static bool is_probe(const struct asked *a, enum privilege_wish *ret_wish)
{
	struct pmu pmu;
	bool is_uprobe, is_kprobe;

	if (!find_pmu(a, &pmu))
		return false;
	is_uprobe = !strcmp(pmu.name, "uprobe");
	is_kprobe = !strcmp(pmu.name, "kprobe");
	pmu_close(&pmu);
	*ret_wish = is_uprobe ? PRIVILEGE_UPROBE : PRIVILEGE_KPROBE;
	return is_uprobe || is_kprobe;
}

/*
 * The first privilege that the process lacks, in the kernel's order of checks. Only the contents of
 * tracepoints come earlier: to users who may measure all processes, or tracepoints in their own
 * ones, they are what is refused next.
 */
static enum privilege_wish wish_of(const struct asked *a)
{
	bool is_tracepoint = a->attr->type == PERF_TYPE_TRACEPOINT;
	enum privilege_wish probe;

	if (is_probe(a, &probe))
		return probe;
	if (is_tracepoint && a->attr->sample_type & PERF_SAMPLE_RAW)
		return PRIVILEGE_TRACEPOINT;
	if (a->pid == -1)
		return PRIVILEGE_CPU;
	if (is_tracepoint)
		return PRIVILEGE_PASSES;
	return a->attr->flags & ATTR_EXCLUDE_KERNEL ? PRIVILEGE_USER : PRIVILEGE_KERNEL;
}

static void not_ours(const struct asked *a)
{
	char path[64], needs[300];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", a->pid);
	a->r->remedy = privilege_reason(a->p, PRIVILEGE_STRANGER, needs, sizeof(needs));
	if (!a->p->site.root && stat(path, &st) == 0 && st.st_uid == geteuid())
		say(a->r, ERR_PERM,
			"process %d is protected (started setuid, with capabilities, or in another user "
			"namespace); %s",
			a->pid, needs);
	else
		say(a->r, ERR_PERM, "process %d belongs to another user; %s", a->pid, needs);
}

/*
 * Whether our own events open although the level forbids that: levels above 2 mean something only
 * to some distributions' kernels.
 */
static bool is_own_open(const struct asked *a)
{
	struct event_attr own = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER0,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.flags = ATTR_DISABLED | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV};
	int fd = a->p->site.root ? -1 : perf_event_open(&own, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void not_permitted(const struct asked *a)
{
	const struct privilege *p = a->p;
	enum privilege_wish wish = wish_of(a);

	/*
	 * The kernel would allow it, and we have no special rights: then it is the process that is
	 * protected.
	 */
	if (a->pid > 0 && a->pid != getpid() && !p->has_perfmon &&
		(privilege_allows(p, wish) || (wish == PRIVILEGE_USER && is_own_open(a)))) {
		not_ours(a);
		return;
	}
	a->r->code = ERR_PERM;
	a->r->verdict = a->sys == EPERM ? "not permitted" : "access denied";
	a->r->remedy = privilege_reason(p, wish, a->r->why, sizeof(a->r->why));
	if (privilege_allows(p, wish))
		return;
	if (wish == PRIVILEGE_CPU && privilege_allows(p, PRIVILEGE_USER))
		a->r->instead = OWN_WORK;
	if (wish == PRIVILEGE_TRACEPOINT &&
		privilege_allows(p, a->pid == -1 ? PRIVILEGE_CPU : PRIVILEGE_PASSES))
		a->r->instead = "'pace stat' can count them now";
}

/* ---- not there ---- */

/* What works without hardware counters. */
static const char *without_hardware(const struct event_attr *attr)
{
	return attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK ? CHAINS_WORK : CLOCKS_WORK;
}

static void no_counter(const struct asked *a)
{
	struct site site = a->p->site;

	a->r->instead = without_hardware(a->attr);
	if (site_has_core_pmu(&site)) {
		say(a->r, ERR_UNSUPPORTED,
			"this machine has no such hardware counter (its CPUs have others)");
		a->r->remedy.kind = REMEDY_CLOCK;
		return;
	}
	site_read_machine(&site);
	if (site.is_virtual)
		say(a->r, ERR_UNSUPPORTED,
			"this machine has no such hardware counter (it is virtual%s%s, and has no PMU)",
			site.hypervisor ? ": " : "", site.hypervisor ? site.hypervisor->name : "");
	else
		say(a->r, ERR_UNSUPPORTED,
			"this machine has no such hardware counter (virtual machines often have none)");
	a->r->remedy.kind = site.is_virtual ? REMEDY_COUNTERS : REMEDY_CLOCK;
}

/* Whether the CPU does not exist or is offline; then the refusal says so. */
static bool is_missing_cpu(const struct asked *a)
{
	struct cpus online = {0};
	char path[512], line[4096];
	struct err ignored;
	bool is_missing;

	if (a->cpu < 0 ||
		!sysfile_line(site_path(&a->p->site, path, sizeof(path),
				      "/sys/devices/system/cpu/online"),
			line, sizeof(line)) ||
		cpus_parse(&online, line, &ignored))
		return false;
	is_missing = !cpus_has(&online, (u32)a->cpu);
	cpus_fini(&online);
	if (is_missing)
		say(a->r, ERR_NOENT, "CPU %d is not online (online are %s)", a->cpu, line);
	return is_missing;
}

static void not_there(const struct asked *a)
{
	if (a->sys == ENODEV && is_missing_cpu(a))
		return;
	if (a->sys == ENODEV && !is_hardware(a->attr) && a->cpu >= 0)
		say(a->r, ERR_NOENT, "CPU %d is not online", a->cpu);
	else if (is_hardware(a->attr))
		no_counter(a);
	else
		say(a->r, ERR_UNSUPPORTED, "this kernel does not have it");
}

static const char *needed_hardware(const struct event_attr *attr)
{
	return attr_precise(attr)          ? "; precise events (:p) need PEBS, IBS or SPE"
		: attr->branch_sample_type ? "; branch stacks need LBR, BRS or BRBE"
					   : NULL;
}

/* What this machine requires of breakpoints. Source: arch_build_bp_info() of Linux' x86 */
static const char *breakpoint_rule(const struct event_attr *attr)
{
	(void)attr;
#if defined(__x86_64__) || defined(__i386__)
	if (attr->bp_type == HW_BREAKPOINT_R)
		return "; breakpoints of x86 see writes (w), reads and writes (rw) or execution (x), not reads alone: write mem:ADDRESS:rw";
	if (attr->bp_type & HW_BREAKPOINT_X && attr->bp_type != HW_BREAKPOINT_X)
		return "; breakpoints of x86 see either execution (x) or accesses to data (w, rw)";
#endif
	return "; a breakpoint has 1, 2, 4 or 8 bytes and an address that is a multiple of that";
}

static void not_able(const struct asked *a)
{
	const char *needed = needed_hardware(a->attr);

	say(a->r, ERR_UNSUPPORTED, "this PMU cannot do it");
	if (needed)
		say_more(a->r, needed);
	else if (a->attr->type == PERF_TYPE_BREAKPOINT)
		say_more(a->r, breakpoint_rule(a->attr));
	else if (is_hardware(a->attr) && a->attr->sample_period)
		say_more(a->r,
			"; a PMU without interrupts, as in some virtual machines, counts but does not sample");
	if (is_hardware(a->attr) || a->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		a->r->instead = without_hardware(a->attr);
}

/* ---- invalid ---- */

/* Whether `wanted` is above the limit that a sysctl sets. */
static bool exceeds(const struct asked *a, const char *name, u64 wanted, s64 *ret_limit)
{
	char path[512];

	return sysfile_s64(site_path(&a->p->site, path, sizeof(path), "/proc/sys/kernel/%s", name),
		       ret_limit) &&
		*ret_limit >= 0 && wanted > (u64)*ret_limit;
}

static bool is_of_whole_cpus(const struct asked *a)
{
	struct pmu pmu;
	char path[300];
	bool is_it;

	if (a->pid == -1 || !find_pmu(a, &pmu))
		return false;
	snprintf(path, sizeof(path), "%s/cpumask", pmu.dir);
	is_it = access(path, F_OK) == 0;
	if (is_it)
		say(a->r, ERR_UNSUPPORTED, "PMU '%s' counts whole CPUs, not single programs",
			pmu.name);
	pmu_close(&pmu);
	a->r->remedy.kind = is_it ? REMEDY_WHOLE_CPUS : REMEDY_NONE;
	return is_it;
}

static void invalid(const struct asked *a)
{
	const char *needed = needed_hardware(a->attr);
	s64 limit;

	if (a->pid == -1 && a->cpu == -1) {
		say(a->r, ERR_INVAL,
			"all processes (pid -1) on all CPUs (cpu -1) cannot be measured by one event: choose a CPU");
		return;
	}
	if (a->attr->flags & ATTR_FREQ &&
		exceeds(a, "perf_event_max_sample_rate", a->attr->sample_period, &limit)) {
		say(a->r, ERR_LIMIT,
			"%llu samples a second were requested, but perf_event_max_sample_rate is %lld",
			(unsigned long long)a->attr->sample_period, (long long)limit);
		a->r->remedy = (struct remedy){REMEDY_RATE, .value = a->attr->sample_period};
		return;
	}
	if (is_missing_cpu(a) || is_of_whole_cpus(a))
		return;
	if (attr_is_topdown(a->attr)) {
		say(a->r, ERR_UNSUPPORTED, "%s",
			a->attr->sample_period
				? "a TopDown metric is a share of slots and cannot sample: let an event sample for it, as in '{slots,cycles,topdown-retiring}:S'"
				: "a TopDown metric is a share of slots: the kernel counts it in groups that slots lead, as in '{slots,topdown-retiring}'");
		return;
	}
	say(a->r, ERR_UNSUPPORTED, "the kernel finds the combination invalid (EINVAL)");
	if (needed && a->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		a->r->instead = CHAINS_WORK;
	if (needed)
		say_more(a->r, needed);
	else if (a->attr->type == PERF_TYPE_BREAKPOINT)
		say_more(a->r, breakpoint_rule(a->attr));
	else if (a->attr->type > PERF_TYPE_BREAKPOINT && a->attr->sample_period)
		say_more(a->r, "; most PMUs other than the cores' can only count");
}

/* ---- limits ---- */

static void too_many_files(const struct asked *a)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	say(a->r, ERR_LIMIT,
		"%llu files are open, which is the limit: raise it ('ulimit -n'), or choose fewer threads "
		"(-t) or CPUs (-C)",
		(unsigned long long)limit.rlim_cur);
}

static void no_room(const struct asked *a)
{
	if (a->attr->type != PERF_TYPE_BREAKPOINT)
		say(a->r, ERR_LIMIT, "the PMU has no room for it beside the events it has");
	else
#if defined(__x86_64__) || defined(__i386__)
		say(a->r, ERR_LIMIT,
			"all 4 hardware breakpoints are taken, by other events or a debugger");
#else
		say(a->r, ERR_LIMIT,
			"all hardware breakpoints are taken, by other events or a debugger");
#endif
}

static void too_deep(const struct asked *a)
{
	s64 limit = 0;

	exceeds(a, "perf_event_max_stack", a->attr->sample_max_stack, &limit);
	say(a->r, ERR_LIMIT, "call chains of %u were requested, but perf_event_max_stack is %lld",
		a->attr->sample_max_stack, (long long)limit);
	a->r->remedy = (struct remedy){REMEDY_STACK, .value = a->attr->sample_max_stack};
}

static void not_implemented(const struct asked *a)
{
	const struct privilege *p = a->p;

	if (!p->has_perf_events) {
		/*
		 * Without /proc, this errno means that the kernel lacks the system call. A copy
		 * tells less.
		 */
		a->r->code = ERR_UNSUPPORTED;
		if (p->site.root) {
			a->r->remedy =
				privilege_reason(p, PRIVILEGE_USER, a->r->why, sizeof(a->r->why));
			return;
		}
		say(a->r, ERR_UNSUPPORTED, "this kernel was built without CONFIG_PERF_EVENTS");
		a->r->remedy.kind = REMEDY_KERNEL;
	} else if (a->attr->sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER)) {
		say(a->r, ERR_UNSUPPORTED,
			"this kernel cannot copy registers and stacks (CONFIG_HAVE_PERF_REGS, "
			"CONFIG_HAVE_PERF_USER_STACK_DUMP)");
		a->r->instead = "'--call-graph fp' works";
	} else {
		say(a->r, ERR_PERM,
			"the kernel has perf events, but a seccomp filter (%s) hides perf_event_open(2)",
			p->site.container ? p->site.container->name : "containers have one");
		a->r->remedy.kind = REMEDY_CONTAINER;
	}
}

void refusal_find(const struct privilege *p, const struct event_attr *attr, pid_t pid, int cpu,
	int sys, struct refusal *ret)
{
	struct asked a = {p, attr, pid, cpu, sys, ret};

	memset(ret, 0, sizeof(*ret));
	switch (sys) {
	case EACCES:
	case EPERM:
		not_permitted(&a);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		not_there(&a);
		break;
	case EOPNOTSUPP:
		not_able(&a);
		break;
	case EINVAL:
		invalid(&a);
		break;
	case ESRCH:
		say(ret, ERR_NOENT, "there is no process %d", pid);
		break;
	case ENOSYS:
		not_implemented(&a);
		break;
	case EBUSY:
		say(ret, ERR_SYS, "the PMU is in use by a program that does not share it");
		break;
	case EMFILE:
		too_many_files(&a);
		break;
	case ENOSPC:
		no_room(&a);
		break;
	case E2BIG:
		say(ret, ERR_UNSUPPORTED,
			"this kernel is too old for it: it does not know attrs of %u bytes",
			attr->size);
		break;
	case EOVERFLOW:
		too_deep(&a);
		break;
	case EINTR:
		say(ret, ERR_SYS, "ftrace uses the same probe already");
		break;
	default:
		say(ret, ERR_SYS, "%s", strerror(sys));
	}
}

/* Whether the doctor knows more than fits into one sentence. */
static bool doctor_helps(const struct refusal *r)
{
	return r->code == ERR_PERM || r->remedy.kind == REMEDY_COUNTERS ||
		r->remedy.kind == REMEDY_CLOCK || r->remedy.kind == REMEDY_KERNEL;
}

int refusal_explain(const struct event_attr *attr, const char *name, pid_t pid, int cpu, int sys,
	struct err *err)
{
	struct str text = {0};
	struct privilege p;
	struct refusal r;

	privilege_read(&p);
	refusal_find(&p, attr, pid, cpu, sys, &r);
	if (r.verdict)
		str_addf(&text, "%s: ", r.verdict);
	str_add(&text, r.why);
	/* What works now comes before what a host's owner would have to set up. */
	if (r.remedy.kind != REMEDY_COUNTERS && r.remedy.kind != REMEDY_CLOCK)
		remedy_add_ending(&r.remedy, &p.site, &text);
	if (r.instead)
		str_addf(&text, "; %s", r.instead);
	if (doctor_helps(&r))
		str_add(&text, "; 'pace doctor' says more");
	err_set(err, r.code, "opening '%s': %s", name, str_text(&text));
	err->sys = sys;
	str_fini(&text);
	return err->code;
}
