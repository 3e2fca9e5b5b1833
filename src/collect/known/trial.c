#include "collect/known/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sysfile.h"
#include "collect/counter/counter.h"
#include "collect/open/refusal.h"
#include "collect/open/rules.h"
#include "event/abi.h"
#include "event/pmu.h"
#include "event/tracefs.h"

enum { RING_KB = 512, SOME_HZ = 1000, GROUP_MAX = 32, KALLSYMS_PART = 1 << 16 };

struct trier {
	const struct privilege *p;
	struct trial *trials; /* all, in their order */
	struct trial *now;
};

static bool is_copy(const struct trier *t)
{
	return t->p->site.root;
}

static bool refuse(struct trier *t, const struct remedy *remedy, const char *fmt, ...) PRINTF(3, 4);
static bool refuse(struct trier *t, const struct remedy *remedy, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->now->why, sizeof(t->now->why), fmt, ap);
	va_end(ap);
	t->now->remedy = *remedy;
	return false;
}

/* Refuses a wish for the same cause as an earlier one. */
static bool refuse_as(struct trier *t, enum trial_wish earlier)
{
	return refuse(t, &t->trials[earlier].remedy, "%s", t->trials[earlier].why);
}

/*
 * Opens an event; if it is refused, the trial gets the cause. The caller closes *ret_fd, which is
 * -1 if nothing was opened.
 */
