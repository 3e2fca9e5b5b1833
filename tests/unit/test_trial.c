#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/counter/counter.h"
#include "collect/known/trial.h"
#include "event/abi.h"

/*
 * Trials against kernels that these tests make up: the executable defines perf_event_open(2)
 * itself. Its counters are files in memory, whose first page is what a ring's would be.
 */

static struct kernel {
	int always;    /* errno for everything */
	int hardware;  /* errno for hardware events */
	int precise;   /* errno for a precision above precise_max */
	int branches;  /* errno */
	int stacks;    /* errno */
	int files_max; /* EMFILE from this many on; 0: never */
	unsigned precise_max;
	int counters;     /* in a group */
	u64 capabilities; /* of the ring's first page */
	int n_open, n_group;
	bool has_enabled; /* an event that was not switched off */
} kernel;

int perf_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags)
{
	struct ring_page page = {.capabilities = kernel.capabilities};
	bool is_hardware = attr->type == PERF_TYPE_HARDWARE;
	int fd = -1;

	(void)pid, (void)cpu, (void)flags;
	kernel.has_enabled |= !(attr->flags & ATTR_DISABLED);
	kernel.n_group = group_fd >= 0 ? kernel.n_group + 1 : 1;
	errno = kernel.always                             ? kernel.always
		: is_hardware && kernel.hardware          ? kernel.hardware
		: attr_precise(attr) > kernel.precise_max ? kernel.precise
		: attr->branch_sample_type                ? kernel.branches
		: attr->sample_stack_user                 ? kernel.stacks
		: kernel.n_group > kernel.counters        ? EINVAL
							  : 0;
	if (kernel.files_max && kernel.n_open >= kernel.files_max)
		errno = EMFILE;
	if (errno)
		return -1;
	fd = memfd_create("counter", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 1 << 20) ||
		pwrite(fd, &page, sizeof(page), 0) != (ssize_t)sizeof(page))
		test_failed(__FILE__, __LINE__, "making a counter: %s", strerror(errno));
	kernel.n_open++;
	return fd;
}

static struct trial trials[TRIAL_COUNT];

static struct privilege user(void)
{
	struct privilege p = {.has_perf_events = true, .has_proc = true, .paranoid = 2};

	p.site.seccomp = SITE_SECCOMP_ACTIVE;
	return p;
}

static void begin(void)
{
	kernel = (struct kernel){.counters = 6,
		.precise_max = 2,
		.precise = EOPNOTSUPP,
		.capabilities = 1 << 2};
}

static int files_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(trial_of_a_kernel_that_allows_everything_finds_what_it_can_do)
{
	struct privilege p = user();
	int before;

	begin();
	p.has_perfmon = true;
	before = files_open();
	trial_all(&p, trials);
	for (size_t i = 0; i < TRIAL_COUNT; i++) {
		/* These depend on the machine's own files. */
		if (i == TRIAL_KERNEL_NAMES || i == TRIAL_PASSES || i == TRIAL_TRACEPOINT ||
			i == TRIAL_PROBE)
			continue;
		if (!trials[i].works)
			test_failed(__FILE__, __LINE__, "%s: %s", trials[i].key, trials[i].why);
		CHECK_STR(trials[i].why, "");
		CHECK_EQ(trials[i].remedy.kind, REMEDY_NONE);
	}
	CHECK_STR(trials[TRIAL_HARDWARE].detail, "6 general counters at a time");
	CHECK_STR(trials[TRIAL_PRECISE].detail, "cycles:pp");
	/* Nothing was measured, nothing is left open. */
	CHECK(!kernel.has_enabled);
	CHECK_EQ(files_open(), before);
}

