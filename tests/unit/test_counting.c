#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/open/counting.h"
#include "event/abi.h"
#include "unit/freshpages.h"
#include "unit/said.h"

/* Software events of this very thread: every kernel that has perf events has them. */

struct own {
	struct event_list events;
	struct target target;
	struct counting counting;
	struct said said;
};

static void own_init(struct own *o)
{
	memset(o, 0, sizeof(*o));
	said_init(&o->said, LOG_DEBUG);
	vec_add(&o->target.threads, ((struct target_thread){getpid(), getpid()}));
}

static void own_fini(struct own *o)
{
	counting_close(&o->counting);
	event_list_fini(&o->events);
	target_fini(&o->target);
	said_fini(&o->said);
}

/* An event as the parser makes it, with a period that a counter does not want. */
static struct event *add(struct own *o, u64 config, const char *name)
{
	const struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = config,
		.sample_period = 4000,
		.flags = ATTR_FREQ | ATTR_EXCLUDE_KERNEL};

	return event_add(&o->events, &attr, name);
}

static void join(struct own *o, u32 n)
{
	u32 leader = o->events.n - n;

	for (u32 i = leader; i < o->events.n; i++) {
		o->events.at[i].leader = leader;
		o->events.at[i].n_members = i == leader ? n : 0;
	}
}