static bool open_at(struct trier *t, struct event_attr *attr, pid_t pid, int cpu, int *ret_fd)
{
	struct refusal refusal;
	int sys = 0;

	attr->size = MAX(attr_needed_size(attr), (u32)ATTR_SIZE_VER5);
	attr->flags |= ATTR_DISABLED;
	*ret_fd = -1;
	if (is_copy(t)) {
		sys = rules_answer(t->p, attr, pid);
	} else {
		*ret_fd = perf_event_open(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		sys = *ret_fd < 0 ? errno : 0;
	}
	if (!sys)
		return true;
	refusal_find(t->p, attr, pid, cpu, sys, &refusal);
	return refuse(t, &refusal.remedy, "%s", refusal.why);
}

static bool opens(struct trier *t, struct event_attr *attr, pid_t pid, int cpu)
{
	int fd;
	bool r = open_at(t, attr, pid, cpu, &fd);

	if (fd >= 0)
		close(fd);
	return r;
}

/* Opens an event on this thread, wherever it runs. */
static bool opens_own(struct trier *t, struct event_attr *attr)
{
	return opens(t, attr, 0, -1);
}

static struct event_attr user_clock(void)
{
	return (struct event_attr){.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV};
}

static struct event_attr user_cycles(void)
{
	return (struct event_attr){.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV};
}

/* ---- the user's own programs ---- */

static bool count_own(struct trier *t)
{
	struct event_attr attr = user_clock();

	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	return opens_own(t, &attr);
}

static bool map_ring(struct trier *t, int fd)
{
	size_t page = sysconf(_SC_PAGESIZE), size = (RING_KB << 10) + page;
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int sys = errno;
	s64 limit = 0;

	if (map != MAP_FAILED) {
		munmap(map, size);
		return true;
	}
	sysfile_s64("/proc/sys/kernel/perf_event_mlock_kb", &limit);
	if (sys == EPERM)
		return refuse(t, &(struct remedy){REMEDY_LOCKED_MEMORY, .value = RING_KB + 4},
			"a ring of %d KiB cannot be pinned: perf_event_mlock_kb is %lld", RING_KB,
			(long long)limit);
	return refuse(t, &(struct remedy){REMEDY_NONE}, "mapping a ring of %d KiB: %s", RING_KB,
		strerror(sys));
}

static bool sample_own(struct trier *t)
{
	struct event_attr attr = user_clock();
	bool r;
	int fd;

	attr.flags |= ATTR_FREQ;
	attr.sample_period = SOME_HZ;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	if (!open_at(t, &attr, 0, -1, &fd))
		return false;
	r = fd < 0 || map_ring(t, fd);
	if (fd >= 0)
		close(fd);
	return r;
}

static bool copy_stacks(struct trier *t)
{
	struct event_attr attr = user_clock();

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 8192;
	/* The stack pointer's bit in linux/perf_regs.h, where it is known. */
#if defined(__aarch64__)
	attr.sample_regs_user = 1ULL << 31;
#elif defined(__x86_64__) || defined(__i386__)
	attr.sample_regs_user = 1ULL << 7;
#else
	attr.sample_regs_user = 1;
#endif
	return opens_own(t, &attr);
}

static bool measure_kernel(struct trier *t)
{
	struct event_attr attr = user_clock();

	attr.flags = 0;
	return opens_own(t, &attr);
}

/* Hidden addresses are all zero: a single other one proves that they are shown. */
static bool shows_addresses(void)
{
	char *text = mem_alloc(KALLSYMS_PART + 1);
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	bool is_seen = false;
	ssize_t n = 0;
	size_t have = 0;

	while (fd >= 0 && have < KALLSYMS_PART &&
		(n = fd_read(fd, text + have, KALLSYMS_PART - have)) > 0)
		have += n;
	text[have] = '\0';
	for (const char *line = text; *line && !is_seen; line += strcspn(line, "\n"))
		is_seen = strtoull(line += *line == '\n', NULL, 16) != 0;
	if (fd >= 0)
		close(fd);
	mem_free(text);
	return is_seen;
}

static bool name_kernel(struct trier *t)
{
	struct remedy remedy;
	char why[256];

	if (is_copy(t) ? t->p->has_proc && privilege_shows_kernel(t->p) : shows_addresses())
		return true;
	if (!is_copy(t) && t->p->has_proc && access("/proc/kallsyms", R_OK))
		return refuse(t, &(struct remedy){REMEDY_KERNEL},
			"/proc/kallsyms cannot be read: %s", strerror(errno));
	remedy = privilege_reason_hidden(t->p, why, sizeof(why));
	return refuse(t, &remedy, "kernel addresses are hidden: %s", why);
}

/* ---- hardware ---- */

/* How many counters a group may have. The kernel checks that when members are opened. */
static unsigned count_counters(void)
{
	struct event_attr attr = user_cycles();
	int fds[GROUP_MAX];
	unsigned n = 0;

	attr.size = ATTR_SIZE_VER5;
	attr.flags |= ATTR_DISABLED;
	/* PMUs have no fixed counter for branch misses, as most have for cycles. */
	attr.config = PERF_COUNT_HW_BRANCH_MISSES;
	while (n < GROUP_MAX &&
		(fds[n] = perf_event_open(&attr, 0, -1, n ? fds[0] : -1, PERF_FLAG_FD_CLOEXEC)) >=
			0)
		n++;
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	return n;
}

static bool count_hardware(struct trier *t)
{
	struct event_attr attr = user_cycles();
	unsigned n;

	if (!opens_own(t, &attr))
		return false;
	n = is_copy(t) ? 0 : count_counters();
	if (n > 0 && n < GROUP_MAX)
		snprintf(t->now->detail, sizeof(t->now->detail), "%u general counters at a time",
			n);
	return true;
}

static bool sample_hardware(struct trier *t)
{
	struct event_attr attr = user_cycles();

	if (!t->trials[TRIAL_HARDWARE].works)
		return refuse_as(t, TRIAL_HARDWARE);
	attr.flags |= ATTR_FREQ;
	attr.sample_period = SOME_HZ;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	return opens_own(t, &attr);
}

/* ARM's PMUs accept any precision, but never mark a sample as exact. */
#if defined(__aarch64__)
enum { PMU_IGNORES_PRECISION = true };
#else
enum { PMU_IGNORES_PRECISION = false };
#endif

static bool sample_precisely(struct trier *t)
{
	if (!t->trials[TRIAL_HARDWARE].works)
		return refuse_as(t, TRIAL_HARDWARE);
	if (PMU_IGNORES_PRECISION && !is_copy(t))
		return refuse(t, &(struct remedy){REMEDY_NONE},
			"the PMU accepts :p and ignores it: no sample is marked as exact (SPE has exact samples: 'pace mem record')");
	for (unsigned level = 3; level; level--) {
		struct event_attr attr = user_cycles();

		attr.sample_period = 1000003;
		attr.sample_type = PERF_SAMPLE_IP;
		attr_set_precise(&attr, level);
		if (!opens_own(t, &attr))
			continue;
		snprintf(t->now->detail, sizeof(t->now->detail), "cycles:%.*s", (int)level, "ppp");
		return true;
	}
	return false;
}

static bool record_branches(struct trier *t)
{
	struct event_attr attr = user_cycles();

	if (!t->trials[TRIAL_HARDWARE].works)
		return refuse_as(t, TRIAL_HARDWARE);
	attr.sample_period = 1000003;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	return opens_own(t, &attr);
}

#if defined(__aarch64__)
#define USER_READS_FILE "/proc/sys/kernel/perf_user_access"
#else
#define USER_READS_FILE "/sys/bus/event_source/devices/cpu/rdpmc"
#endif

/* Whether the ring's first page allows reading the counter without a system call. */
static bool page_allows_reads(int fd)
{
	enum { CAP_USER_RDPMC = 1 << 2 };
	size_t size = sysconf(_SC_PAGESIZE);
	struct ring_page *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	bool r;

	if (page == MAP_FAILED)
		return false;
	r = page->capabilities & CAP_USER_RDPMC;
	munmap(page, size);
	return r;
}

static bool read_in_user_space(struct trier *t)
{
	struct event_attr attr = user_cycles();
	char path[512];
	s64 setting = -1;
	bool r;
	int fd;

	if (!t->trials[TRIAL_HARDWARE].works)
		return refuse_as(t, TRIAL_HARDWARE);
#if defined(__aarch64__)
	attr.config1 = 3;
#endif
	if (!open_at(t, &attr, 0, -1, &fd))
		return false;
	sysfile_s64(site_path(&t->p->site, path, sizeof(path), USER_READS_FILE), &setting);
	/* arm64 sets the page's bit even while the setting forbids the reads. */
	r = is_copy(t) ? setting > 0 : setting != 0 && page_allows_reads(fd);
	if (fd >= 0)
		close(fd);
	if (r)
		return true;
	return refuse(t, &(struct remedy){setting == 0 ? REMEDY_USER_READS : REMEDY_NONE},
		setting < 0 ? "the kernel offers no such reads ('%s' is missing)"
			    : "'%s' is %lld and the kernel does not let us",
		USER_READS_FILE, (long long)setting);
}

static bool watch_memory(struct trier *t)
{
	static u64 watched;
	struct event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
		.bp_type = 2, /* HW_BREAKPOINT_W */
		.config1 = (uintptr_t)&watched,
		.config2 = 4,
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV};

	return opens_own(t, &attr);
}

