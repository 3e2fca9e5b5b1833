#include "collect/known/checkup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "collect/known/slotsite.h"
#include "collect/open/sampling.h"
#include "event/cpus.h"
#include "event/pmu.h"
#include "event/tracefs.h"
#include "event/tsx.h"

enum { TEXT_MAX = 1024, NO_VALUE = -1000 };

struct examiner {
	struct checkup *c;
	const struct site *site;
	struct finding *now;
};

static const char *path_of(const struct examiner *x, const char *path)
{
	static __thread char full[512];

	return site_path(x->site, full, sizeof(full), "%s", path);
}

static bool exists(const struct examiner *x, const char *path)
{
	return access(path_of(x, path), F_OK) == 0;
}

static bool line_of(const struct examiner *x, const char *path, char *buf, size_t size)
{
	buf[0] = '\0';
	return sysfile_line(path_of(x, path), buf, size);
}

static void say(struct examiner *x, const char *fmt, ...) PRINTF(2, 3);
static void say(struct examiner *x, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	x->now->text = arena_strdup(&x->c->arena, text, strlen(text));
}

static void limits_us(struct examiner *x, enum remedy_kind kind, s64 value)
{
	x->now->state = FINDING_LIMITS_US;
	x->now->remedy = (struct remedy){kind, .value = value};
}

/* Reads a setting into the finding. False: there is none, and the finding says so. */
static bool take_value(struct examiner *x, const char *path)
{
	x->now->has_value = sysfile_s64(path_of(x, path), &x->now->value);
	if (x->now->has_value)
		return true;
	x->now->state = FINDING_UNKNOWN;
	say(x, "unknown: %s cannot be read", strrchr(path, '/') + 1);
	return false;
}

/* ---- this machine ---- */

static void see_kernel(struct examiner *x)
{
	say(x, "%s, %s, %u CPU%s", x->c->release, x->c->arch, x->c->n_cpus,
		x->c->n_cpus == 1 ? "" : "s");
}

static void see_machine(struct examiner *x)
{
	const struct site *s = x->site;
	bool has_pmu = site_has_core_pmu(s),
	     is_fragile = s->hypervisor && s->hypervisor->is_fragile;
	const char *model = s->model[0] ? s->model : "unknown hypervisor";

	if (!s->is_virtual) {
		say(x, "no sign of a virtual machine%s%s%s", s->model[0] ? " (" : "", s->model,
			s->model[0] ? ")" : "");
		return;
	}
	say(x, "virtual: %s%s", s->hypervisor ? s->hypervisor->name : model,
		!has_pmu             ? "; no PMU, so sampling is by the clock"
			: is_fragile ? ", with a PMU; sampling with it has reset guests"
				     : ", with a PMU");
	if (!has_pmu || is_fragile)
		limits_us(x, REMEDY_COUNTERS, 0);
}

static void see_container(struct examiner *x)
{
	const struct site *s = x->site;

	say(x, "%s%s", s->container ? s->container->name : "none",
		s->in_user_namespace ? "; a user namespace, whose capabilities do not count" : "");
}

static void see_pmus(struct examiner *x)
{
	struct intern names = {0};
	struct str text = {0};
	char sys[512], model[64];

	snprintf(sys, sizeof(sys), "%s", path_of(x, "/sys"));
	pmu_list(sys, &names);
	line_of(x, "/sys/bus/event_source/devices/cpu/caps/pmu_name", model, sizeof(model));
	vec_each(name, &names.strings) {
		str_addf(&text, "%s%s", text.n ? " " : "", *name);
		if (model[0] && !strcmp(*name, "cpu"))
			str_addf(&text, " (%s)", model);
	}
	if (!site_has_core_pmu(x->site))
		str_addf(&text, "%sno core PMU", text.n ? "; " : "");
	say(x, "%s", str_text(&text));
	if (!names.strings.n) {
		x->now->state = FINDING_UNKNOWN;
		say(x, "none in /sys/bus/event_source/devices");
	}
	str_fini(&text);
	intern_fini(&names);
}

static void see_topdown(struct examiner *x)
{
	struct tma_plan plan;
	struct str text = {0};
	char sys[512];
	struct err err;

	snprintf(sys, sizeof(sys), "%s", path_of(x, "/sys"));
	if (tma_plan_open(&plan, sys, &err)) {
		x->now->state = FINDING_LIMITS_US;
		say(x, "none: %s", err.msg);
		return;
	}
	slotsite_add_text(&plan, &text);
	say(x, "%s", str_text(&text));
	str_fini(&text);
	tma_plan_close(&plan);
}

