#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/open/counting.h"
#include "collect/run/deeper.h"
#include "collect/open/open.h"
#include "collect/around/privilege.h"
#include "event/abi.h"
#include "event/cgroup.h"
#include "unit/said.h"

/*
 * The ladder against kernels that these tests make up: the executable defines perf_event_open(2)
 * itself, and the ioctl that asks for ids, so every refusal of every kernel can be had on any
 * machine.
 */

enum { CALLS_MAX = 4096, THREADS_GONE_MAX = 4 };

struct call {
	struct event_attr attr;
	pid_t pid;
	int cpu, group_fd;
	unsigned long flags;
	int fd; /* or -1 and */
	int sys;
	bool is_on; /* by ioctl */
};

static struct kernel {
	/* What it refuses, in the order in which a kernel looks. 0: it does not. */
	u32 attr_size_max;            /* E2BIG above; 0: any size will do */
	u64 unknown_flags;            /* EINVAL */
	u64 unknown_read_format;      /* EINVAL */
	u64 unknown_samples;          /* EINVAL, for bits of sample_type */
	u64 unknown_branches;         /* EINVAL */
	int denies_kernel;            /* errno for events that do not exclude it */
	pid_t gone[THREADS_GONE_MAX]; /* ESRCH */
	int has_no_pmu;               /* errno for hardware events */
	int is_imprecise;             /* errno for a precision above precise_max */
	unsigned precise_max;
	int only_cpu;     /* - 1: is_imprecise holds on that CPU only */
	int always;       /* errno for everything */
	size_t calls_max; /* EMFILE from this call on; 0: never */
	struct {
		u32 type;
		u64 config;
		int sys;
	} refuses[4];     /* single events */
	size_t group_max; /* EINVAL for a hardware event beyond so many in a group; 0: no limit */
	bool is_before_6_12; /* EINVAL for samples that read what children inherit */
	bool is_before_4_13; /* EINVAL for groups of inherited events that are read at once */
	int filter_sys;      /* errno for a filter; 0: it is taken */
	bool is_before_3_12; /* no ioctl for ids: they are read */
	bool has_no_ids;     /* nor can they be read */

	struct call calls[CALLS_MAX];
	size_t n;
	size_t n_filters;
	char filter[64]; /* the last one */
} kernel;

static bool is_gone(pid_t pid)
{
	for (size_t i = 0; i < THREADS_GONE_MAX; i++)
		if (pid && kernel.gone[i] == pid)
			return true;
	return false;
}

static bool is_hardware_event(const struct event_attr *a)
{
	return a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE ||
		a->type == PERF_TYPE_RAW;
}

/* Its descriptor is open, and still its own: numbers come back. */
static bool is_open(size_t call)
{
	int fd = kernel.calls[call].fd;

	for (size_t i = call + 1; i < kernel.n; i++)
		if (kernel.calls[i].fd == fd)
			return false;
	return fd >= 0 && fcntl(fd, F_GETFD) >= 0;
}

/* Hardware events of the group with this leader. */
static size_t group_size(int leader_fd)
{
	size_t n = 0;

	for (size_t i = 0; i < kernel.n; i++)
		n += is_hardware_event(&kernel.calls[i].attr) && is_open(i) &&
			(kernel.calls[i].fd == leader_fd || kernel.calls[i].group_fd == leader_fd);
	return n;
}

static int refusal_of_one(const struct event_attr *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel.refuses); i++)
		if (kernel.refuses[i].sys && kernel.refuses[i].type == a->type &&
			kernel.refuses[i].config == a->config)
			return kernel.refuses[i].sys;
	return 0;
}

static int refusal_of(const struct call *c)
{
	const struct event_attr *a = &c->attr;
	bool is_hardware = is_hardware_event(a);

	if (kernel.attr_size_max && a->size > kernel.attr_size_max)
		return E2BIG;
	if (a->flags & kernel.unknown_flags || a->read_format & kernel.unknown_read_format ||
		a->sample_type & kernel.unknown_samples ||
		a->branch_sample_type & kernel.unknown_branches)
		return EINVAL;
	if (kernel.denies_kernel && !(a->flags & ATTR_EXCLUDE_KERNEL))
		return kernel.denies_kernel;
	if (is_gone(c->pid))
		return ESRCH;
	if (is_hardware && kernel.has_no_pmu)
		return kernel.has_no_pmu;
	if (kernel.is_imprecise && attr_precise(a) > kernel.precise_max &&
		(!kernel.only_cpu || kernel.only_cpu - 1 == c->cpu))
		return kernel.is_imprecise;
	if (kernel.calls_max && kernel.n > kernel.calls_max)
		return EMFILE;
	if (kernel.is_before_6_12 && a->sample_type & PERF_SAMPLE_READ && a->flags & ATTR_INHERIT)
		return EINVAL;
	if (kernel.is_before_4_13 && a->read_format & PERF_FORMAT_GROUP && a->flags & ATTR_INHERIT)
		return EINVAL;
	if (kernel.group_max && is_hardware && c->group_fd >= 0 &&
		group_size(c->group_fd) >= kernel.group_max)
		return EINVAL;
	if (refusal_of_one(a))
		return refusal_of_one(a);
	return kernel.always;
}

/* The id that the counter of call i has. */
static u64 id_of(size_t i)
{
	return 1000 + i;
}

/* A descriptor that reads like a counter with this read_format. */
static int make_counter(u64 format, u64 id)
{
	u64 words[8], n = 0;
	int fd = memfd_create("counter", MFD_CLOEXEC);

	if (format & PERF_FORMAT_GROUP)
		words[n++] = 1;
	else
		words[n++] = 7;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = 70;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = 70;
	if (format & PERF_FORMAT_GROUP)
		words[n++] = 7;
	if (format & PERF_FORMAT_ID)
		words[n++] = id;
	if (format & PERF_FORMAT_LOST)
		words[n++] = 0;
	if (kernel.has_no_ids)
		n = 0;
	if (fd < 0 || pwrite(fd, words, n * sizeof(u64), 0) != (ssize_t)(n * sizeof(u64)))
		test_failed(__FILE__, __LINE__, "making a counter: %s", strerror(errno));
	return fd;
}

int perf_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags)
{
	struct call *c = &kernel.calls[kernel.n];

	if (kernel.n == CALLS_MAX)
		test_failed(__FILE__, __LINE__, "the ladder has no end");
	*c = (struct call){*attr, pid, cpu, group_fd, flags, -1, 0};
	kernel.n++;
	c->sys = refusal_of(c);
	if (!c->sys)
		c->fd = make_counter(attr->read_format, id_of(kernel.n - 1));
	errno = c->sys;
	return c->fd;
}

static int take_filter(const char *filter)
{
	kernel.n_filters++;
	snprintf(kernel.filter, sizeof(kernel.filter), "%s", filter);
	errno = kernel.filter_sys;
	return kernel.filter_sys ? -1 : 0;
}

static int switch_counter(int fd, bool is_on)
{
	for (size_t i = kernel.n; i-- > 0;) {
		if (kernel.calls[i].fd != fd)
			continue;
		kernel.calls[i].is_on = is_on;
		return 0;
	}
	errno = ENOTTY;
	return -1;
}

/* The ioctls that the opener uses; all others go on to the system. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == PERF_EVENT_IOC_SET_FILTER)
		return take_filter(arg);
	if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE)
		return switch_counter(fd, request == PERF_EVENT_IOC_ENABLE);
	if (request != PERF_EVENT_IOC_ID)
		return (int)syscall(SYS_ioctl, fd, request, arg);
	for (size_t i = kernel.n; i-- > 0 && !kernel.is_before_3_12;) {
		if (kernel.calls[i].fd != fd)
			continue;
		*(u64 *)arg = id_of(i);
		return 0;
	}
	errno = ENOTTY;
	return -1;
}

/* ---- what is opened ---- */

#define YOUNG_FLAGS                                                                     \
	(ATTR_BUILD_ID | ATTR_TEXT_POKE | ATTR_CGROUP | ATTR_BPF_EVENT | ATTR_KSYMBOL | \
		ATTR_NAMESPACES | ATTR_COMM_EXEC | ATTR_MMAP2 | ATTR_EXCLUDE_GUEST |    \
		ATTR_SAMPLE_ID_ALL)

struct opening {
	struct event_list events;
	struct target target;
	struct counters counters;
	struct said said;
	struct err err;
};

static void opening_init(struct opening *o, size_t n_cpus, const pid_t *tids)
{
	memset(o, 0, sizeof(*o));
	memset(&kernel, 0, sizeof(kernel));
	said_init(&o->said, LOG_DEBUG);
	for (u32 cpu = 0; cpu < n_cpus; cpu++)
		vec_add(&o->target.cpus, cpu);
	for (; tids && *tids; tids++)
		vec_add(&o->target.threads, ((struct target_thread){100, *tids}));
	o->target.is_system_wide = !tids;
}

static void opening_fini(struct opening *o)
{
	counters_close(&o->counters);
	event_list_fini(&o->events);
	target_fini(&o->target);
	said_fini(&o->said);
}

static struct event *add(struct opening *o, u32 type, u64 config, const char *name)
{
	const struct event_attr attr = {.type = type,
		.size = ATTR_SIZE_VER7,
		.config = config,
		.sample_period = 4000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_ID,
		.flags = ATTR_DISABLED | ATTR_INHERIT | ATTR_FREQ};

	return event_add(&o->events, &attr, name);
}