TEST(trial_behind_a_filter_blames_it_for_everything)
{
	struct privilege p = user();

	begin();
	kernel.always = EPERM;
	p.paranoid = -1;
	trial_all(&p, trials);
	for (size_t i = 0; i < TRIAL_COUNT; i++)
		CHECK(i == TRIAL_KERNEL_NAMES || !trials[i].works);
	CHECK_HAS(trials[TRIAL_COUNT_OWN].why, "yet the kernel refused: a seccomp filter");
	CHECK_EQ(trials[TRIAL_COUNT_OWN].remedy.kind, REMEDY_CONTAINER);
	CHECK_EQ(trials[TRIAL_ALL].remedy.kind, REMEDY_CONTAINER);
}

TEST(trial_without_a_pmu_gives_one_cause_for_all_that_needs_it)
{
	static const enum trial_wish need_it[] = {TRIAL_HARDWARE, TRIAL_HARDWARE_SAMPLES,
		TRIAL_PRECISE, TRIAL_BRANCHES, TRIAL_USER_READS};
	struct privilege p = user();

	begin();
	kernel.hardware = ENOENT;
	trial_all(&p, trials);
	CHECK(trials[TRIAL_COUNT_OWN].works && trials[TRIAL_SAMPLE_OWN].works);
	for (size_t i = 0; i < ARRAY_SIZE(need_it); i++) {
		CHECK(!trials[need_it[i]].works);
		CHECK_STR(trials[need_it[i]].why, trials[TRIAL_HARDWARE].why);
		CHECK_EQ(trials[need_it[i]].remedy.kind, trials[TRIAL_HARDWARE].remedy.kind);
	}
	CHECK_HAS(trials[TRIAL_HARDWARE].why, "no such hardware counter");
}

TEST(trial_tells_apart_what_a_pmu_cannot_do)
{
	struct privilege p = user();

	begin();
	kernel.precise_max = 0;
	kernel.branches = EOPNOTSUPP;
	kernel.stacks = ENOSYS;
	kernel.capabilities = 0;
	trial_all(&p, trials);
	CHECK(trials[TRIAL_HARDWARE_SAMPLES].works);
	CHECK(!trials[TRIAL_PRECISE].works);
	CHECK_HAS(trials[TRIAL_PRECISE].why, "PEBS, IBS or SPE");
	CHECK(!trials[TRIAL_BRANCHES].works);
	CHECK_HAS(trials[TRIAL_BRANCHES].why, "LBR, BRS or BRBE");
	CHECK(!trials[TRIAL_STACKS].works);
	CHECK_HAS(trials[TRIAL_STACKS].why, "CONFIG_HAVE_PERF_USER_STACK_DUMP");
	CHECK(!trials[TRIAL_USER_READS].works);
}

TEST(trial_that_runs_out_of_files_says_so_and_leaves_none_open)
{
	struct privilege p = user();
	int before;

	begin();
	kernel.files_max = 1;
	before = files_open();
	trial_all(&p, trials);
	CHECK(trials[TRIAL_COUNT_OWN].works);
	CHECK(!trials[TRIAL_SAMPLE_OWN].works);
	CHECK_HAS(trials[TRIAL_SAMPLE_OWN].why, "files are open, which is the limit");
	CHECK_EQ(files_open(), before);
}

TEST(trial_says_what_sharing_a_level_2_machine_allows)
{
	struct privilege p = user();

	begin();
	kernel.always = EACCES;
	trial_all(&p, trials);
	CHECK_HAS(trials[TRIAL_KERNEL].why, "measuring the kernel needs 1 or less");
	CHECK_EQ(trials[TRIAL_KERNEL].remedy.kind, REMEDY_LEVEL);
	CHECK_EQ(trials[TRIAL_KERNEL].remedy.value, 1);
	CHECK_HAS(trials[TRIAL_ALL].why, "measuring all processes (-a, -C) needs 0 or less");
	CHECK_EQ(trials[TRIAL_ALL].remedy.value, 0);
	CHECK_EQ(trials[TRIAL_STRANGER].remedy.kind, REMEDY_CAPABILITIES);
}