/* A CPU that never had transactions lacks nothing. */
static void see_transactions(struct examiner *x)
{
	char sys[512], cpuinfo[8192];
	enum tsx_state state;

	snprintf(sys, sizeof(sys), "%s", path_of(x, "/sys"));
	if (!sysfile_start(path_of(x, "/proc/cpuinfo"), cpuinfo, sizeof(cpuinfo))) {
		x->now->state = FINDING_UNKNOWN;
		say(x, "unknown: cpuinfo cannot be read");
		return;
	}
	state = tsx_state_of(sys, cpuinfo);
	if (state != TSX_COUNTED && state != TSX_MISSING)
		x->now->state = FINDING_LIMITS_US;
	say(x, "%s", state == TSX_COUNTED ? "counted: 'pace tsx' shows them" : tsx_reason(state));
}

static void see_watchdog(struct examiner *x)
{
	if (!exists(x, "/proc/sys/kernel/nmi_watchdog")) {
		say(x, "this kernel has none");
		return;
	}
	if (!take_value(x, "/proc/sys/kernel/nmi_watchdog"))
		return;
	if (!x->now->value) {
		say(x, "0: off, no counter is taken");
		return;
	}
	say(x, "%lld: on, it takes one hardware counter for itself", (long long)x->now->value);
	if (site_has_core_pmu(x->site))
		limits_us(x, REMEDY_WATCHDOG, 0);
}

static void see_user_reads(struct examiner *x)
{
	static const char *const meanings[] = {"never", "by programs that opened the event",
		"by every program"};
	static const char *const places[] = {"/sys/bus/event_source/devices/cpu/rdpmc",
		"/sys/devices/cpu/rdpmc", "/proc/sys/kernel/perf_user_access"};
	const char *place = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(places) && !place; i++)
		place = exists(x, places[i]) ? places[i] : NULL;
	if (!place) {
		say(x, "none: no core PMU offers them");
		return;
	}
	if (!take_value(x, place))
		return;
	say(x, "%s is %lld: %s", strrchr(place, '/') + 1, (long long)x->now->value,
		meanings[MIN(MAX(x->now->value, 0), 2)]);
	if (x->now->value == 0)
		limits_us(x, REMEDY_USER_READS, 1);
}

/* ---- rights ---- */

static void see_paranoid(struct examiner *x)
{
	const struct privilege *p = &x->c->privilege;
	char why[512];

	if (!p->has_perf_events) {
		struct remedy remedy = privilege_reason(p, PRIVILEGE_USER, why, sizeof(why));

		say(x, "%s", why);
		limits_us(x, remedy.kind, remedy.value);
		return;
	}
	x->now->has_value = true;
	x->now->value = p->paranoid;
	say(x, "%lld: %s", (long long)p->paranoid, privilege_level_text(p->paranoid));
	if (!privilege_allows(p, PRIVILEGE_KERNEL))
		x->now->state = FINDING_LIMITS_US;
}

/* Whether pace's file carries capabilities (setcap) that this process did not get. */
static bool has_idle_file_capabilities(const struct examiner *x)
{
	u32 data[5]; /* struct vfs_cap_data: magic, then permitted and inheritable, low and high */
	ssize_t n;
	u64 permitted;

	if (x->site->root)
		return false;
	n = getxattr("/proc/self/exe", "security.capability", data, sizeof(data));
	if (n < 12)
		return false;
	permitted = data[1] | (n >= 20 ? (u64)data[3] << 32 : 0);
	return permitted & ~x->c->privilege.capabilities;
}

static void see_capabilities(struct examiner *x)
{
	const struct privilege *p = &x->c->privilege;
	struct str text = {0};

	privilege_add_capabilities(p, &text);
	if (!text.n)
		str_add(&text, "none that matters here");
	if (x->site->in_user_namespace)
		str_add(&text, " (of a user namespace)");
	if (has_idle_file_capabilities(x))
		str_add(&text,
			"; those of pace's file are not in effect (nosuid mount, no_new_privs)");
	say(x, "%s", str_text(&text));
	str_fini(&text);
}

static void see_kptr(struct examiner *x)
{
	static const char *const meanings[] = {"kernel addresses follow perf_event_paranoid",
		"kernel addresses are shown to CAP_SYSLOG only",
		"kernel addresses are hidden from all"};
	const struct privilege *p = &x->c->privilege;

	if (!take_value(x, "/proc/sys/kernel/kptr_restrict"))
		return;
	say(x, "%lld: %s", (long long)x->now->value, meanings[MIN(MAX(x->now->value, 0), 2)]);
	if (!privilege_shows_kernel(p)) {
		char why[256];

		x->now->state = FINDING_LIMITS_US;
		x->now->remedy = privilege_reason_hidden(p, why, sizeof(why));
	}
}