/* What `pace record` samples when nothing is said: cycles, as precisely as can be. */
static struct event *add_cycles(struct opening *o)
{
	struct event *e = add(o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles:P");

	attr_set_precise(&e->attr, 3);
	e->wishes |= EVENT_MAX_PRECISE;
	return e;
}

static struct event *add_clock(struct opening *o)
{
	return add(o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock");
}

static int go(struct opening *o)
{
	return open_events(&o->events, &o->target, &o->counters, &o->said.log, &o->err);
}

/* Opening fails, with this message, and leaves nothing open. */
static void check_fails(struct opening *o, int code, const char *message)
{
	int r = go(o);

	CHECK_EQ(r, code);
	CHECK_EQ(o->err.code, code);
	CHECK_STR(o->err.msg, message);
	CHECK_EQ(o->counters.n, 0);
	for (size_t i = 0; i < kernel.n; i++)
		CHECK(kernel.calls[i].fd < 0 || fcntl(kernel.calls[i].fd, F_GETFD) < 0);
}

static void check_opens(struct opening *o)
{
	if (go(o))
		test_failed(__FILE__, __LINE__, "%s\n%s", o->err.msg, str_text(&o->said.text));
}

static const pid_t one_thread[] = {101, 0}, two_threads[] = {101, 102, 0},
		   three_threads[] = {101, 102, 103, 0};

/* ---- one call for each CPU and thread ---- */

TEST(open_asks_once_for_each_cpu_and_thread)
{
	struct opening o;

	opening_init(&o, 3, two_threads);
	add_clock(&o);
	check_opens(&o);
	CHECK_EQ(kernel.n, 6);
	CHECK_EQ(o.counters.n, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct call *call = &kernel.calls[i];
		const struct counter *c = &o.counters.at[i];

		CHECK_EQ(call->pid, i < 3 ? 101 : 102);
		CHECK_EQ(call->cpu, i % 3);
		CHECK_EQ(call->group_fd, -1);
		CHECK_EQ(call->flags, PERF_FLAG_FD_CLOEXEC);
		CHECK(!memcmp(&call->attr, &o.events.at[0].attr, sizeof(call->attr)));
		CHECK_EQ(c->fd, call->fd);
		CHECK_EQ(c->event, 0);
		CHECK_EQ(c->cpu, call->cpu);
		CHECK_EQ(c->tid, call->pid);
		CHECK_EQ(c->id, id_of(i));
		CHECK_EQ(o.events.at[0].ids[i], id_of(i));
	}
	CHECK_EQ(o.events.at[0].n_ids, 6);
	CHECK_STR(str_text(&o.said.text), "");
	opening_fini(&o);
}

TEST(open_asks_for_everybody_on_each_cpu_when_the_target_is_the_system)
{
	struct opening o;

	opening_init(&o, 2, NULL);
	add_clock(&o);
	check_opens(&o);
	CHECK_EQ(kernel.n, 2);
	CHECK_EQ(kernel.calls[0].pid, -1);
	CHECK_EQ(kernel.calls[1].pid, -1);
	CHECK_EQ(o.counters.at[1].tid, -1);
	opening_fini(&o);
}

TEST(open_keeps_an_event_to_the_cpus_of_its_pmu)
{
	struct opening o;
	struct event *e;

	opening_init(&o, 4, NULL);
	add_clock(&o);
	e = add(&o, 11, 1, "power/energy-pkg/");
	vec_add(&e->cpus, (u32)0);
	vec_add(&e->cpus, (u32)2);
	check_opens(&o);
	CHECK_EQ(kernel.n, 6);
	CHECK_EQ(kernel.calls[4].cpu, 0);
	CHECK_EQ(kernel.calls[5].cpu, 2);
	CHECK_EQ(o.events.at[0].n_ids, 4);
	CHECK_EQ(o.events.at[1].n_ids, 2);
	CHECK_EQ(o.events.at[1].ids[1], id_of(5));
	opening_fini(&o);
}

TEST(open_gives_the_members_of_a_group_their_leaders_descriptor_of_the_same_cpu_and_thread)
{
	struct opening o;

	opening_init(&o, 2, two_threads);
	add_clock(&o);
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	o.events.at[1].leader = 0;
	o.events.at[0].n_members = 2;
	o.events.at[1].n_members = 0;
	check_opens(&o);
	CHECK_EQ(kernel.n, 12);
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ(kernel.calls[i].group_fd, -1);
		CHECK_EQ(kernel.calls[4 + i].group_fd, kernel.calls[i].fd);
		CHECK_EQ(kernel.calls[4 + i].cpu, kernel.calls[i].cpu);
		CHECK_EQ(kernel.calls[4 + i].pid, kernel.calls[i].pid);
		CHECK_EQ(kernel.calls[8 + i].group_fd, -1);
	}
	opening_fini(&o);
}

TEST(open_reads_ids_where_the_kernel_has_no_ioctl_for_them)
{
	struct opening o;

	opening_init(&o, 2, one_thread);
	kernel.is_before_3_12 = true;
	add_clock(&o)->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
	check_opens(&o);
	CHECK_EQ(o.counters.at[0].id, id_of(0));
	CHECK_EQ(o.counters.at[1].id, id_of(1));
	CHECK_EQ(o.events.at[0].ids[1], id_of(1));
	opening_fini(&o);
}

/* ---- precision ---- */

TEST(open_lowers_precision_step_by_step_to_what_the_machine_can_do)
{
	static const int errnos[] = {ENOENT, EOPNOTSUPP, EINVAL, ENODEV, ENXIO};

	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
		for (unsigned can = 0; can <= 3; can++) {
			struct opening o;

			opening_init(&o, 1, one_thread);
			kernel.is_imprecise = errnos[i];
			kernel.precise_max = can;
			add_cycles(&o);
			check_opens(&o);
			CHECK_EQ(kernel.n, 4 - can);
			for (size_t k = 0; k < kernel.n; k++)
				CHECK_EQ(attr_precise(&kernel.calls[k].attr), 3 - k);
			CHECK_EQ(attr_precise(&o.events.at[0].attr), can);
			CHECK_STR(o.events.at[0].name, "cycles:P");
			CHECK_EQ(said_count(&o.said, "debug: event 'cycles:P': precision"),
				3 - can);
			CHECK_EQ(said_count(&o.said, "\n"), 3 - can);
			opening_fini(&o);
		}
	}
}

TEST(open_opens_all_cpus_anew_when_a_later_one_refuses)
{
	struct opening o;

	opening_init(&o, 3, one_thread);
	kernel.is_imprecise = EOPNOTSUPP;
	kernel.precise_max = 2;
	kernel.only_cpu = 1 + 1;
	add_clock(&o);
	add_cycles(&o);
	check_opens(&o);
	/* The clock on three CPUs; cycles:ppp on 0 and 1, cycles:pp on all. */
	CHECK_EQ(kernel.n, 3 + 2 + 3);
	CHECK_EQ(o.counters.n, 6);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(o.counters.at[i].fd, kernel.calls[i].fd);
		CHECK_EQ(attr_precise(&kernel.calls[5 + i].attr), 2);
		CHECK_EQ(o.counters.at[3 + i].cpu, i);
		CHECK_EQ(o.events.at[1].ids[i], id_of(5 + i));
		CHECK(fcntl(o.counters.at[i].fd, F_GETFD) >= 0);
	}
	CHECK_EQ(kernel.calls[4].sys, EOPNOTSUPP);
	CHECK_EQ(o.events.at[1].n_ids, 3);
	opening_fini(&o);
}

TEST(open_does_not_lower_a_precision_that_was_asked_for)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.is_imprecise = EOPNOTSUPP;
	attr_set_precise(
		&add(&o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions:pp")->attr,
		2);
	check_fails(&o, ERR_UNSUPPORTED,
		"opening 'instructions:pp': this PMU cannot do it; precise events (:p) need PEBS, "
		"IBS or SPE; 'cpu-clock', 'task-clock' and 'page-faults' work everywhere");
	CHECK_EQ(kernel.n, 1);
	CHECK_STR(str_text(&o.said.text), "");
	opening_fini(&o);
}

TEST(open_drops_the_precision_of_cycles_before_a_clock_stands_in_for_them)
{
	static const struct {
		const char *name, *without;
	} rows[] = {{"cycles:pp", "cycles"}, {"cycles:upp", "cycles:u"},
		{"cpu/cycles/pp", "cpu/cycles/"}, {"cpu-cycles:ppu", "cpu-cycles:u"}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct opening o;
		struct str said = {0};
		struct event *e;

		opening_init(&o, 2, one_thread);
		kernel.is_imprecise = EOPNOTSUPP;
		e = add(&o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, rows[i].name);
		attr_set_precise(&e->attr, 2);
		check_opens(&o);
		e = &o.events.at[0];
		CHECK_EQ(attr_precise(&e->attr), 0);
		CHECK_EQ(e->attr.type, PERF_TYPE_HARDWARE);
		CHECK_STR(e->name, rows[i].without);
		str_addf(&said,
			"note: event '%s': this machine counts it, but cannot say precisely where (:p needs PEBS, IBS or SPE): sampled without it, so addresses may be some instructions late\n",
			rows[i].name);
		CHECK_STR(str_text(&o.said.text), str_text(&said));
		str_fini(&said);
		opening_fini(&o);
	}
}

TEST(open_does_not_speak_of_precision_where_there_is_no_pmu_at_all)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.has_no_pmu = ENOENT;
	attr_set_precise(&add(&o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles:pp")->attr,
		2);
	check_opens(&o);
	CHECK_STR(o.events.at[0].name, "cpu-clock");
	CHECK_EQ(said_count(&o.said, "precise"), 0);
	CHECK_EQ(said_count(&o.said, "no hardware cycle counter"), 1);
	opening_fini(&o);
}

