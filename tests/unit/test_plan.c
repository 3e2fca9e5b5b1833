#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/counter/counter.h"
#include "collect/known/plan.h"
#include "event/abi.h"
#include "event/parse.h"

/*
 * A made-up PMU: this executable defines perf_event_open(2) itself. What finds no free counter can
 * be opened, but reads as the end of a file, as pinned events in error state do.
 */
static struct pmu_of_test {
	unsigned n_counters;
	bool has_fixed_cycles; /* a counter of its own for cycles */
	u64 unknown;           /* config of a hardware event that it does not have; 0: has all */
	int denies_kernel;     /* errno for events that do not exclude it */
	struct {
		int fd;
		unsigned n; /* counters taken */
		bool is_on;
	} open[256];
	unsigned n_open, n_calls;
} pmu;

static unsigned counters_taken(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pmu.n_open; i++)
		if (pmu.open[i].is_on && fcntl(pmu.open[i].fd, F_GETFD) >= 0)
			n += pmu.open[i].n;
	return n;
}

int perf_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags)
{
	bool is_hardware = attr->type == PERF_TYPE_HARDWARE;
	unsigned n =
		is_hardware && !(pmu.has_fixed_cycles && attr->config == PERF_COUNT_HW_CPU_CYCLES);
	bool fits = counters_taken() + n <= pmu.n_counters;
	int fd;

	(void)flags;
	pmu.n_calls++;
	CHECK_EQ(pid, 0);
	CHECK_EQ(cpu, -1);
	CHECK_EQ(attr->flags & (ATTR_INHERIT | ATTR_DISABLED), 0);
	CHECK_EQ(!!(attr->flags & ATTR_PINNED), group_fd < 0);
	if (pmu.denies_kernel && !(attr->flags & ATTR_EXCLUDE_KERNEL)) {
		errno = pmu.denies_kernel;
		return -1;
	}
	if (is_hardware && pmu.unknown && attr->config == pmu.unknown) {
		errno = ENOENT;
		return -1;
	}
	fd = memfd_create("counter", MFD_CLOEXEC);
	/* The number is used again: who had it before is closed. */
	for (unsigned i = 0; i < pmu.n_open; i++)
		pmu.open[i].is_on &= pmu.open[i].fd != fd;
	if (fd < 0 || write(fd, "8 bytes.", 8) != 8 || lseek(fd, 0, SEEK_SET))
		test_failed(__FILE__, __LINE__, "making a counter");
	/* A group is on the PMU as a whole or not at all: it is the leader that says so. */
	if (!fits && ftruncate(group_fd < 0 ? fd : group_fd, 0))
		test_failed(__FILE__, __LINE__, "making an error state");
	for (unsigned i = 0; i < pmu.n_open; i++)
		pmu.open[i].is_on &= fits || group_fd < 0 || pmu.open[i].fd != group_fd;
	pmu.open[pmu.n_open].fd = fd;
	pmu.open[pmu.n_open].n = n;
	pmu.open[pmu.n_open++].is_on = fits;
	return fd;
}

/* The plan of events, as text; then what becomes of it if all are open at once. */
static const char *plan_of(const char *events_text)
{
	static struct str placeless;
	static struct str text;
	const struct parse_env env = {.sysfs = "/nowhere"};
	struct event_list events = {0};
	struct plan plan;
	struct err err;

	str_clear(&text);
	pmu.n_open = pmu.n_calls = 0;
	if (parse_events(events_text, &env, &events, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	plan_make(&plan, &events);
	plan_add_text(&plan, &events, &text);
	str_clear(&placeless);
	plan_add_placeless(&plan, &events, &placeless);
	if (plan.n_passes > 1 && !plan_has_turns(&plan, &events))
		str_add(&text, "; no turns");
	if (placeless.n)
		str_addf(&text, "; no place: %s", str_text(&placeless));
	CHECK_EQ(counters_taken(), 0);
	plan_fini(&plan);
	event_list_fini(&events);
	return str_text(&text);
}

TEST(plan_has_one_pass_for_what_fits_at_once)
{
	pmu = (struct pmu_of_test){.n_counters = 4};
	CHECK_STR(plan_of("cycles,instructions,page-faults,{branches,branch-misses}"),
		"1: cycles, instructions, {branches,branch-misses}");
	/* One look is all it takes. */
	CHECK_EQ(pmu.n_calls, 4);
}

TEST(plan_sorts_what_does_not_fit_into_passes_and_keeps_groups_together)
{
	pmu = (struct pmu_of_test){.n_counters = 2};
	CHECK_STR(plan_of("cycles,{branches,branch-misses},instructions,cache-misses,task-clock"),
		"1: cycles, instructions; 2: {branches,branch-misses}; 3: cache-misses");
}

TEST(plan_counts_on_the_counters_that_some_events_have_of_their_own)
{
	pmu = (struct pmu_of_test){.n_counters = 2, .has_fixed_cycles = true};
	CHECK_STR(plan_of("cycles,branches,instructions,cache-misses"),
		"1: cycles, branches, instructions; 2: cache-misses");
}

/* The kernel gives places to pinned events first; one that finds none is never on the PMU. */
TEST(plan_puts_pinned_events_first_and_gives_them_no_turns)
{
	pmu = (struct pmu_of_test){.n_counters = 2};
	CHECK_STR(plan_of("cycles:D,branches:D"), "1: cycles:D, branches:D");
	CHECK_STR(plan_of("cycles:D,branches:D,instructions:D"),
		"1: cycles:D, branches:D; 2: instructions:D; no turns; no place: instructions:D");
	CHECK_STR(plan_of("cycles,branches,instructions:D"),
		"1: cycles, instructions:D; 2: branches");
	CHECK_STR(plan_of("cycles,{branches,branch-misses}:D,instructions:D"),
		"1: {branches,branch-misses}; 2: cycles, instructions:D; no turns; "
		"no place: cycles, instructions:D");
}

TEST(plan_gives_no_room_to_events_that_the_machine_does_not_have)
{
	pmu = (struct pmu_of_test){.n_counters = 2, .unknown = PERF_COUNT_HW_BUS_CYCLES};
	CHECK_STR(plan_of("bus-cycles,branches,instructions"),
		"1: bus-cycles, branches, instructions");
}

TEST(plan_of_who_may_not_count_the_kernel_tries_user_space)
{
	pmu = (struct pmu_of_test){.n_counters = 1, .denies_kernel = EACCES};
	CHECK_STR(plan_of("branches,instructions"), "1: branches; 2: instructions");
}

TEST(plan_of_software_alone_asks_the_kernel_nothing)
{
	pmu = (struct pmu_of_test){.n_counters = 1};
	CHECK_STR(plan_of("task-clock,page-faults,{cs,faults}"), "1: ");
	CHECK_EQ(pmu.n_calls, 0);
}