/* ---- others ---- */

static bool measure_all(struct trier *t)
{
	struct event_attr attr = user_clock();

	attr.flags = 0;
	return opens(t, &attr, -1, 0);
}

static bool measure_stranger(struct trier *t)
{
	struct event_attr attr = user_clock();
	struct stat st;

	if (!is_copy(t) && (stat("/proc/1", &st) || st.st_uid == geteuid())) {
		/* Process 1 is ours, or hidden: then the rule decides about others. */
		if (t->p->has_perfmon || t->p->has_ptrace)
			return true;
		t->now->remedy = privilege_reason(t->p, PRIVILEGE_STRANGER, t->now->why,
			sizeof(t->now->why));
		return false;
	}
	if (opens(t, &attr, 1, -1))
		return true;
	if (t->now->remedy.kind == REMEDY_CAPABILITIES)
		t->now->remedy = privilege_reason(t->p, PRIVILEGE_STRANGER, t->now->why,
			sizeof(t->now->why));
	return false;
}

/* ---- tracepoints and probes ---- */

/* Finds the id of a tracepoint that all kernels with tracepoints have. */
static int find_tracepoint(struct trier *t, u64 *ret_id, struct err *err)
{
	enum { CAP_DAC_READ_SEARCH = 2, CAP_DAC_OVERRIDE = 1 };
	char path[512];

	if (!is_copy(t))
		return tracefs_id(NULL, "sched", "sched_switch", ret_id, err);
	*ret_id = 1;
	site_path(&t->p->site, path, sizeof(path), "/sys/kernel/tracing/events");
	if (access(path, F_OK))
		return err_set(err, ERR_NOENT, "tracefs is not mounted");
	/* A copy does not show who owned the files: by default root. */
	if (!(t->p->capabilities >> CAP_DAC_READ_SEARCH & 1) &&
		!(t->p->capabilities >> CAP_DAC_OVERRIDE & 1))
		return err_set(err, ERR_PERM, "tracefs belongs to root");
	return 0;
}

static bool open_tracepoint(struct trier *t, bool has_contents)
{
	enum privilege_wish wish = has_contents ? PRIVILEGE_TRACEPOINT : PRIVILEGE_PASSES;
	struct event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
		.sample_period = 1,
		.sample_type = has_contents ? PERF_SAMPLE_RAW : 0};
	struct remedy remedy = {.value = has_contents ? -1 : 1};
	bool is_allowed = privilege_allows(t->p, wish);
	char level[200] = "";
	struct err err;
	int r = find_tracepoint(t, &attr.config, &err);

	/* Without perf events, tracefs does not matter. */
	if (!r || !t->p->has_perf_events)
		return opens_own(t, &attr);
	if (r == ERR_NOENT) {
		remedy.kind = REMEDY_MOUNT_TRACEFS;
		return refuse(t, &remedy,
			"tracefs, which has the ids of tracepoints, is not mounted");
	}
	if (r != ERR_PERM)
		return refuse(t, &remedy, "%s", err.msg);
	remedy.kind = is_allowed ? REMEDY_OPEN_TRACEFS : REMEDY_OPEN_TRACEPOINTS;
	if (!is_allowed)
		privilege_reason(t->p, wish, level, sizeof(level));
	return refuse(t, &remedy, "/sys/kernel/tracing is open to root only%s%s",
		is_allowed ? "" : "; ", level);
}