/* ---- old kernels ---- */

enum place { FLAGS, SAMPLES, READS, BRANCHES };

/* What must go in this order, as a kernel of each age wants it. */
static const struct {
	enum place place;
	u64 bits, instead;
	const char *said;
} features[] = {
	{BRANCHES, PERF_SAMPLE_BRANCH_COUNTERS, 0, "'branch counters' (Linux 6.8 does)"},
	{BRANCHES, PERF_SAMPLE_BRANCH_PRIV_SAVE, 0, "'branch priv' (Linux 6.1 does)"},
	{READS, PERF_FORMAT_LOST, 0, "'read_format LOST' (Linux 6.0 does)"},
	{FLAGS, ATTR_BUILD_ID, 0, "'build_id' (Linux 5.12 does)"},
	{SAMPLES, PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_WEIGHT,
		"'weight_struct' (Linux 5.12 does)"},
	{SAMPLES, PERF_SAMPLE_CODE_PAGE_SIZE, 0, "'code_page_size' (Linux 5.11 does)"},
	{SAMPLES, PERF_SAMPLE_DATA_PAGE_SIZE, 0, "'data_page_size' (Linux 5.11 does)"},
	{FLAGS, ATTR_TEXT_POKE, 0, "'text_poke' (Linux 5.9 does)"},
	{BRANCHES, PERF_SAMPLE_BRANCH_HW_INDEX, 0, "'branch hw_index' (Linux 5.7 does)"},
	{FLAGS, ATTR_CGROUP, 0, "'cgroup' (Linux 5.7 does)"},
	{SAMPLES, PERF_SAMPLE_CGROUP, 0, "'sample cgroup' (Linux 5.7 does)"},
	{FLAGS, ATTR_BPF_EVENT, 0, "'bpf_event' (Linux 5.1 does)"},
	{FLAGS, ATTR_KSYMBOL, 0, "'ksymbol' (Linux 5.1 does)"},
	{SAMPLES, PERF_SAMPLE_PHYS_ADDR, 0, "'phys_addr' (Linux 4.14 does)"},
	{BRANCHES, PERF_SAMPLE_BRANCH_TYPE_SAVE, 0, "'branch save_type' (Linux 4.14 does)"},
	{FLAGS, ATTR_NAMESPACES, 0, "'namespaces' (Linux 4.12 does)"},
	{BRANCHES, PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES, 0,
		"'branch no_flags' (Linux 4.5 does)"},
	{FLAGS, ATTR_CONTEXT_SWITCH, 0, "'context_switch' (Linux 4.3 does)"},
	{SAMPLES, PERF_SAMPLE_REGS_INTR, 0, "'intr_regs' (Linux 3.19 does)"},
	{FLAGS, ATTR_COMM_EXEC, 0, "'comm_exec' (Linux 3.16 does)"},
	{SAMPLES, PERF_SAMPLE_TRANSACTION, 0, "'transaction' (Linux 3.13 does)"},
	{FLAGS, ATTR_MMAP2, 0, "'mmap2' (Linux 3.12 does)"},
	{SAMPLES, PERF_SAMPLE_WEIGHT, 0, "'weight' (Linux 3.10 does)"},
	{SAMPLES, PERF_SAMPLE_DATA_SRC, 0, "'data_src' (Linux 3.10 does)"},
	{FLAGS, ATTR_EXCLUDE_GUEST, 0, "'exclude_guest' (Linux 3.2 does)"},
	{FLAGS, ATTR_SAMPLE_ID_ALL, 0, "'sample_id_all' (Linux 2.6.38 does)"},
};

static u64 *word_of(struct event_attr *a, enum place place)
{
	return place == FLAGS      ? &a->flags
		: place == SAMPLES ? &a->sample_type
		: place == READS   ? &a->read_format
				   : &a->branch_sample_type;
}

static void ask_for_all(struct event_attr *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		*word_of(a, features[i].place) |= features[i].bits;
	/* An old kernel has it in the place of the new one. */
	a->sample_type &= ~(u64)PERF_SAMPLE_WEIGHT;
	a->sample_regs_intr = 1;
}

static void give_up(struct event_attr *a, size_t i)
{
	u64 *word = word_of(a, features[i].place);

	*word = (*word & ~features[i].bits) | features[i].instead;
	if (!(a->sample_type & PERF_SAMPLE_REGS_INTR))
		a->sample_regs_intr = 0;
}

TEST(open_gives_up_features_from_the_youngest_on_until_an_old_kernel_agrees)
{
	for (size_t n_unknown = 0; n_unknown <= ARRAY_SIZE(features); n_unknown++) {
		struct event_attr unknown = {0}, full;
		struct opening o;

		opening_init(&o, 2, one_thread);
		for (size_t i = 0; i < n_unknown; i++)
			*word_of(&unknown, features[i].place) |= features[i].bits;
		kernel.unknown_flags = unknown.flags;
		kernel.unknown_read_format = unknown.read_format;
		kernel.unknown_samples = unknown.sample_type;
		kernel.unknown_branches = unknown.branch_sample_type;
		add_clock(&o);
		ask_for_all(&o.events.at[0].attr);
		full = o.events.at[0].attr;
		check_opens(&o);
		/* On the first CPU all that must go goes; the second then agrees at once. */
		CHECK_EQ(kernel.n, n_unknown + 2);
		for (size_t i = 0; i <= n_unknown; i++) {
			CHECK(!memcmp(&kernel.calls[i].attr, &full, sizeof(full)));
			if (i < n_unknown)
				give_up(&full, i);
		}
		CHECK(!memcmp(&o.events.at[0].attr, &full, sizeof(full)));
		CHECK_STR(o.events.at[0].name, "cpu-clock");
		for (size_t i = 0; i < ARRAY_SIZE(features); i++)
			CHECK_EQ(said_count(&o.said, features[i].said), i < n_unknown);
		CHECK_EQ(
			said_count(&o.said, "note: event 'cpu-clock': this kernel does not know '"),
			n_unknown);
		CHECK_EQ(said_count(&o.said, "\n"), n_unknown);
		opening_fini(&o);
	}
}

/* {cpu-clock,page-faults}:S */
static void add_reading_group(struct opening *o)
{
	struct event *leader, *member;

	add_clock(o);
	add(o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	leader = &o->events.at[0];
	member = &o->events.at[1];
	leader->n_members = 2;
	member->leader = 0;
	member->n_members = 0;
	vec_each(e, &o->events) {
		e->attr.sample_type |= PERF_SAMPLE_READ;
		e->attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_LOST;
		e->attr.flags |= ATTR_CGROUP;
	}
}

TEST(open_leaves_children_out_where_old_kernels_cannot_read_what_they_inherit)
{
	for (int is_old = 0; is_old <= 1; is_old++) {
		struct opening o;

		opening_init(&o, 2, one_thread);
		kernel.is_before_6_12 = is_old;
		add_reading_group(&o);
		check_opens(&o);
		for (size_t i = 0; i < 2; i++) {
			const struct event_attr *a = &o.events.at[i].attr;

			CHECK_EQ(!(a->flags & ATTR_INHERIT), is_old);
			/* Nothing else is given up for that. */
			CHECK(a->flags & ATTR_CGROUP && a->read_format & PERF_FORMAT_LOST);
		}
		CHECK_STR(str_text(&o.said.text),
			is_old ? "note: event 'cpu-clock': before Linux 6.12 samples cannot read counters that children inherit: threads and processes that are started from now on are left out (drop ':S' to include them)\n"
			       : "");
		opening_fini(&o);
	}
}

TEST(open_keeps_children_where_it_is_something_else_that_an_old_kernel_refuses)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.unknown_flags = ATTR_CGROUP;
	add_reading_group(&o);
	check_opens(&o);
	vec_each(e, &o.events)
		CHECK(e->attr.flags & ATTR_INHERIT && !(e->attr.flags & ATTR_CGROUP));
	opening_fini(&o);
}

TEST(open_says_each_step_once_however_many_cpus_and_threads_there_are)
{
	struct opening o;

	opening_init(&o, 4, three_threads);
	kernel.unknown_flags = ATTR_MMAP2;
	add_clock(&o)->attr.flags |= ATTR_MMAP2;
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults")->attr.flags |=
		ATTR_MMAP2;
	check_opens(&o);
	CHECK_STR(str_text(&o.said.text),
		"note: event 'cpu-clock': this kernel does not know "
		"'mmap2' (Linux 3.12 does): recorded without it\n"
		"note: event 'page-faults': this kernel does not know "
		"'mmap2' (Linux 3.12 does): recorded without it\n");
	opening_fini(&o);
}

TEST(open_ends_with_the_reason_when_no_feature_is_left_to_give_up)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.always = EINVAL;
	add_clock(&o)->attr.flags |= ATTR_MMAP2 | ATTR_SAMPLE_ID_ALL;
	check_fails(&o, ERR_UNSUPPORTED,
		"opening 'cpu-clock': the kernel finds the combination invalid (EINVAL)");
	CHECK_EQ(kernel.n, 3);
	opening_fini(&o);
}

