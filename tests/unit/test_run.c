#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/run/run.h"
#include "event/abi.h"
#include "unit/said.h"

enum { MS = 1000000 }; /* ns */

/* A command that is counted, with all that a run looks at. */
struct course {
	struct event_list events;
	struct target target;
	struct counting counting;
	struct workload workload;
	struct stop stop;
	struct control control;
	struct said said;
	struct run_options options;
	struct run run;
	enum run_end end;
	struct err err;
	unsigned n_intervals, n_slices;
	u64 last_ns; /* of the last interval */
	u64 seen;    /* value at the last interval */
};

static void look(void *ctx, struct run *run, bool is_interval)
{
	struct course *c = ctx;

	if (!is_interval) {
		c->n_slices++;
		return;
	}
	c->n_intervals++;
	CHECK(run->now_ns > c->last_ns);
	c->last_ns = run->now_ns;
	CHECK(c->counting.readings[0].value >= c->seen);
	c->seen = c->counting.readings[0].value;
}

/* An event as those of packages and uncore are: it counts a CPU, whoever runs there. */
static void add_event_of_a_cpu(struct event_list *events)
{
	const struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = PERF_COUNT_SW_CPU_CLOCK};
	struct event *e = event_add(events, &attr, "cpu-clock");

	vec_add(&e->cpus, (u32)0);
	e->wishes |= EVENT_NO_TASKS;
}

/* The script waits at its gate, its page faults are about to be counted. */
static void course_init_with(struct course *c, const char *script, bool starts_off,
	bool has_event_of_a_cpu)
{
	const struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.flags = ATTR_EXCLUDE_KERNEL};
	const struct counting_options how = {.is_command = true, .starts_off = starts_off};
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	sigset_t signals;

	memset(c, 0, sizeof(*c));
	said_init(&c->said, LOG_DEBUG);
	stop_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	CHECK_EQ(stop_open(&c->stop, &c->err), 0);
	CHECK_EQ(workload_start(&c->workload, argv, &c->err), 0);
	vec_add(&c->target.threads, ((struct target_thread){c->workload.pid, c->workload.pid}));
	event_add(&c->events, &attr, "page-faults:u");
	if (has_event_of_a_cpu) {
		vec_add(&c->target.cpus, (u32)0);
		add_event_of_a_cpu(&c->events);
	}
	if (counting_open(&c->counting, &c->events, &c->target, &how, &c->said.log, &c->err))
		test_failed(__FILE__, __LINE__, "%s", c->err.msg);
	if (c->counting.why[0].code == ERR_PERM) {
		workload_close(&c->workload);
		SKIP("%s", c->counting.why[0].msg);
	}
	c->run = (struct run){.options = &c->options,
		.counting = &c->counting,
		.target = &c->target,
		.workload = &c->workload,
		.command = "sh",
		.stop = &c->stop,
		.log = &c->said.log,
		.look = look,
		.ctx = c};
}

static void course_init(struct course *c, const char *script, bool starts_off)
{
	course_init_with(c, script, starts_off, false);
}

static void course_fini(struct course *c)
{
	if (!c->workload.has_ended && c->workload.pid) {
		kill(c->workload.pid, SIGKILL);
		workload_reap(&c->workload, true);
	}
	workload_close(&c->workload);
	stop_close(&c->stop);
	counting_close(&c->counting);
	event_list_fini(&c->events);
	target_fini(&c->target);
	said_fini(&c->said);
}

static void execute(struct course *c)
{
	if (run_execute(&c->run, &c->end, &c->err))
		test_failed(__FILE__, __LINE__, "%s", c->err.msg);
}

static u64 value(const struct course *c)
{
	return c->counting.readings[0].value;
}

static u64 length_ms(const struct course *c)
{
	return (c->run.now_ns - c->run.start_ns) / MS;
}