static void see_rules(struct examiner *x)
{
	static const char *const seccomp[] = {"seccomp unknown", "seccomp off",
		"a seccomp filter is active"};
	const struct site *s = x->site;

	say(x, "%s; lockdown %s; LSMs: %s", seccomp[s->seccomp],
		s->lockdown[0] ? s->lockdown : "not known",
		s->modules[0] ? s->modules : "not listed");
	x->now->state = s->seccomp == SITE_SECCOMP_UNKNOWN ? FINDING_UNKNOWN : FINDING_FINE;
}

/* ---- limits ---- */

/* Reads both numbers of a line of /proc/self/limits; -1 means unlimited. */
static bool limit_of(const struct examiner *x, const char *name, s64 *ret_soft, s64 *ret_hard)
{
	struct str text = {0};
	const char *line;
	char soft[32], hard[32];
	struct err err;
	bool r = false;

	if (!sysfile_read(path_of(x, "/proc/self/limits"), 1 << 16, &text, &err)) {
		line = strstr(str_text(&text), name);
		r = line && sscanf(line + strlen(name), "%31s %31s", soft, hard) == 2;
	}
	if (r) {
		*ret_soft = soft[0] == 'u' ? -1 : strtoll(soft, NULL, 10);
		*ret_hard = hard[0] == 'u' ? -1 : strtoll(hard, NULL, 10);
	}
	str_fini(&text);
	return r;
}

/* The largest ring for each CPU that both limits together allow: a power of two, plus a page. */
static s64 largest_ring_kb(s64 per_cpu_kb, s64 locked_bytes, u32 n_cpus)
{
	s64 kb = per_cpu_kb + (locked_bytes >> 10) / MAX(n_cpus, 1u), ring = 4;

	while (ring * 2 + 4 <= kb)
		ring *= 2;
	return ring + 4 <= kb ? ring : 0;
}

static void see_locked_memory(struct examiner *x)
{
	const struct privilege *p = &x->c->privilege;
	s64 soft, hard, ring;

	if (!take_value(x, "/proc/sys/kernel/perf_event_mlock_kb"))
		return;
	/* perf_mmap() checks neither limit for CAP_IPC_LOCK, nor at level -1. */
	if (p->has_ipc_lock || p->paranoid < 0 || !limit_of(x, "Max locked memory", &soft, &hard) ||
		soft < 0) {
		say(x, "%lld KiB a CPU%s", (long long)x->now->value,
			p->has_ipc_lock           ? "; CAP_IPC_LOCK allows rings of any size"
				: p->paranoid < 0 ? "; level -1 allows rings of any size"
						  : "; ulimit -l does not limit");
		return;
	}
	ring = largest_ring_kb(x->now->value, soft, x->c->n_cpus);
	say(x, "%lld KiB a CPU and ulimit -l %lld: rings of %lld KiB", (long long)x->now->value,
		(long long)(soft >> 10), (long long)ring);
	if (ring < 512)
		limits_us(x, REMEDY_LOCKED_MEMORY, 516);
}

static void see_files(struct examiner *x)
{
	enum { RESERVED = 64, WANTED = 32 }; /* pace's own files; events on all CPUs */
	u32 n_cpus = MAX(x->c->n_cpus, 1u);
	s64 soft, hard, n;

	if (!limit_of(x, "Max open files", &soft, &hard)) {
		x->now->state = FINDING_UNKNOWN;
		say(x, "unknown: '/proc/self/limits' cannot be read");
		return;
	}
	x->now->has_value = true;
	x->now->value = hard;
	n = hard < 0 ? -1 : MAX(hard - RESERVED, 0) / n_cpus;
	if (n < 0)
		say(x, "ulimit -n %lld, can be raised without limit", (long long)soft);
	else
		say(x, "ulimit -n %lld (%lld): room for %lld event%s on %u CPU%s", (long long)soft,
			(long long)hard, (long long)n, n == 1 ? "" : "s", n_cpus,
			n_cpus == 1 ? "" : "s");
	if (n >= 0 && n < WANTED)
		limits_us(x, REMEDY_FILES, (s64)WANTED * n_cpus + RESERVED);
}