TEST(open_names_the_hardware_that_invalid_precise_and_branch_events_need)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.always = EINVAL;
	attr_set_precise(
		&add(&o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions:ppp")->attr,
		3);
	check_fails(&o, ERR_UNSUPPORTED,
		"opening 'instructions:ppp': the kernel finds the combination invalid (EINVAL); "
		"precise events (:p) need "
		"PEBS, IBS or SPE");
	opening_fini(&o);

	opening_init(&o, 1, one_thread);
	kernel.always = EINVAL;
	add(&o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "branches")
		->attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	check_fails(&o, ERR_UNSUPPORTED,
		"opening 'branches': the kernel finds the combination invalid (EINVAL); branch "
		"stacks need LBR, BRS or "
		"BRBE");
	opening_fini(&o);
}

TEST(open_shrinks_an_attr_that_is_too_large_for_the_kernel)
{
	struct opening o;

	opening_init(&o, 2, one_thread);
	kernel.attr_size_max = 112;
	add_clock(&o);
	check_opens(&o);
	CHECK_EQ(kernel.n, 3);
	CHECK_EQ(kernel.calls[0].attr.size, 128);
	CHECK_EQ(kernel.calls[1].attr.size, 64);
	CHECK_EQ(o.events.at[0].attr.size, 64);
	CHECK_STR(str_text(&o.said.text),
		"debug: event 'cpu-clock': an attr of 64 bytes is tried\n");
	opening_fini(&o);

	/* What is in use has to fit. */
	opening_init(&o, 1, one_thread);
	kernel.attr_size_max = 112;
	add_clock(&o)->attr.branch_sample_type = 1;
	check_opens(&o);
	CHECK_EQ(o.events.at[0].attr.size, 80);
	opening_fini(&o);
}

TEST(open_fails_when_even_the_smallest_attr_is_too_large)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.attr_size_max = 64;
	add_clock(&o)->attr.config2 = 1;
	CHECK_EQ(go(&o), ERR_UNSUPPORTED);
	CHECK_EQ(o.err.sys, E2BIG);
	CHECK_STR(o.err.msg,
		"opening 'cpu-clock': this kernel is too old for it: it does not know attrs of 72 "
		"bytes");
	CHECK_EQ(kernel.n, 2);
	CHECK_EQ(kernel.calls[1].attr.size, 72);
	opening_fini(&o);
}

/* ---- machines without a PMU ---- */

TEST(open_samples_by_the_clock_where_there_is_no_pmu)
{
	static const int errnos[] = {ENOENT, EOPNOTSUPP, ENODEV, ENXIO, EINVAL};

	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
		struct opening o;

		opening_init(&o, 2, two_threads);
		kernel.has_no_pmu = errnos[i];
		add_cycles(&o);
		check_opens(&o);
		/* Precision 3 to 0, then the clock on two CPUs for two threads. */
		CHECK_EQ(kernel.n, 4 + 4);
		for (size_t k = 0; k < 4; k++) {
			CHECK_EQ(kernel.calls[k].attr.type, PERF_TYPE_HARDWARE);
			CHECK_EQ(attr_precise(&kernel.calls[k].attr), 3 - k);
			CHECK_EQ(kernel.calls[4 + k].attr.type, PERF_TYPE_SOFTWARE);
			CHECK_EQ(kernel.calls[4 + k].attr.config, PERF_COUNT_SW_CPU_CLOCK);
			CHECK_EQ(kernel.calls[4 + k].attr.sample_period, 4000);
		}
		CHECK_EQ(attr_precise(&o.events.at[0].attr), 0);
		CHECK_STR(o.events.at[0].name, "cpu-clock");
		CHECK_EQ(said_count(&o.said, "note: "), 1);
		CHECK_HAS(str_text(&o.said.text),
			"note: event 'cycles:P': this machine offers no hardware cycle counter "
			"(most virtual machines do "
			"not): the timer 'cpu-clock' samples instead\n");
		opening_fini(&o);
	}
}

TEST(open_keeps_all_features_when_it_is_the_pmu_that_is_missing)
{
	static const int errnos[] = {ENOENT, EOPNOTSUPP, ENODEV, ENXIO};

	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
		struct opening o;

		opening_init(&o, 1, one_thread);
		kernel.has_no_pmu = errnos[i];
		add_cycles(&o)->attr.flags |= YOUNG_FLAGS;
		check_opens(&o);
		CHECK_EQ(o.events.at[0].attr.flags & YOUNG_FLAGS, YOUNG_FLAGS);
		CHECK_EQ(said_count(&o.said, "does not know"), 0);
		opening_fini(&o);
	}
}