static void open_own(struct own *o, const struct counting_options *options)
{
	struct err err;

	if (counting_open(&o->counting, &o->events, &o->target, options, &o->said.log, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	if (o->counting.why[0].code == ERR_PERM)
		SKIP("%s", o->counting.why[0].msg);
}

static void enable(struct own *o)
{
	struct err err;

	CHECK_EQ(counting_enable(&o->counting, &err), 0);
}

static void disable(struct own *o)
{
	struct err err;

	CHECK_EQ(counting_disable(&o->counting, &err), 0);
}

/* The stack may grow by a page or two besides. */
static void check_between(u64 value, u64 from, u64 to)
{
	if (value < from || value >= to)
		test_failed(__FILE__, __LINE__, "%llu is not in [%llu, %llu)",
			(unsigned long long)value, (unsigned long long)from,
			(unsigned long long)to);
}

static const struct counting_options plain;

TEST(counting_counts_between_enable_and_disable_and_not_outside)
{
	const struct counting_options off = {.starts_off = true};
	struct own o;

	own_init(&o);
	add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	open_own(&o, &off);
	freshpages_touch(100);
	enable(&o);
	freshpages_touch(1000);
	disable(&o);
	freshpages_touch(10000);
	counting_read(&o.counting);
	check_between(o.counting.readings[0].value, 1000, 1010);
	CHECK(!o.counting.readings[0].has_failed);
	CHECK(o.counting.readings[0].enabled_ns > 0);
	CHECK_EQ(o.counting.readings[0].enabled_ns, o.counting.readings[0].running_ns);
	own_fini(&o);
}

TEST(counting_reads_a_group_at_one_moment)
{
	struct own o;

	own_init(&o);
	add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	add(&o, PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults");
	add(&o, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	join(&o, 3);
	open_own(&o, &plain);
	enable(&o);
	for (int i = 0; i < 50; i++) {
		const struct reading *r = o.counting.readings;

		freshpages_touch(10);
		counting_read(&o.counting);
		CHECK_EQ(r[0].value, r[1].value);
		CHECK_EQ(r[0].enabled_ns, r[1].enabled_ns);
		CHECK_EQ(r[0].enabled_ns, r[2].enabled_ns);
		CHECK_EQ(r[0].running_ns, r[2].running_ns);
		CHECK(r[2].value > 0);
	}
	own_fini(&o);
}

TEST(counting_gives_each_member_its_own_value_when_one_between_them_was_refused)
{
	struct own o;

	own_init(&o);
	add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	add(&o, 4711, "no-such-event");
	add(&o, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	join(&o, 3);
	open_own(&o, &plain);
	CHECK_EQ(o.counting.why[1].code, ERR_UNSUPPORTED);
	CHECK_EQ(o.counting.counters.n, 2);
	CHECK(o.counting.comes_along[1]);
	enable(&o);
	freshpages_touch(500);
	disable(&o);
	counting_read(&o.counting);
	check_between(o.counting.readings[0].value, 500, 510);
	/* ns: 500 faults take longer than 10 us. */
	CHECK(o.counting.readings[1].value > 10000);
	own_fini(&o);
}

TEST(counting_counts_what_is_left_of_a_group_whose_leader_was_refused)
{
	struct own o;

	own_init(&o);
	add(&o, 4711, "no-such-event");
	add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	add(&o, PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults");
	join(&o, 3);
	open_own(&o, &plain);
	enable(&o);
	freshpages_touch(500);
	disable(&o);
	counting_read(&o.counting);
	CHECK_EQ(o.counting.counters.n, 2);
	check_between(o.counting.readings[0].value, 500, 510);
	CHECK_EQ(o.counting.readings[0].value, o.counting.readings[1].value);
	CHECK_EQ(o.counting.readings[0].enabled_ns, o.counting.readings[1].enabled_ns);
	own_fini(&o);
}

static u64 faults_of_a_child(const struct counting_options *options)
{
	struct own o;
	u64 value;
	pid_t pid;
	int status;

	own_init(&o);
	add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	open_own(&o, options);
	enable(&o);
	pid = fork();
	if (!pid) {
		freshpages_touch(20000);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	disable(&o);
	counting_read(&o.counting);
	value = o.counting.readings[0].value;
	own_fini(&o);
	return value;
}

TEST(counting_counts_children_unless_they_are_left_out)
{
	const struct counting_options alone = {.no_inherit = true};

	CHECK(faults_of_a_child(&plain) >= 20000);
	CHECK(faults_of_a_child(&alone) < 10000);
}

TEST(counting_completes_attrs_for_counting)
{
	const struct counting_options command = {.is_command = true};
	struct own o;
	struct event_attr *leader, *member;

	own_init(&o);
	attr_set_precise(&add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults")->attr, 2);
	add(&o, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	join(&o, 2);
	open_own(&o, &command);
	leader = &o.events.at[0].attr;
	member = &o.events.at[1].attr;
	CHECK_EQ(leader->sample_period, 0);
	CHECK_EQ(attr_precise(leader), 0);
	CHECK_EQ(leader->flags,
		ATTR_DISABLED | ATTR_ENABLE_ON_EXEC | ATTR_INHERIT | ATTR_EXCLUDE_KERNEL);
	/* It runs when its leader does. */
	CHECK_EQ(member->flags, ATTR_INHERIT | ATTR_EXCLUDE_KERNEL);
	CHECK_EQ(leader->read_format,
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			PERF_FORMAT_GROUP);
	own_fini(&o);
}

TEST(counting_says_of_counters_that_cannot_be_read_that_they_failed)
{
	struct own o;
	int empty = memfd_create("pinned", MFD_CLOEXEC);

	own_init(&o);
	add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	add(&o, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	join(&o, 2);
	add(&o, PERF_COUNT_SW_TASK_CLOCK, "task-clock");
	open_own(&o, &plain);
	enable(&o);
	/* A pinned event that lost its place reads as an end of file; the group goes with it. */
	CHECK(dup2(empty, o.counting.counters.at[0].fd) >= 0);
	counting_read(&o.counting);
	CHECK(o.counting.readings[0].has_failed);
	CHECK(o.counting.readings[1].has_failed);
	CHECK(!o.counting.readings[2].has_failed);
	CHECK(o.counting.readings[2].value > 0);
	close(empty);
	own_fini(&o);
}

TEST(counting_leaves_no_descriptors_open)
{
	int before = open("/dev/null", O_RDONLY), after;
	struct own o;

	close(before);
	own_init(&o);
	add(&o, PERF_COUNT_SW_PAGE_FAULTS, "page-faults");
	add(&o, 4711, "no-such-event");
	open_own(&o, &plain);
	own_fini(&o);
	after = open("/dev/null", O_RDONLY);
	CHECK_EQ(after, before);
	close(after);
}