static void see_rate(struct examiner *x)
{
	s64 share = 0;

	if (!take_value(x, "/proc/sys/kernel/perf_event_max_sample_rate"))
		return;
	sysfile_s64(path_of(x, "/proc/sys/kernel/perf_cpu_time_max_percent"), &share);
	if (share > 0 && share < 100)
		say(x, "%lld Hz, less when that takes over %lld %% of a CPU",
			(long long)x->now->value, (long long)share);
	else
		say(x, "%lld Hz", (long long)x->now->value);
	if (x->now->value < SAMPLING_DEFAULT_HZ)
		limits_us(x, REMEDY_RATE, 100000);
}

static void see_stack(struct examiner *x)
{
	if (!take_value(x, "/proc/sys/kernel/perf_event_max_stack"))
		return;
	say(x, "%lld callers", (long long)x->now->value);
	if (x->now->value < 127)
		limits_us(x, REMEDY_STACK, 127);
}

/* ---- the kernel ---- */

/* clang-format off: one row for each option */
static const struct {
	const char *name, *gives;
} wanted_options[] = {
	{"CONFIG_HAVE_PERF_EVENTS", "perf events on this architecture"},
	{"CONFIG_PERF_EVENTS", "everything"},
	{"CONFIG_HAVE_PERF_EVENTS_NMI", "samples where interrupts are off"},
	{"CONFIG_HAVE_PERF_REGS", "call graphs by debug information"},
	{"CONFIG_HAVE_PERF_USER_STACK_DUMP", "call graphs by debug information"},
	{"CONFIG_UPROBE_EVENTS", "probes in programs"},
	{"CONFIG_KPROBE_EVENTS", "probes in the kernel"},
	{"CONFIG_FTRACE_SYSCALLS", "tracepoints of system calls"},
	{"CONFIG_BPF_EVENTS", "BPF programs on events"},
	{"CONFIG_SCHEDSTATS", "waiting times by cause"},
	{"CONFIG_KALLSYMS", "the kernel's functions by name"},
};
/* clang-format on */

static void see_config(struct examiner *x)
{
	struct checkup *c = x->c;
	struct str text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(wanted_options); i++) {
		struct checkup_option o = {wanted_options[i].name, wanted_options[i].gives,
			kconfig_state(&c->config, wanted_options[i].name)};

		c->options[c->n_options++] = o;
		if (o.state == KCONFIG_MISSING)
			str_addf(&text, "%s%s (%s)", text.n ? ", " : "without ", o.name, o.gives);
	}
	if (!c->config.path[0]) {
		x->now->state = FINDING_UNKNOWN;
		say(x, "unknown: no config found (/proc/config.gz, /boot/config-*)");
	} else if (text.n) {
		x->now->state = FINDING_LIMITS_US;
		say(x, "%s", str_text(&text));
	} else {
		say(x, "has everything pace uses (%s)", c->config.path);
	}
	str_fini(&text);
}

static void see_tracefs(struct examiner *x)
{
	const struct trial *t = &x->c->trials[TRIAL_PASSES];
	bool is_closed =
		t->remedy.kind == REMEDY_OPEN_TRACEFS || t->remedy.kind == REMEDY_OPEN_TRACEPOINTS;

	if (t->remedy.kind == REMEDY_MOUNT_TRACEFS) {
		say(x, "not mounted: the ids of tracepoints are unknown");
		limits_us(x, REMEDY_MOUNT_TRACEFS, 0);
		return;
	}
	if (is_closed) {
		say(x, "mounted, open to root only");
		limits_us(x, REMEDY_OPEN_TRACEFS, 0);
		return;
	}
	if (exists(x, "/sys/kernel/tracing/events/raw_syscalls") ||
		exists(x, "/sys/kernel/debug/tracing/events/raw_syscalls"))
		say(x, "mounted and readable");
	else
		say(x, "mounted and readable; no tracepoints of system calls (CONFIG_FTRACE_SYSCALLS)");
}

static void see_btf(struct examiner *x)
{
	bool has_btf = exists(x, "/sys/kernel/btf/vmlinux");

	say(x, has_btf ? "in /sys/kernel/btf/vmlinux" : "none (CONFIG_DEBUG_INFO_BTF)");
}

static void see_symbols(struct examiner *x)
{
	static const char *const places[] = {"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux", "/lib/modules/%s/build/vmlinux",
		"/boot/vmlinux-%s"};
	char path[300];
	bool has_names = x->c->trials[TRIAL_KERNEL_NAMES].works;

	x->now->state = has_names ? FINDING_FINE : FINDING_LIMITS_US;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], x->c->release);
		if (exists(x, path)) {
			say(x, "/proc/kallsyms %s; %s", has_names ? "shows addresses" : "is hidden",
				path);
			return;
		}
	}
	say(x, "/proc/kallsyms %s; no vmlinux", has_names ? "shows addresses" : "is hidden");
}

