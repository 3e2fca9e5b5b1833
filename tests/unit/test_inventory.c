#include "collect/known/inventory.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "collect/counter/counter.h"
#include "event/abi.h"

#include "unit/fake_sysfs.h"
#include "unit/said.h"
#include "test.h"

/*
 * What opens, on a kernel that these tests make up: the executable defines perf_event_open(2). PMU 4
 * counts for tasks, PMU 14 only for CPUs, hardware events are not there.
 */

static struct kernel {
	bool denies_kernel, denies_all;
	int n_calls, n_tracepoints;
	struct event_attr last;
	pid_t pid;
	int cpu;
} kernel;

int perf_event_open(const struct event_attr *attr, pid_t pid, int cpu, int group_fd,
	unsigned long flags)
{
	kernel.n_calls++;
	kernel.n_tracepoints += attr->type == PERF_TYPE_TRACEPOINT;
	kernel.last = *attr;
	kernel.pid = pid;
	kernel.cpu = cpu;
	errno = attr->type == PERF_TYPE_HARDWARE                               ? ENOENT
		: attr->type == 14 && pid >= 0                                 ? EINVAL
		: kernel.denies_all                                            ? EACCES
		: kernel.denies_kernel && !(attr->flags & ATTR_EXCLUDE_KERNEL) ? EACCES
									       : 0;
	CHECK(group_fd == -1 && flags & PERF_FLAG_FD_CLOEXEC);
	CHECK(attr->flags & ATTR_DISABLED && attr->size >= ATTR_SIZE_VER0);
	return errno ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void make_machine(struct inventory_options *options)
{
	fake_sysfs();
	fake_tracefs();
	options->sysfs = test_path("sys");
	options->tracefs = test_path("tracing");
}

static struct inventory *inventory_of(size_t n_words, char *const *words)
{
	static struct inventory m;
	struct inventory_options options = {.n_words = n_words, .words = words, .has_all = true};
	struct err err;

	setenv("PACE_CPUID", "none", 1);
	make_machine(&options);
	memset(&kernel, 0, sizeof(kernel));
	if (inventory_open(&m, &options, NULL, &err) || inventory_choose(&m, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	return &m;
}

static const struct inventory_item *find(const struct inventory *m, const char *name)
{
	vec_each(item, &m->items)
		if (!strcmp(item->name, name))
			return item;
	test_failed(__FILE__, __LINE__, "'%s' is not on the menu", name);
}

TEST(inventory_tries_each_event_for_itself)
{
	static char *words[] = {"edge-cycles"};
	struct inventory *m = inventory_of(1, words);
	const struct inventory_item *item = find(m, "cpu/edge-cycles/");

	inventory_try(m);
	CHECK_EQ(item->opens, INVENTORY_OPENS);
	CHECK(!item->reason);
	CHECK_STR(item->alias, "edge-cycles");
	CHECK_STR(item->terms, "event=0x3c,edge");
	CHECK_EQ(item->attr.type, 4);
	CHECK_EQ(item->attr.config, 0x4003c);
	CHECK_EQ(kernel.n_calls, 1);
	CHECK(kernel.pid == 0 && kernel.cpu == -1);
	inventory_close(m);
}

TEST(inventory_tries_events_that_are_of_no_task_on_a_cpu_of_their_pmu)
{
	static char *words[] = {"cas_count_read"};
	struct inventory *m = inventory_of(1, words);
	const struct inventory_item *item = find(m, "uncore_imc_0/cas_count_read/");

	inventory_try(m);
	CHECK_EQ(item->opens, INVENTORY_OPENS);
	CHECK(item->scale == 6.103515625e-5);
	CHECK_STR(item->unit, "MiB");
	CHECK(kernel.pid == -1 && kernel.cpu == 0);
	inventory_close(m);
}

TEST(inventory_says_why_an_event_does_not_open)
{
	static char *words[] = {"hw"};
	struct inventory *m = inventory_of(1, words);

	inventory_try(m);
	CHECK(m->items.n >= 10);
	vec_each(item, &m->items) {
		CHECK_EQ(item->opens, INVENTORY_REFUSED);
		CHECK_HAS(item->reason, "this machine has no such hardware counter");
	}
	inventory_close(m);
}

TEST(inventory_tells_what_opens_for_user_space_only)
{
	static char *words[] = {"page-faults"};
	struct inventory *m = inventory_of(1, words);

	kernel.denies_kernel = true;
	inventory_try(m);
	CHECK_EQ(find(m, "page-faults")->opens, INVENTORY_OPENS_USER);
	CHECK_HAS(find(m, "page-faults")->reason, "opening 'page-faults': access denied");
	/* The encoding is what was asked for, not what was let open. */
	CHECK_EQ(find(m, "page-faults")->attr.flags, 0);
	CHECK(kernel.last.flags & ATTR_EXCLUDE_KERNEL);
	inventory_close(m);

	m = inventory_of(1, words);
	kernel.denies_all = true;
	inventory_try(m);
	CHECK_EQ(find(m, "page-faults")->opens, INVENTORY_REFUSED);
	inventory_close(m);
}

TEST(inventory_opens_one_tracepoint_for_all)
{
	static char *words[] = {"tracepoint"};
	struct inventory *m = inventory_of(1, words);

	CHECK_EQ(m->n_tracepoints, 4);
	CHECK_EQ(m->n_systems, 3);
	inventory_try(m);
	CHECK_EQ(kernel.n_tracepoints, 1);
	CHECK_EQ(find(m, "sched:sched_switch")->attr.config, 314);
	CHECK_EQ(find(m, "sched:sched_wakeup")->attr.config, 315);
	CHECK_EQ(find(m, "sched:sched_wakeup")->opens, INVENTORY_OPENS);
	CHECK_EQ(find(m, "syscalls:sys_enter_openat")->opens, INVENTORY_OPENS);
	/* Without an id there is nothing to open. */
	CHECK_EQ(find(m, "broken:no_number")->opens, INVENTORY_UNTRIED);
	CHECK(!find(m, "broken:no_number")->has_attr);
	CHECK(find(m, "broken:no_number")->reason);
	inventory_close(m);
}

TEST(inventory_opens_no_forms)
{
	static char *words[] = {"raw", "breakpoint"};
	struct inventory *m = inventory_of(2, words);

	inventory_try(m);
	CHECK_EQ(kernel.n_calls, 0);
	CHECK(m->items.n > 3);
	vec_each(item, &m->items) {
		CHECK_EQ(item->opens, INVENTORY_UNTRIED);
		CHECK_STR(item->reason, "a form, not an event");
	}
	inventory_close(m);
}

/* What -e refuses has a reason, not an encoding. */
TEST(inventory_keeps_events_that_the_parser_does_not_take)
{
	static char *words[] = {"too-wide"};
	struct inventory *m = inventory_of(1, words);
	const struct inventory_item *item = find(m, "cpu/too-wide/");

	inventory_try(m);
	CHECK(!item->has_attr);
	CHECK_EQ(item->opens, INVENTORY_UNTRIED);
	CHECK_HAS(item->reason, "0x13c does not fit into 8 bits");
	inventory_close(m);
}

TEST(inventory_of_a_copy_opens_nothing)
{
	struct inventory_options options = {.is_copy = true};
	struct inventory m;
	struct err err;

	setenv("PACE_CPUID", "none", 1);
	memset(&kernel, 0, sizeof(kernel));
	make_machine(&options);
	options.tracefs = test_path("no-tracing");
	CHECK_EQ(inventory_open(&m, &options, NULL, &err), 0);
	CHECK_EQ(inventory_choose(&m, &err), 0);
	CHECK_EQ(m.n_tracepoints, 0);
	CHECK(!m.has_hidden_tracepoints);
	inventory_try(&m);
	CHECK_EQ(kernel.n_calls, 0);
	CHECK_STR(find(&m, "cycles")->reason, "of another machine");
	inventory_close(&m);
}

static void check_chosen(size_t n_words, char *const *words, const char *expected)
{
	struct inventory *m = inventory_of(n_words, words);
	struct str names = {0};

	vec_each(item, &m->items)
		str_addf(&names, "%s%s", names.n ? " " : "", item->name);
	CHECK_STR(str_text(&names), expected);
	str_fini(&names);
	inventory_close(m);
}

TEST(inventory_words_choose)
{
	check_chosen(1, (char *[]){"sched"}, "sched:sched_switch sched:sched_wakeup");
	check_chosen(2, (char *[]){"sched", "wake"}, "sched:sched_wakeup");
	check_chosen(2, (char *[]){"wake", "SCHED_"}, "sched:sched_wakeup");
	check_chosen(1, (char *[]){"*:sys_*"}, "syscalls:sys_enter_openat");
	check_chosen(2, (char *[]){"mem-l*", "*:sys_*"},
		"cpu/mem-loads/ syscalls:sys_enter_openat");
	check_chosen(1, (char *[]){"breakpoint"}, "mem:ADDRESS[/LENGTH][:rwx]");
	check_chosen(2, (char *[]){"cs", "Instructions"}, "instructions context-switches");
	check_chosen(1, (char *[]){"split"}, "split/TERM=VALUE,.../");
	check_chosen(2, (char *[]){"cpu_atom", "only"}, "cpu_atom/atom-only/");
}

static void check_nothing(size_t n_words, char *const *words, const char *message)
{
	struct inventory_options options = {.n_words = n_words, .words = words, .is_copy = true};
	struct inventory m;
	struct err err;

	setenv("PACE_CPUID", "none", 1);
	make_machine(&options);
	CHECK_EQ(inventory_open(&m, &options, NULL, &err), 0);
	CHECK_EQ(inventory_choose(&m, &err), ERR_NOENT);
	CHECK_STR(err.msg, message);
	CHECK_EQ(m.items.n, 0);
	inventory_close(&m);
}

TEST(inventory_names_what_a_word_may_have_meant)
{
	check_nothing(1, (char *[]){"cyclse"},
		"no event is called or described as 'cyclse'; did you mean 'cycles'?");
	check_nothing(1, (char *[]){"sched:sched_swich"},
		"no event is called or described as 'sched:sched_swich'; did you mean 'sched:sched_switch'?");
	check_nothing(1, (char *[]){"nix*"}, "no event is called 'nix*'");
	check_nothing(2, (char *[]){"page", "retired"},
		"no event fits all the words 'page' 'retired'");
	check_nothing(2, (char *[]){"msr", "hardwrae"},
		"no event is called or described as 'msr'; no event is called or described as 'hardwrae'; did you mean 'hardware'?");
}