TEST(run_ends_with_its_command_and_has_its_counts)
{
	struct course c;

	course_init(&c, "sleep 0.05", false);
	execute(&c);
	CHECK_EQ(c.end, RUN_TARGET_ENDED);
	CHECK(c.workload.has_ended);
	CHECK(value(&c) > 20);
	CHECK(length_ms(&c) >= 50);
	CHECK_EQ(c.run.now_ns, c.workload.ended_ns);
	CHECK_EQ(c.n_intervals, 0);
	course_fini(&c);
}

/* The exec of the command switches on what counts the command, and nothing else. */
TEST(run_switches_on_what_counts_whole_cpus_with_a_clock_in_the_place_of_a_package)
{
	struct course c;

	course_init_with(&c, "sleep 0.05", false, true);
	if (c.counting.why[1].code == ERR_PERM) {
		course_fini(&c);
		SKIP("%s", c.counting.why[1].msg);
	}
	CHECK_EQ(c.counting.why[1].code, 0);
	CHECK_EQ(c.counting.counters.n, 2);
	CHECK_EQ(c.counting.counters.at[1].tid, -1);
	execute(&c);
	CHECK(value(&c) > 20);
	CHECK(c.counting.readings[1].enabled_ns >= 50 * MS);
	CHECK(c.counting.readings[1].value >= 50 * MS);
	course_fini(&c);
}

TEST(run_looks_at_each_interval)
{
	struct course c;

	course_init(&c, "sleep 1", false);
	c.options.interval_ms = 50;
	execute(&c);
	CHECK_EQ(c.end, RUN_TARGET_ENDED);
	/* A busy machine lets some come late, none is left out. */
	CHECK(c.n_intervals >= 4);
	CHECK_EQ(c.run.n_intervals, c.n_intervals);
	course_fini(&c);
}

TEST(run_ends_behind_the_intervals_it_was_asked_for)
{
	struct course c;

	course_init(&c, "sleep 20", false);
	c.options.interval_ms = 30;
	c.options.interval_count = 3;
	execute(&c);
	CHECK_EQ(c.end, RUN_ENOUGH);
	CHECK_EQ(c.n_intervals, 3);
	CHECK(length_ms(&c) >= 90 && length_ms(&c) < 10000);
	CHECK(!c.workload.has_ended);
	course_fini(&c);
}

TEST(run_ends_when_its_time_is_up_and_still_reads)
{
	struct course c;

	course_init(&c, "sleep 20", false);
	c.options.timeout_ms = 100;
	execute(&c);
	CHECK_EQ(c.end, RUN_ENOUGH);
	CHECK(value(&c) > 20);
	CHECK(length_ms(&c) >= 100 && length_ms(&c) < 10000);
	CHECK(!c.run.is_on);
	course_fini(&c);
}

TEST(run_ends_at_a_signal_and_still_reads)
{
	struct course c;

	course_init(&c, "kill -HUP $PPID; sleep 20", false);
	execute(&c);
	CHECK_EQ(c.end, RUN_SIGNAL);
	CHECK_EQ(c.stop.signal, SIGHUP);
	CHECK(value(&c) > 20);
	CHECK(!c.workload.has_ended);
	course_fini(&c);
}

TEST(run_counts_nothing_before_its_delay_is_over)
{
	struct course c;
	u64 late;

	/* The shell's own start is not counted, another program's is: with time enough between them
	 * for a machine that has much else to do. */
	course_init(&c, "sleep 2; ls >/dev/null", true);
	c.options.delay_ms = 700;
	execute(&c);
	CHECK_EQ(c.end, RUN_TARGET_ENDED);
	late = value(&c);
	CHECK(late > 20);
	CHECK(length_ms(&c) >= 100 && length_ms(&c) < 10000);
	course_fini(&c);
	course_init(&c, "sleep 0.3; ls >/dev/null", false);
	execute(&c);
	CHECK(value(&c) > late);
	course_fini(&c);
}