static bool count_passes(struct trier *t)
{
	return open_tracepoint(t, false);
}

static bool read_tracepoints(struct trier *t)
{
	return open_tracepoint(t, true);
}

/* The function to be probed. Nothing calls it while the probe is there. */
__attribute__((noinline)) static void probed(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Finds the file offset of a function of this program. */
static bool place_in_file(const void *at, char path[static 256], u64 *ret_offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long start, end, offset;
	bool is_found = false;
	char line[1024];

	while (maps && !is_found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %255s", &start, &end, &offset, path) !=
			4)
			continue;
		is_found = (uintptr_t)at >= start && (uintptr_t)at < end;
	}
	if (maps)
		fclose(maps);
	if (is_found)
		*ret_offset = (uintptr_t)at - start + offset;
	return is_found;
}

static bool put_probe(struct trier *t)
{
	struct event_attr attr = {0};
	char path[256], sys[512];
	struct pmu pmu;
	struct err err;

	site_path(&t->p->site, sys, sizeof(sys), "/sys");
	if (pmu_open(&pmu, sys, "uprobe", &err))
		return refuse(t, &(struct remedy){REMEDY_KERNEL},
			"this kernel has no PMU 'uprobe' (CONFIG_UPROBE_EVENTS, Linux 4.17)");
	attr.type = pmu.type;
	pmu_close(&pmu);
	if (!is_copy(t)) {
		if (!t->p->has_proc)
			return refuse(t, &(struct remedy){REMEDY_MOUNT_PROC},
				"/proc is not mounted");
		if (!place_in_file((const void *)(uintptr_t)probed, path, &attr.config2))
			return refuse(t, &(struct remedy){REMEDY_NONE},
				"/proc/self/maps does not show where this program is");
		attr.config1 = (uintptr_t)path;
	}
	return opens_own(t, &attr);
}

/* clang-format off: one row for each wish */
static const struct {
	const char *key, *what;
	bool (*works)(struct trier *t);
} wishes[] = {
	[TRIAL_COUNT_OWN] = {"count_own", "count events of your own programs", count_own},
	[TRIAL_SAMPLE_OWN] = {"sample_own", "sample your own programs, by the clock", sample_own},
	[TRIAL_STACKS] = {"call_graph_dwarf", "call graphs by debug information (dwarf)",
		copy_stacks},
	[TRIAL_KERNEL] = {"kernel", "the kernel's side of your own programs", measure_kernel},
	[TRIAL_KERNEL_NAMES] = {"kernel_names", "the kernel's functions by name", name_kernel},
	[TRIAL_HARDWARE] = {"hardware", "hardware counters: cycles, instructions, misses",
		count_hardware},
	[TRIAL_HARDWARE_SAMPLES] = {"hardware_samples", "sample by cycles", sample_hardware},
	[TRIAL_ALL] = {"all_processes", "all processes (-a, -C)", measure_all},
	[TRIAL_STRANGER] = {"other_users", "processes of other users (-p)", measure_stranger},
	[TRIAL_PASSES] = {"tracepoint_counts", "count tracepoints in your own programs",
		count_passes},
	[TRIAL_TRACEPOINT] = {"tracepoints", "record tracepoints with their contents",
		read_tracepoints},
	[TRIAL_PROBE] = {"probes", "probes in programs (uprobes)", put_probe},
	[TRIAL_BREAKPOINT] = {"breakpoints", "watch memory (mem: breakpoints)", watch_memory},
	[TRIAL_PRECISE] = {"precise", "samples without skid (:p)", sample_precisely},
	[TRIAL_BRANCHES] = {"branches", "branch stacks (-b)", record_branches},
	[TRIAL_USER_READS] = {"user_reads", "read counters without a system call (rdpmc)",
		read_in_user_space},
};
/* clang-format on */

void trial_all(const struct privilege *p, struct trial trials[TRIAL_COUNT])
{
	struct trier t = {.p = p, .trials = trials};

	for (size_t i = 0; i < TRIAL_COUNT; i++) {
		struct trial *now = t.now = &trials[i];

		*now = (struct trial){.key = wishes[i].key, .what = wishes[i].what};
		now->works = wishes[i].works(&t);
		if (now->works) {
			now->why[0] = '\0';
			now->remedy = (struct remedy){0};
		}
	}
}