TEST(open_keeps_in_the_clocks_name_which_side_is_measured)
{
	static const struct {
		const char *name, *becomes;
		u64 flags;
	} rows[] = {
		{"cycles", "cpu-clock", 0},
		{"cycles:u", "cpu-clock:u", ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV},
		{"cycles:k", "cpu-clock:k", ATTR_EXCLUDE_USER | ATTR_EXCLUDE_HV},
		{"cycles:pp", "cpu-clock", 2ULL << ATTR_PRECISE_SHIFT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct opening o;

		opening_init(&o, 1, one_thread);
		kernel.has_no_pmu = ENOENT;
		add(&o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, rows[i].name)->attr.flags |=
			rows[i].flags;
		check_opens(&o);
		CHECK_STR(o.events.at[0].name, rows[i].becomes);
		CHECK_EQ(o.events.at[0].attr.flags & ~(ATTR_DISABLED | ATTR_INHERIT | ATTR_FREQ),
			rows[i].flags & ~ATTR_PRECISE_MASK);
		opening_fini(&o);
	}
}

TEST(open_has_no_substitute_for_other_hardware_events)
{
	static const struct {
		u32 type;
		u64 config;
		int sys;
	} rows[] = {
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, ENOENT},
		{PERF_TYPE_HW_CACHE, 0x10000, ENODEV},
		{PERF_TYPE_RAW, 0xc0, ENXIO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct opening o;

		opening_init(&o, 1, one_thread);
		kernel.has_no_pmu = rows[i].sys;
		add(&o, rows[i].type, rows[i].config, "event");
		/* Why there is none is this machine's affair. */
		CHECK_EQ(go(&o), ERR_UNSUPPORTED);
		CHECK_HAS(o.err.msg,
			"opening 'event': this machine has no such hardware counter (");
		CHECK_HAS(o.err.msg,
			"); 'cpu-clock', 'task-clock' and 'page-faults' work everywhere; 'pace "
			"doctor' says more");
		CHECK_EQ(o.counters.n, 0);
		CHECK_EQ(kernel.n, 1);
		opening_fini(&o);
	}
}

TEST(open_does_not_put_a_clock_into_a_group_of_hardware_events)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.has_no_pmu = ENOENT;
	add_clock(&o);
	add(&o, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles");
	o.events.at[1].leader = 0;
	CHECK_EQ(go(&o), ERR_UNSUPPORTED);
	CHECK_HAS(o.err.msg, "opening 'cycles': this machine has no such hardware counter (");
	CHECK_EQ(o.counters.n, 0);
	opening_fini(&o);
}

/* ---- privileges ---- */

/* Goes on without any, so that the sysctl counts; skips where that forbids nothing. */
static void become_unprivileged(void)
{
	struct privilege p;

	if (geteuid() == 0 && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		SKIP("cannot become somebody else: %s", strerror(errno));
	/* Else the leak checker could not look at us. */
	prctl(PR_SET_DUMPABLE, 1);
	privilege_read(&p);
	if (!p.has_perf_events)
		SKIP("this kernel has no perf events");
	if (privilege_allows(&p, PRIVILEGE_KERNEL))
		SKIP("perf_event_paranoid is %lld: everybody may measure the kernel",
			(long long)p.paranoid);
}

TEST(open_leaves_the_kernel_out_where_it_may_not_be_measured)
{
	static const struct {
		u32 type;
		const char *name, *becomes;
	} rows[] = {
		{PERF_TYPE_SOFTWARE, "cpu-clock", "cpu-clock:u"},
		{PERF_TYPE_HARDWARE, "instructions:pp", "instructions:ppu"},
		{PERF_TYPE_TRACEPOINT, "sched:sched_switch", "sched:sched_switch:u"},
	};

	become_unprivileged();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct opening o;
		struct privilege p;
		char why[512], said[1024];

		opening_init(&o, 2, one_thread);
		kernel.denies_kernel = i & 1 ? EPERM : EACCES;
		add(&o, rows[i].type, 1, rows[i].name);
		check_opens(&o);
		CHECK_EQ(kernel.n, 3);
		CHECK_EQ(kernel.calls[1].attr.flags & (ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV),
			ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV);
		CHECK_STR(o.events.at[0].name, rows[i].becomes);
		privilege_read(&p);
		/* It holds for all events, so it names none. */
		snprintf(said, sizeof(said), "note: only user space is measured: %s\n",
			privilege_explain(&p, PRIVILEGE_KERNEL, why, sizeof(why)));
		CHECK_STR(str_text(&o.said.text), said);
		CHECK_HAS(said, "perf_event_paranoid is ");
		CHECK_HAS(said, "CAP_PERFMON");
		CHECK_HAS(said, "run 'sudo sysctl kernel.perf_event_paranoid=1'");
		opening_fini(&o);
	}
}

TEST(open_does_not_leave_out_the_kernel_of_an_event_that_is_of_the_kernel_alone)
{
	struct opening o;
	struct event *e;

	become_unprivileged();
	opening_init(&o, 2, one_thread);
	kernel.denies_kernel = EACCES;
	e = add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock:k");
	e->attr.flags |= ATTR_EXCLUDE_USER;
	CHECK_EQ(go(&o), ERR_PERM);
	CHECK_HAS(o.err.msg, "opening 'cpu-clock:k': access denied: ");
	CHECK_EQ(kernel.n, 1);
	CHECK_STR(str_text(&o.said.text), "");
	CHECK_EQ(o.counters.n, 0);
	opening_fini(&o);
}

TEST(open_goes_down_both_ladders_without_privileges_and_without_a_pmu)
{
	struct opening o;

	become_unprivileged();
	opening_init(&o, 1, one_thread);
	kernel.denies_kernel = EACCES;
	kernel.has_no_pmu = ENOENT;
	add_cycles(&o);
	check_opens(&o);
	/* The kernel; four precisions; the clock. */
	CHECK_EQ(kernel.n, 1 + 4 + 1);
	CHECK_STR(o.events.at[0].name, "cpu-clock:u");
	CHECK_EQ(said_count(&o.said, "note: "), 2);
	CHECK_HAS(str_text(&o.said.text),
		"note: event 'cycles:Pu': this machine offers no hardware cycle counter");
	opening_fini(&o);
}

TEST(open_says_what_measuring_a_whole_cpu_needs)
{
	struct opening o;

	become_unprivileged();
	opening_init(&o, 1, NULL);
	kernel.denies_kernel = EACCES;
	add_clock(&o);
	CHECK_EQ(go(&o), ERR_PERM);
	CHECK_EQ(kernel.n, 1);
	CHECK_EQ(o.err.sys, EACCES);
	CHECK_HAS(o.err.msg, "opening 'cpu-clock': access denied: perf_event_paranoid is ");
	CHECK_HAS(o.err.msg,
		"measuring all processes (-a, -C) needs 0 or less, CAP_PERFMON or CAP_SYS_ADMIN");
	CHECK_HAS(o.err.msg, "run 'sudo sysctl kernel.perf_event_paranoid=0'");
	CHECK_HAS(o.err.msg, "; 'pace doctor' says more");
	opening_fini(&o);
}

TEST(open_says_whose_process_it_is_when_that_is_the_obstacle)
{
	struct privilege p;
	struct opening o;

	become_unprivileged();
	privilege_read(&p);
	if (!privilege_allows(&p, PRIVILEGE_USER))
		SKIP("perf_event_paranoid is %lld: not even own processes can be measured",
			(long long)p.paranoid);
	opening_init(&o, 1, one_thread);
	kernel.always = EACCES;
	add_clock(&o)->attr.flags |= ATTR_EXCLUDE_KERNEL;
	CHECK_EQ(go(&o), ERR_PERM);
	CHECK_HAS(o.err.msg,
		"opening 'cpu-clock': process 101 belongs to another user; measuring other users' processes needs "
		"CAP_PERFMON, CAP_SYS_ADMIN or CAP_SYS_PTRACE: run 'sudo setcap cap_perfmon=ep ");
	CHECK_EQ(o.counters.n, 0);
	opening_fini(&o);
}

TEST(open_suspects_a_filter_when_the_kernel_refuses_what_it_allows)
{
	struct privilege p;
	struct opening o;

	privilege_read(&p);
	if (!p.has_perfmon)
		SKIP("without CAP_PERFMON there are nearer reasons");
	opening_init(&o, 1, NULL);
	kernel.always = EPERM;
	add_clock(&o);
	CHECK_EQ(go(&o), ERR_PERM);
	CHECK_HAS(o.err.msg,
		"opening 'cpu-clock': not permitted: this process has CAP_PERFMON or CAP_SYS_ADMIN, which "
		"allows measuring all processes (-a, -C), yet the kernel refused: ");
	CHECK_HAS(o.err.msg,
		p.site.seccomp == SITE_SECCOMP_NONE ? "refused: an LSM or lockdown forbids"
						    : "refused: a seccomp filter");
	opening_fini(&o);
}

/* ---- threads that end ---- */

TEST(open_skips_a_thread_that_has_ended_meanwhile)
{
	struct opening o;

	opening_init(&o, 2, three_threads);
	kernel.gone[0] = 102;
	add_clock(&o);
	check_opens(&o);
	CHECK_EQ(kernel.n, 5);
	CHECK_EQ(o.counters.n, 4);
	CHECK_EQ(o.counters.at[1].tid, 101);
	CHECK_EQ(o.counters.at[2].tid, 103);
	CHECK_EQ(o.events.at[0].n_ids, 4);
	CHECK_STR(str_text(&o.said.text), "debug: thread 102 has ended\n");
	opening_fini(&o);
}

TEST(open_fails_when_all_threads_have_ended)
{
	struct opening o;

	opening_init(&o, 2, two_threads);
	kernel.gone[0] = 101;
	kernel.gone[1] = 102;
	add_clock(&o);
	check_fails(&o, ERR_NOENT, "process 100 has ended");
	CHECK_EQ(kernel.n, 2);
	opening_fini(&o);
}

TEST(open_counts_an_ended_thread_once_however_often_it_tries_again)
{
	struct opening o;

	/* Each step down walks through all threads again; one of the two lives. */
	opening_init(&o, 1, two_threads);
	kernel.gone[0] = 101;
	kernel.is_imprecise = EOPNOTSUPP;
	add_cycles(&o);
	check_opens(&o);
	CHECK_EQ(o.counters.n, 1);
	CHECK_EQ(o.counters.at[0].tid, 102);
	CHECK_EQ(attr_precise(&o.events.at[0].attr), 0);
	opening_fini(&o);
}

TEST(open_opens_a_member_alone_where_its_leaders_thread_has_ended)
{
	struct opening o;

	opening_init(&o, 1, two_threads);
	add_clock(&o);
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	o.events.at[1].leader = 0;
	kernel.gone[0] = 101;
	check_opens(&o);
	CHECK_EQ(kernel.n, 4);
	CHECK_EQ(kernel.calls[3].group_fd, kernel.calls[1].fd);
	CHECK_EQ(o.counters.n, 2);
	opening_fini(&o);
}

/* ---- the bottom ---- */

TEST(open_explains_each_refusal_that_no_step_helps_against)
{
	struct rlimit limit;
	char too_many[256];
	struct {
		int sys, code;
		const char *message;
	} rows[] = {
		{ENOENT, ERR_UNSUPPORTED, "opening 'cpu-clock': this kernel does not have it"},
		{EOPNOTSUPP, ERR_UNSUPPORTED, "opening 'cpu-clock': this PMU cannot do it"},
		{ENODEV, ERR_NOENT, "opening 'cpu-clock': CPU 0 is not online"},
		{EBUSY, ERR_SYS,
			"opening 'cpu-clock': the PMU is in use by a program that does not share it"},
		{EINTR, ERR_SYS, "opening 'cpu-clock': ftrace uses the same probe already"},
		{EMFILE, ERR_LIMIT, too_many},
		{ENOMEM, ERR_SYS, "opening 'cpu-clock': Cannot allocate memory"},
		{ENOSPC, ERR_LIMIT,
			"opening 'cpu-clock': the PMU has no room for it beside the events it has"},
	};

	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(too_many, sizeof(too_many),
		"opening 'cpu-clock': %llu files are open, which is the limit: raise it ('ulimit "
		"-n'), or choose fewer "
		"threads (-t) or CPUs (-C)",
		(unsigned long long)limit.rlim_cur);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct opening o;

		opening_init(&o, 1, one_thread);
		kernel.always = rows[i].sys;
		add_clock(&o);
		check_fails(&o, rows[i].code, rows[i].message);
		CHECK_EQ(kernel.n, 1);
		CHECK_STR(str_text(&o.said.text), "");
		opening_fini(&o);
	}
}

TEST(open_closes_everything_when_a_later_event_cannot_be_opened)
{
	struct opening o;

	opening_init(&o, 4, two_threads);
	add_clock(&o);
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	kernel.calls_max = 13;
	CHECK_EQ(go(&o), ERR_LIMIT);
	CHECK_EQ(kernel.n, 14);
	for (size_t i = 0; i < 13; i++)
		CHECK(kernel.calls[i].fd >= 0 && fcntl(kernel.calls[i].fd, F_GETFD) < 0 &&
			errno == EBADF);
	opening_fini(&o);
}

TEST(open_closes_everything_when_ids_cannot_be_had)
{
	struct opening o;

	opening_init(&o, 2, one_thread);
	kernel.is_before_3_12 = kernel.has_no_ids = true;
	add_clock(&o);
	check_fails(&o, ERR_LIMIT, "a pinned event lost its place on the PMU and counts no more");
	CHECK_EQ(kernel.n, 2);
	opening_fini(&o);
}

TEST(open_works_without_anybody_to_tell)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	kernel.has_no_pmu = ENOENT;
	add_cycles(&o);
	CHECK_EQ(open_events(&o.events, &o.target, &o.counters, NULL, &o.err), 0);
	CHECK_STR(o.events.at[0].name, "cpu-clock");
	opening_fini(&o);
}

/* ---- the limit of open files ---- */