static void see_debuginfod(struct examiner *x)
{
	const char *urls = x->site->root ? NULL : getenv("DEBUGINFOD_URLS");

	if (x->site->root) {
		x->now->state = FINDING_UNKNOWN;
		say(x, "unknown: a copy has no environment");
	} else {
		say(x, "%s", urls && urls[0] ? urls : "DEBUGINFOD_URLS is not set");
	}
}

/* clang-format off: one row for each fact, by group, in the order of the page */
static const struct {
	enum finding_group group;
	const char *key, *label;
	void (*see)(struct examiner *x);
} facts[] = {
	{FINDING_MACHINE, "kernel", "kernel", see_kernel},
	{FINDING_MACHINE, "machine", "machine", see_machine},
	{FINDING_MACHINE, "container", "container", see_container},
	{FINDING_MACHINE, "pmus", "PMUs", see_pmus},
	{FINDING_MACHINE, "topdown", "TopDown", see_topdown},
	{FINDING_MACHINE, "transactions", "transactions", see_transactions},
	{FINDING_MACHINE, "nmi_watchdog", "NMI watchdog", see_watchdog},
	{FINDING_MACHINE, "user_reads", "user-space reads", see_user_reads},
	{FINDING_RIGHTS, "perf_event_paranoid", "perf_event_paranoid", see_paranoid},
	{FINDING_RIGHTS, "capabilities", "capabilities", see_capabilities},
	{FINDING_RIGHTS, "kptr_restrict", "kptr_restrict", see_kptr},
	{FINDING_RIGHTS, "rules", "other rules", see_rules},
	{FINDING_LIMITS, "locked_memory", "locked memory", see_locked_memory},
	{FINDING_LIMITS, "open_files", "open files", see_files},
	{FINDING_LIMITS, "sample_rate", "sample rate", see_rate},
	{FINDING_LIMITS, "stack_depth", "call chains", see_stack},
	{FINDING_KERNEL, "config", "built", see_config},
	{FINDING_KERNEL, "tracefs", "tracefs", see_tracefs},
	{FINDING_KERNEL, "symbols", "symbols", see_symbols},
	{FINDING_KERNEL, "btf", "BTF", see_btf},
	{FINDING_KERNEL, "debuginfod", "debuginfod", see_debuginfod},
};
/* clang-format on */

static void read_kernel(struct checkup *c)
{
	struct examiner x = {.c = c, .site = &c->privilege.site};
	struct cpus cpus = {0};
	struct utsname uts;
	char line[4096];
	struct err err;

	if (uname(&uts) == 0)
		snprintf(c->arch, sizeof(c->arch), "%.31s", uts.machine);
	if (!line_of(&x, "/proc/sys/kernel/osrelease", c->release, sizeof(c->release)))
		snprintf(c->release, sizeof(c->release), "%s",
			c->privilege.site.root ? "an unknown release" : uts.release);
	if (line_of(&x, "/proc/sys/kernel/arch", line, sizeof(line)))
		snprintf(c->arch, sizeof(c->arch), "%.31s", line);
	if (line_of(&x, "/sys/devices/system/cpu/online", line, sizeof(line)) &&
		!cpus_parse(&cpus, line, &err))
		c->n_cpus = cpus.n;
	cpus_fini(&cpus);
}

void checkup_run(struct checkup *c, const char *root)
{
	struct examiner x = {.c = c, .site = &c->privilege.site};

	memset(c, 0, sizeof(*c));
	privilege_read_at(&c->privilege, root);
	site_read_machine(&c->privilege.site);
	read_kernel(c);
	kconfig_read(&c->config, &c->privilege.site, c->release);
	trial_all(&c->privilege, c->trials);
	vec_reserve(&c->findings, ARRAY_SIZE(facts));
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		x.now = vec_push(&c->findings);
		*x.now = (struct finding){.key = facts[i].key,
			.label = facts[i].label,
			.group = facts[i].group};
		facts[i].see(&x);
	}
}

void checkup_fini(struct checkup *c)
{
	kconfig_fini(&c->config);
	vec_fini(&c->findings);
	arena_fini(&c->arena);
}

bool checkup_is_fit(const struct checkup *c)
{
	return c->trials[TRIAL_COUNT_OWN].works && c->trials[TRIAL_SAMPLE_OWN].works;
}