TEST(run_that_ends_before_its_delay_has_counted_nothing)
{
	struct course c;

	course_init(&c, "exit 3", true);
	c.options.delay_ms = 5000;
	execute(&c);
	CHECK_EQ(c.end, RUN_TARGET_ENDED);
	CHECK_EQ(value(&c), 0);
	CHECK_EQ(workload_exit_status(&c.workload), 3);
	course_fini(&c);
}

TEST(run_looks_at_slices_in_between)
{
	struct course c;

	course_init(&c, "sleep 1", false);
	c.options.slice_ms = 20;
	execute(&c);
	CHECK(c.n_slices >= 4);
	CHECK_EQ(c.n_intervals, 0);
	course_fini(&c);
}

TEST(run_says_that_its_command_does_not_exist)
{
	char *argv[] = {(char *)"/nonexistent/program", NULL};
	struct course c;

	course_init(&c, ":", false);
	/* Another one at the gate. */
	workload_close(&c.workload);
	CHECK_EQ(workload_start(&c.workload, argv, &c.err), 0);
	CHECK(run_execute(&c.run, &c.end, &c.err) < 0);
	CHECK_STR(c.err.msg, "running 'sh': No such file or directory");
	course_fini(&c);
}

/* ---- told from outside ---- */

static void control_course(struct course *c, int *ret_fd, int *ret_ack)
{
	char text[64];
	int ctl[2], ack[2];

	CHECK(!pipe(ctl) && !pipe(ack));
	snprintf(text, sizeof(text), "fd:%d,%d", ctl[0], ack[1]);
	CHECK_EQ(control_open(&c->control, text, &c->err), 0);
	c->run.control = &c->control;
	*ret_fd = ctl[1];
	*ret_ack = ack[0];
}

TEST(run_is_switched_and_stopped_from_outside)
{
	struct course c;
	char text[32] = "";
	int fd, ack;

	course_init(&c, "while :; do ls >/dev/null; done", true);
	c.options.delay_ms = -1;
	control_course(&c, &fd, &ack);
	CHECK_EQ(write(fd, "ping\nenable\ndisable\nstop\n", 25), 25);
	execute(&c);
	CHECK_EQ(c.end, RUN_ENOUGH);
	CHECK_EQ(read(ack, text, sizeof(text) - 1), 16);
	CHECK_STR(text, "ack\nack\nack\nack\n");
	CHECK(!c.run.is_on);
	course_fini(&c);
}

TEST(run_counts_nothing_until_it_is_told_to)
{
	struct course c;
	int fd, ack;

	course_init(&c, "ls >/dev/null", true);
	c.options.delay_ms = -1;
	control_course(&c, &fd, &ack);
	execute(&c);
	CHECK_EQ(c.end, RUN_TARGET_ENDED);
	CHECK_EQ(value(&c), 0);
	course_fini(&c);
}

TEST(run_goes_on_when_nobody_can_tell_it_anything_any_more)
{
	struct course c;
	int fd, ack;

	course_init(&c, "sleep 0.1", false);
	control_course(&c, &fd, &ack);
	close(fd);
	execute(&c);
	CHECK_EQ(c.end, RUN_TARGET_ENDED);
	CHECK(value(&c) > 20);
	course_fini(&c);
}

/* ---- processes that are not ours ---- */

TEST(run_ends_when_the_last_process_it_watches_has_ended)
{
	struct course c;
	pid_t first, second;

	course_init(&c, ":", false);
	workload_close(&c.workload);
	c.run.workload = NULL;
	c.target.threads.n = 0;
	first = fork();
	if (!first) {
		usleep(30000);
		_exit(0);
	}
	second = fork();
	if (!second) {
		usleep(150000);
		_exit(0);
	}
	vec_add(&c.target.threads, ((struct target_thread){first, first}));
	vec_add(&c.target.threads, ((struct target_thread){second, second}));
	execute(&c);
	CHECK_EQ(c.end, RUN_TARGET_ENDED);
	CHECK_EQ(waitpid(first, NULL, WNOHANG), first);
	CHECK_EQ(waitpid(second, NULL, WNOHANG), second);
	course_fini(&c);
}