TEST(open_raises_the_soft_limit_of_files_as_far_as_is_needed)
{
	struct rlimit limit;
	struct err err;
	rlim_t most;

	getrlimit(RLIMIT_NOFILE, &limit);
	most = limit.rlim_max;
	if (limit.rlim_max < 600)
		SKIP("the hard limit is %llu", (unsigned long long)limit.rlim_max);
	limit.rlim_cur = 64;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_EQ(open_raise_limit(64, &err), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	CHECK_EQ(limit.rlim_cur, 64);
	CHECK_EQ(open_raise_limit(600, &err), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	CHECK_EQ(limit.rlim_cur, 600);
	CHECK_EQ(limit.rlim_max, most);
}

TEST(open_raises_the_hard_limit_of_files_for_root)
{
	struct rlimit limit = {.rlim_cur = 64, .rlim_max = 128};
	struct err err;

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_max = 129;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		SKIP("only root may");
	CHECK_EQ(open_raise_limit(300, &err), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	CHECK_EQ(limit.rlim_cur, 300);
}

TEST(open_says_how_many_files_are_needed_when_the_hard_limit_is_lower)
{
	struct rlimit limit = {.rlim_cur = 64, .rlim_max = 90};
	struct opening o;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534))
		SKIP("root may raise the hard limit");
	prctl(PR_SET_DUMPABLE, 1);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	opening_init(&o, 10, two_threads);
	add_clock(&o);
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	add(&o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "cs");
	/* 4 events on 10 CPUs for 2 threads, and 16 for output, pipes and what is looked up. */
	check_fails(&o, ERR_LIMIT,
		"96 files have to be open at once (one for each event, CPU and thread), but the hard "
		"limit is 90: raise it "
		"('ulimit -Hn 96' as root), or choose fewer threads (-t) or CPUs (-C)");
	CHECK_EQ(kernel.n, 0);
	/* What can be had is had all the same. */
	getrlimit(RLIMIT_NOFILE, &limit);
	CHECK_EQ(limit.rlim_cur, 90);
	opening_fini(&o);
}

/* ---- larger copies of stacks wait ---- */

/* A group of two clocks with copies of 8 KiB, and who tells of tasks. */
static void add_stacks(struct opening *o)
{
	for (u32 i = 0; i < 2; i++) {
		struct event *e = add_clock(o);

		e->attr.sample_type |= PERF_SAMPLE_STACK_USER;
		e->attr.sample_stack_user = 8192;
		e->attr.flags |= i ? 0 : ATTR_ENABLE_ON_EXEC;
		e->attr.flags &= ~(i ? ATTR_DISABLED : 0ull);
		e->leader = 0;
		e->n_members = i ? 1 : 2;
	}
	add(o, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, "dummy");
}

static size_t count_on(u32 stack_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < kernel.n; i++)
		n += kernel.calls[i].is_on && kernel.calls[i].attr.sample_stack_user == stack_bytes;
	return n;
}

TEST(deeper_counters_wait_in_their_groups_and_then_take_the_others_place)
{
	struct opening o;

	opening_init(&o, 2, one_thread);
	add_stacks(&o);
	check_opens(&o);
	CHECK_EQ(o.counters.n, 6);
	CHECK(!deeper_is_there(&o.counters));
	CHECK_EQ(deeper_open(&o.events, &o.counters, 65528, &o.err), 0);
	CHECK_EQ(o.counters.n, 10);
	CHECK(deeper_is_there(&o.counters));
	CHECK_EQ(o.events.at[0].n_ids, 4);
	CHECK_EQ(o.events.at[2].n_ids, 2);
	for (size_t i = 6; i < 10; i++) {
		const struct call *call = &kernel.calls[i];
		const struct counter *c = &o.counters.at[i], *before = &o.counters.at[i - 6];

		CHECK_EQ(c->event, before->event);
		CHECK_EQ(c->cpu, before->cpu);
		CHECK_EQ(call->attr.sample_stack_user, 65528);
		CHECK(!(call->attr.flags & ATTR_ENABLE_ON_EXEC));
		CHECK_EQ(!!(call->attr.flags & ATTR_DISABLED), c->event == 0);
		CHECK_EQ(call->group_fd, c->event == 0 ? -1 : o.counters.at[i - 2].fd);
	}
	/* Who switches all on means those that are in place. */
	CHECK_EQ(counters_enable(&o.counters, &o.err), 0);
	CHECK_EQ(count_on(8192), 4);
	CHECK_EQ(count_on(65528), 0);
	CHECK_EQ(deeper_take_over(&o.counters, false, &o.err), 0);
	CHECK_EQ(count_on(8192), 0);
	CHECK_EQ(count_on(65528), 4);
	CHECK_EQ(count_on(0), 2);
	CHECK(!deeper_is_there(&o.counters));
	CHECK_EQ(counters_disable(&o.counters, &o.err), 0);
	CHECK_EQ(counters_enable(&o.counters, &o.err), 0);
	CHECK_EQ(count_on(8192), 0);
	CHECK_EQ(count_on(65528), 4);
	opening_fini(&o);
}

TEST(deeper_counters_that_take_over_while_all_is_off_stay_off)
{
	struct opening o;

	opening_init(&o, 1, one_thread);
	add_stacks(&o);
	check_opens(&o);
	CHECK_EQ(deeper_open(&o.events, &o.counters, 65528, &o.err), 0);
	CHECK_EQ(deeper_take_over(&o.counters, true, &o.err), 0);
	CHECK_EQ(count_on(8192) + count_on(65528) + count_on(0), 0);
	CHECK_EQ(counters_enable(&o.counters, &o.err), 0);
	CHECK_EQ(count_on(8192), 0);
	CHECK_EQ(count_on(65528), 2);
	opening_fini(&o);
}

TEST(deeper_counters_that_cannot_be_opened_leave_all_as_it_was)
{
	struct opening o;

	opening_init(&o, 2, one_thread);
	add_stacks(&o);
	check_opens(&o);
	kernel.calls_max = 8;
	CHECK(deeper_open(&o.events, &o.counters, 65528, &o.err) < 0);
	CHECK_EQ(o.counters.n, 6);
	CHECK_EQ(o.events.at[0].n_ids, 2);
	CHECK(!deeper_is_there(&o.counters));
	for (size_t i = 6; i < kernel.n; i++)
		CHECK(kernel.calls[i].fd < 0 || fcntl(kernel.calls[i].fd, F_GETFD) < 0);
	opening_fini(&o);
}

/* ---- opened again ---- */

TEST(counting_goes_on_with_a_cpu_that_came_back_and_counts_nothing_twice)
{
	const struct counting_options options = {.starts_off = true};
	struct opening o;
	struct counting c;

	opening_init(&o, 2, NULL);
	add_clock(&o);
	CHECK_EQ(counting_open(&c, &o.events, &o.target, &options, &o.said.log, &o.err), 0);
	CHECK_EQ(c.counters.n, 2);
	counting_read(&c);
	CHECK_EQ(c.readings[1].value, 7);
	/* It has gone again meanwhile: what the old counter holds is all there is. */
	kernel.always = ENODEV;
	CHECK_EQ(counting_reopen_cpu(&c, 1, false), 1);
	lseek(c.counters.at[1].fd, 0, SEEK_SET);
	counting_read(&c);
	CHECK_EQ(c.readings[1].value, 7);
	/* A new counter begins at 0; here at 7. */
	kernel.always = 0;
	CHECK_EQ(counting_reopen_cpu(&c, 1, false), 0);
	lseek(c.counters.at[1].fd, 0, SEEK_SET);
	counting_read(&c);
	CHECK_EQ(c.readings[1].value, 14);
	counting_close(&c);
	opening_fini(&o);
}

TEST(counting_opens_a_cpus_counters_again_in_their_group_and_with_their_filter)
{
	const struct counting_options options = {.starts_off = true};
	struct opening o;
	struct counting c;
	struct event *e;

	opening_init(&o, 2, NULL);
	add_clock(&o)->n_members = 2;
	e = add(&o, PERF_TYPE_TRACEPOINT, 1, "sched:sched_switch");
	e->leader = 0;
	e->filter = "prev_pid == 1";
	CHECK_EQ(counting_open(&c, &o.events, &o.target, &options, &o.said.log, &o.err), 0);
	CHECK_EQ(kernel.n, 4);
	CHECK_EQ(kernel.n_filters, 2);
	CHECK_EQ(counting_reopen_cpu(&c, 1, false), 0);
	CHECK_EQ(kernel.n, 6);
	CHECK_EQ(kernel.calls[4].group_fd, -1);
	/* The leader's number, which is the new leader's by now. */
	CHECK_EQ(kernel.calls[5].group_fd, c.counters.at[1].fd);
	CHECK_EQ(kernel.calls[5].cpu, 1);
	CHECK_EQ(kernel.n_filters, 3);
	CHECK_STR(kernel.filter, "prev_pid == 1");
	kernel.filter_sys = EINVAL;
	CHECK_EQ(counting_reopen_cpu(&c, 1, false), 1);
	counting_close(&c);
	opening_fini(&o);
}

TEST(counting_opens_a_cpus_counters_again_for_their_cgroup)
{
	const struct counting_options options = {.starts_off = true};
	struct opening o;
	struct counting c;
	int fd;

	opening_init(&o, 2, NULL);
	if (cgroup_open("/", &fd, &o.err))
		SKIP("%s", o.err.msg);
	close(fd);
	add_clock(&o)->cgroup = "/";
	CHECK_EQ(counting_open(&c, &o.events, &o.target, &options, &o.said.log, &o.err), 0);
	CHECK_EQ(counting_reopen_cpu(&c, 1, false), 0);
	CHECK_EQ(kernel.n, 3);
	CHECK_EQ(kernel.calls[2].cpu, 1);
	CHECK_EQ(kernel.calls[2].flags, PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
	CHECK(kernel.calls[2].pid >= 0);
	counting_close(&c);
	opening_fini(&o);
}

/* ---- events that count: what cannot be opened is left out ---- */

enum { COUNTED_MAX = 8 };

struct counted {
	struct opening o;
	struct err why[COUNTED_MAX];
};

static void counted_init(struct counted *c, size_t n_cpus, const pid_t *tids)
{
	memset(c->why, 0, sizeof(c->why));
	opening_init(&c->o, n_cpus, tids);
}

/* As collect/open/counting completes an attr; `leader` is a position. */
static struct event *add_counted(struct counted *c, u32 type, u64 config, const char *name,
	u32 leader)
{
	const struct event_attr attr = {.type = type,
		.size = ATTR_SIZE_VER7,
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
	struct event_list *events = &c->o.events;
	u32 i = events->n;
	struct event *e = event_add(events, &attr, name);

	e->attr.flags = ATTR_INHERIT;
	if (leader == i) {
		e->attr.flags |= ATTR_DISABLED | ATTR_ENABLE_ON_EXEC;
		return e;
	}
	e->leader = leader;
	e->n_members = 0;
	events->at[leader].n_members++;
	for (u32 k = leader; k <= i; k++)
		events->at[k].attr.read_format |= PERF_FORMAT_GROUP;
	return e;
}

static void add_hardware(struct counted *c, u64 config, const char *name, u32 leader)
{
	add_counted(c, PERF_TYPE_HARDWARE, config, name, leader);
}

static int go_counted(struct counted *c)
{
	struct opening *o = &c->o;

	return open_possible(&o->events, &o->target, &o->counters, c->why, &o->said.log, &o->err);
}

static void check_counted(struct counted *c)
{
	if (go_counted(c))
		test_failed(__FILE__, __LINE__, "%s\n%s", c->o.err.msg, str_text(&c->o.said.text));
}

static size_t n_of(const struct counted *c, u32 event)
{
	size_t n = 0;

	vec_each(counter, &c->o.counters)
		n += counter->event == event;
	return n;
}

/* The descriptors that are still open are those of the counters, no more. */
static void check_nothing_leaks(const struct counted *c)
{
	size_t n = 0;

	for (size_t i = 0; i < kernel.n; i++) {
		bool is_counter = false;

		vec_each(counter, &c->o.counters)
			is_counter |= counter->fd == kernel.calls[i].fd;
		n += is_open(i) && !is_counter;
	}
	CHECK_EQ(n, 0);
}

/* How the counter of an event was opened, on the first CPU and thread. */
static const struct call *call_of(const struct counted *c, u32 event)
{
	vec_each(counter, &c->o.counters)
		for (size_t i = 0; counter->event == event && i < kernel.n; i++)
			if (kernel.calls[i].fd == counter->fd && is_open(i))
				return &kernel.calls[i];
	test_failed(__FILE__, __LINE__, "event %u has no counter", event);
}

TEST(open_possible_leaves_out_what_cannot_be_opened_and_keeps_the_reason)
{
	struct counted c;

	counted_init(&c, 2, NULL);
	kernel.has_no_pmu = ENOENT;
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock", 0);
	add_hardware(&c, PERF_COUNT_HW_CPU_CYCLES, "cycles", 1);
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults", 2);
	check_counted(&c);
	CHECK_EQ(n_of(&c, 0), 2);
	CHECK_EQ(n_of(&c, 1), 0);
	CHECK_EQ(n_of(&c, 2), 2);
	CHECK_EQ(c.why[0].code, 0);
	CHECK_EQ(c.why[1].code, ERR_UNSUPPORTED);
	/* What stands in parentheses depends on the machine that runs the test. */
	CHECK_HAS(c.why[1].msg, "opening 'cycles': this machine has no such hardware counter");
	CHECK_HAS(c.why[1].msg,
		"'cpu-clock', 'task-clock' and 'page-faults' work everywhere; 'pace doctor' says more");
	CHECK_EQ(c.why[2].code, 0);
	/* No timer counts cycles, and nobody wants to hear which rungs were tried. */
	CHECK_STR(c.o.events.at[1].name, "cycles");
	CHECK_STR(str_text(&c.o.said.text), "");
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_is_no_failure_when_nothing_at_all_could_be_opened)
{
	struct counted c;

	counted_init(&c, 2, one_thread);
	kernel.always = ENOENT;
	add_hardware(&c, PERF_COUNT_HW_CPU_CYCLES, "cycles", 0);
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults", 1);
	check_counted(&c);
	CHECK_EQ(c.o.counters.n, 0);
	CHECK_EQ(c.why[0].code, ERR_UNSUPPORTED);
	CHECK_STR(c.why[1].msg, "opening 'page-faults': this kernel does not have it");
	opening_fini(&c.o);
}

TEST(open_possible_lets_counters_follow_their_tasks)
{
	struct counted c;

	counted_init(&c, 3, two_threads);
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock", 0);
	check_counted(&c);
	CHECK_EQ(kernel.n, 2);
	CHECK_EQ(kernel.calls[0].cpu, -1);
	CHECK_EQ(kernel.calls[0].pid, 101);
	CHECK_EQ(kernel.calls[1].cpu, -1);
	CHECK_EQ(kernel.calls[1].pid, 102);
	opening_fini(&c.o);
}

TEST(open_possible_counts_tasks_only_on_the_cpus_of_a_list)
{
	struct counted c;

	counted_init(&c, 2, one_thread);
	c.o.target.has_cpu_list = true;
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock", 0);
	check_counted(&c);
	CHECK_EQ(kernel.n, 2);
	CHECK_EQ(kernel.calls[0].cpu, 0);
	CHECK_EQ(kernel.calls[1].cpu, 1);
	CHECK_EQ(kernel.calls[1].pid, 101);
	opening_fini(&c.o);
}

TEST(open_possible_opens_what_knows_no_tasks_once_on_each_of_its_cpus)
{
	struct counted c;
	struct event *e;

	counted_init(&c, 4, two_threads);
	e = add_counted(&c, 11, 2, "power/energy-pkg/", 0);
	e->wishes |= EVENT_NO_TASKS;
	vec_add(&e->cpus, (u32)2);
	check_counted(&c);
	CHECK_EQ(kernel.n, 1);
	CHECK_EQ(kernel.calls[0].pid, -1);
	CHECK_EQ(kernel.calls[0].cpu, 2);
	opening_fini(&c.o);
}

TEST(open_possible_lets_the_next_member_lead_when_a_leader_is_refused)
{
	struct counted c;

	counted_init(&c, 2, NULL);
	kernel.refuses[0].config = PERF_COUNT_HW_CPU_CYCLES;
	kernel.refuses[0].sys = ENOENT;
	kernel.refuses[1].config = PERF_COUNT_HW_INSTRUCTIONS;
	kernel.refuses[1].sys = EOPNOTSUPP;
	add_hardware(&c, PERF_COUNT_HW_CPU_CYCLES, "cycles", 0);
	add_hardware(&c, PERF_COUNT_HW_INSTRUCTIONS, "instructions", 0);
	add_hardware(&c, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches", 0);
	add_hardware(&c, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses", 0);
	c.o.events.at[0].attr.flags |= ATTR_PINNED;
	check_counted(&c);
	CHECK(c.why[0].code && c.why[1].code && !c.why[2].code && !c.why[3].code);
	CHECK_STR(c.why[1].msg,
		"opening 'instructions': this PMU cannot do it; 'cpu-clock', 'task-clock' and 'page-faults' work everywhere");
	CHECK_EQ(c.o.events.at[2].leader, 2);
	CHECK_EQ(c.o.events.at[2].n_members, 2);
	CHECK_EQ(c.o.events.at[3].leader, 2);
	/* Who leads is switched for all, and stays on the PMU if that was asked for. */
	CHECK_EQ(call_of(&c, 2)->attr.flags,
		ATTR_INHERIT | ATTR_DISABLED | ATTR_ENABLE_ON_EXEC | ATTR_PINNED);
	CHECK_EQ(call_of(&c, 3)->attr.flags, ATTR_INHERIT);
	CHECK_EQ(call_of(&c, 2)->group_fd, -1);
	CHECK_EQ(call_of(&c, 3)->group_fd, call_of(&c, 2)->fd);
	CHECK(call_of(&c, 3)->attr.read_format & PERF_FORMAT_GROUP);
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_still_reads_a_group_at_once_whose_leader_was_invalid)
{
	struct counted c;

	/* EINVAL is also what kernels before 4.13 say to a group that is read at once. */
	counted_init(&c, 1, one_thread);
	kernel.refuses[0].config = PERF_COUNT_HW_CPU_CYCLES;
	kernel.refuses[0].sys = EINVAL;
	add_hardware(&c, PERF_COUNT_HW_CPU_CYCLES, "cycles", 0);
	add_hardware(&c, PERF_COUNT_HW_INSTRUCTIONS, "instructions", 0);
	add_hardware(&c, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches", 0);
	check_counted(&c);
	CHECK(c.why[0].code && !c.why[1].code && !c.why[2].code);
	CHECK(call_of(&c, 1)->attr.read_format & PERF_FORMAT_GROUP);
	CHECK(call_of(&c, 2)->attr.read_format & PERF_FORMAT_GROUP);
	opening_fini(&c.o);
}

TEST(open_possible_leaves_out_a_member_and_keeps_its_group)
{
	struct counted c;

	counted_init(&c, 1, two_threads);
	kernel.refuses[0].config = PERF_COUNT_HW_INSTRUCTIONS;
	kernel.refuses[0].sys = ENOENT;
	add_hardware(&c, PERF_COUNT_HW_CPU_CYCLES, "cycles", 0);
	add_hardware(&c, PERF_COUNT_HW_INSTRUCTIONS, "instructions", 0);
	add_hardware(&c, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches", 0);
	check_counted(&c);
	CHECK(!c.why[0].code && c.why[1].code && !c.why[2].code);
	CHECK_EQ(n_of(&c, 0), 2);
	CHECK_EQ(n_of(&c, 1), 0);
	CHECK_EQ(n_of(&c, 2), 2);
	CHECK_EQ(call_of(&c, 2)->group_fd, call_of(&c, 0)->fd);
	CHECK_STR(str_text(&c.o.said.text), "");
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

static void add_three(struct counted *c)
{
	add_hardware(c, PERF_COUNT_HW_CPU_CYCLES, "cycles", 0);
	add_hardware(c, PERF_COUNT_HW_INSTRUCTIONS, "instructions", 0);
	add_hardware(c, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches", 0);
}

TEST(open_possible_opens_a_weak_group_one_by_one_if_it_does_not_fit)
{
	struct counted c;

	counted_init(&c, 2, NULL);
	kernel.group_max = 2;
	add_three(&c);
	c.o.events.at[0].wishes |= EVENT_WEAK_GROUP;
	check_counted(&c);
	for (u32 i = 0; i < 3; i++) {
		CHECK_EQ(c.why[i].code, 0);
		CHECK_EQ(n_of(&c, i), 2);
		CHECK_EQ(c.o.events.at[i].leader, i);
		CHECK_EQ(c.o.events.at[i].n_members, 1);
		CHECK_EQ(call_of(&c, i)->group_fd, -1);
		CHECK_EQ(call_of(&c, i)->attr.flags,
			ATTR_INHERIT | ATTR_DISABLED | ATTR_ENABLE_ON_EXEC);
		CHECK(!(call_of(&c, i)->attr.read_format & PERF_FORMAT_GROUP));
	}
	CHECK_STR(str_text(&c.o.said.text),
		"note: the group of 'cycles' does not fit on the PMU: its 3 events count one by one\n");
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_takes_up_again_what_a_weak_group_had_to_leave_out)
{
	struct counted c;

	/* cycles does not exist; the other three do not fit together. */
	counted_init(&c, 1, one_thread);
	kernel.group_max = 2;
	kernel.refuses[0].config = PERF_COUNT_HW_CPU_CYCLES;
	kernel.refuses[0].sys = ENOENT;
	add_three(&c);
	add_hardware(&c, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses", 0);
	for (u32 i = 0; i < 4; i++)
		c.o.events.at[i].wishes |= EVENT_WEAK_GROUP;
	check_counted(&c);
	CHECK_EQ(c.why[0].code, ERR_UNSUPPORTED);
	for (u32 i = 1; i < 4; i++) {
		CHECK_EQ(c.why[i].code, 0);
		CHECK_EQ(n_of(&c, i), 1);
		CHECK_EQ(call_of(&c, i)->group_fd, -1);
	}
	CHECK_HAS(str_text(&c.o.said.text),
		"the group of 'instructions' does not fit on the PMU: its 3 events");
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_says_how_a_group_that_does_not_fit_can_count)
{
	struct counted c;

	counted_init(&c, 1, one_thread);
	kernel.group_max = 2;
	add_three(&c);
	check_counted(&c);
	CHECK(!c.why[0].code && !c.why[1].code);
	CHECK_EQ(c.why[2].code, ERR_UNSUPPORTED);
	CHECK_STR(c.why[2].msg,
		"event 'branches' does not fit on the PMU beside the others of its group: ':W' after the "
		"group lets them count one by one");
	CHECK_EQ(call_of(&c, 1)->group_fd, call_of(&c, 0)->fd);
	CHECK_STR(str_text(&c.o.said.text), "");
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_does_not_break_up_a_weak_group_for_an_event_that_is_not_there)
{
	struct counted c;

	counted_init(&c, 1, one_thread);
	kernel.refuses[0].config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	kernel.refuses[0].sys = ENOENT;
	add_three(&c);
	c.o.events.at[0].wishes |= EVENT_WEAK_GROUP;
	check_counted(&c);
	CHECK(!c.why[0].code && !c.why[1].code && c.why[2].code);
	CHECK_EQ(call_of(&c, 1)->group_fd, call_of(&c, 0)->fd);
	CHECK_STR(str_text(&c.o.said.text), "");
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_reads_members_one_by_one_where_old_kernels_cannot_read_a_group_of_inherited_events)
{
	struct counted c;

	counted_init(&c, 1, one_thread);
	kernel.is_before_4_13 = true;
	add_three(&c);
	check_counted(&c);
	for (u32 i = 0; i < 3; i++) {
		CHECK_EQ(c.why[i].code, 0);
		CHECK(!(call_of(&c, i)->attr.read_format & PERF_FORMAT_GROUP));
		CHECK(call_of(&c, i)->attr.flags & ATTR_INHERIT);
	}
	CHECK_EQ(call_of(&c, 2)->group_fd, call_of(&c, 0)->fd);
	opening_fini(&c.o);
}

TEST(open_possible_fails_as_a_whole_when_files_run_out)
{
	struct counted c;

	counted_init(&c, 2, NULL);
	kernel.calls_max = 3;
	add_three(&c);
	CHECK_EQ(go_counted(&c), ERR_LIMIT);
	CHECK_EQ(c.o.counters.n, 0);
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_leaves_out_an_event_whose_filter_is_not_understood)
{
	struct counted c;

	counted_init(&c, 2, NULL);
	kernel.filter_sys = EINVAL;
	add_counted(&c, PERF_TYPE_TRACEPOINT, 314, "sched:sched_switch", 0)->filter = "prev_pdi==1";
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock", 1);
	check_counted(&c);
	CHECK_EQ(c.why[0].code, ERR_INVAL);
	CHECK_HAS(c.why[0].msg, "the kernel does not understand the filter 'prev_pdi==1'");
	CHECK_EQ(n_of(&c, 0), 0);
	CHECK_EQ(n_of(&c, 1), 2);
	CHECK_EQ(kernel.n_filters, 1);
	check_nothing_leaks(&c);
	opening_fini(&c.o);
}

TEST(open_possible_sets_a_filter_on_every_counter_of_its_event)
{
	struct counted c;

	counted_init(&c, 3, NULL);
	add_counted(&c, PERF_TYPE_TRACEPOINT, 314, "sched:sched_switch", 0)->filter = "prev_pid==1";
	add_counted(&c, PERF_TYPE_TRACEPOINT, 315, "sched:sched_wakeup", 1);
	check_counted(&c);
	CHECK_EQ(kernel.n_filters, 3);
	CHECK_STR(kernel.filter, "prev_pid==1");
	opening_fini(&c.o);
}

TEST(open_possible_goes_on_without_threads_that_have_ended)
{
	struct counted c;

	counted_init(&c, 1, three_threads);
	kernel.gone[0] = 102;
	add_three(&c);
	check_counted(&c);
	CHECK_EQ(n_of(&c, 0), 2);
	CHECK_EQ(n_of(&c, 2), 2);
	CHECK_EQ(c.o.counters.at[5].tid, 103);
	CHECK_EQ(c.why[0].code, 0);
	opening_fini(&c.o);
}

TEST(open_possible_says_of_each_event_that_its_process_has_ended)
{
	struct counted c;

	counted_init(&c, 1, one_thread);
	kernel.gone[0] = 101;
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock", 0);
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults", 1);
	check_counted(&c);
	CHECK_EQ(c.o.counters.n, 0);
	CHECK_EQ(c.why[0].code, ERR_NOENT);
	CHECK_STR(c.why[1].msg, "process 100 has ended");
	opening_fini(&c.o);
}

TEST(open_possible_says_once_that_only_user_space_is_counted)
{
	struct counted c;

	become_unprivileged();
	counted_init(&c, 2, two_threads);
	kernel.denies_kernel = EACCES;
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock", 0);
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-faults", 1);
	add_hardware(&c, PERF_COUNT_HW_CPU_CYCLES, "cycles:P", 2);
	check_counted(&c);
	CHECK_STR(c.o.events.at[0].name, "task-clock:u");
	CHECK_STR(c.o.events.at[2].name, "cycles:Pu");
	CHECK_EQ(c.o.counters.n, 6);
	CHECK_EQ(said_count(&c.o.said, "only user space is measured"), 1);
	opening_fini(&c.o);
}

TEST(open_possible_does_not_count_zero_of_what_only_happens_in_the_kernel)
{
	static const struct {
		u32 type;
		u64 config;
	} rows[] = {
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
		{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
		{PERF_TYPE_TRACEPOINT, 314},
	};
	struct counted c;

	become_unprivileged();
	counted_init(&c, 1, one_thread);
	kernel.denies_kernel = EACCES;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		add_counted(&c, rows[i].type, rows[i].config, "event", i);
	check_counted(&c);
	CHECK_EQ(c.o.counters.n, 0);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(c.why[i].code, ERR_PERM);
		CHECK_HAS(c.why[i].msg, "perf_event_paranoid is ");
		CHECK_STR(c.o.events.at[i].name, "event");
	}
	/* Nothing is measured in user space either, so nobody is told that. */
	CHECK_STR(str_text(&c.o.said.text), "");
	opening_fini(&c.o);
}

TEST(open_possible_says_of_the_system_what_it_needs)
{
	struct counted c;

	become_unprivileged();
	counted_init(&c, 2, NULL);
	kernel.denies_kernel = EACCES;
	add_counted(&c, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock", 0);
	check_counted(&c);
	CHECK_EQ(c.why[0].code, ERR_PERM);
	CHECK_HAS(c.why[0].msg,
		"measuring all processes (-a, -C) needs 0 or less, CAP_PERFMON or CAP_SYS_ADMIN: run");
	opening_fini(&c.o);
}
