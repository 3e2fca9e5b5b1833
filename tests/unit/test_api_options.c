/* How counters are opened, and how they tell of overflows, by pace.h alone. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pace.h"
#include "test.h"
#include "unit/freshpages.h"
#include "unit/nobody.h"

static struct pace_error err;

enum { N = 64 };

static struct pace_counter *open_with(const char *event, pid_t pid,
	const struct pace_options *options)
{
	struct pace_counter *c = pace_counter_open_with(event, pid, -1, options, &err);

	if (!c && (err.code == PACE_ERROR_PERMISSION || err.code == PACE_ERROR_UNSUPPORTED))
		SKIP("%s", err.message);
	if (!c)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return c;
}

static struct pace_value value_of(struct pace_counter *c)
{
	struct pace_value v;

	if (pace_counter_read(c, &v, &err))
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return v;
}

/* ---- what makes no sense ---- */

TEST(api_explains_options_that_make_no_sense)
{
	static const struct {
		struct pace_options options;
		pid_t pid;
		int cpu;
		const char *message;
	} rows[] = {
		{{.flags = 1 << 11}, 0, -1, "flags 0x800: this libpace knows only 0x7ff"},
		{{.period = 1, .sample = PERF_SAMPLE_REGS_USER}, 0, -1,
			"PERF_SAMPLE_REGS_USER in sample needs the mask user_regs, and the other way round"},
		{{.period = 1, .intr_regs = 1}, 0, -1,
			"PERF_SAMPLE_REGS_INTR in sample needs the mask intr_regs, and the other way round"},
		{{.period = 1, .stack_bytes = 8}, 0, -1,
			"stack_bytes needs PERF_SAMPLE_STACK_USER or PACE_CALLERS"},
		{{.period = 1, .sample = PERF_SAMPLE_STACK_USER, .stack_bytes = 12}, 0, -1,
			"stack_bytes 12: expected a multiple of 8, up to 65528"},
		{{.period = 1, .max_chain = 65536}, 0, -1,
			"max_chain 65536: a call chain has up to 65535 addresses"},
		{{.flags = PACE_CALLERS}, 0, -1, "samples need a period or a frequency"},
		{{.reserved = {[4] = 1}}, 0, -1, "pace_options.reserved is not 0"},
		{{.period = 1, .frequency = 1}, 0, -1,
			"a counter has a period or a frequency, not both"},
		{{.period = 1, .wakeup_samples = 1, .wakeup_bytes = 1}, 0, -1,
			"a ring wakes up after wakeup_samples or after wakeup_bytes, not both"},
		{{.period = 1, .sample = PERF_SAMPLE_BRANCH_STACK}, 0, -1,
			"PERF_SAMPLE_BRANCH_STACK in sample needs the kinds of branches, and the other way round"},
		{{.period = 1, .branches = PERF_SAMPLE_BRANCH_ANY}, 0, -1,
			"PERF_SAMPLE_BRANCH_STACK in sample needs the kinds of branches, and the other way round"},
		{{.flags = PACE_INHERIT_STAT}, 0, -1, "PACE_INHERIT_STAT needs PACE_INHERIT"},
		{{.sample = PERF_SAMPLE_IP}, 0, -1, "samples need a period or a frequency"},
		{{.wakeup_bytes = 1}, 0, -1, "samples need a period or a frequency"},
		{{.flags = PACE_KEEP_LATEST}, 0, -1, "samples need a period or a frequency"},
		{{.flags = PACE_SIDE_BAND}, 0, -1, "samples need a period or a frequency"},
		{{.flags = PACE_USER_READ}, 1, -1,
			"reading in user space works only for counters of the calling thread: pid 0, cpu -1, "
			"not inherited"},
		{{.flags = PACE_USER_READ | PACE_INHERIT}, 0, -1,
			"reading in user space works only for counters of the calling thread: pid 0, cpu -1, "
			"not inherited"},
		{{.cgroup = "a"}, 0, 0,
			"control group 'a' is counted on one CPU: it needs pid -1 and a CPU, not pid 0 and cpu 0"},
		{{.cgroup = "a"}, -1, -1,
			"control group 'a' is counted on one CPU: it needs pid -1 and a CPU, not pid -1 and cpu -1"},
		{{0}, -1, -1,
			"pid -1 (every process) needs a CPU, cpu -1 (any CPU) needs a process: choose one"},
		{{0}, -2, 0, "there is no pid -2"},
		{{0}, 0, -2, "there is no cpu -2"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&err, 0xff, sizeof(err));
		CHECK(!pace_counter_open_with("page-faults:u", rows[i].pid, rows[i].cpu,
			&rows[i].options, &err));
		CHECK_STR(err.message, rows[i].message);
		CHECK_EQ(err.code, PACE_ERROR_ARGUMENT);
		CHECK_EQ(err.system, 0);
		CHECK(!pace_group_open("page-faults:u", rows[i].pid, rows[i].cpu, &rows[i].options,
			&err));
		CHECK_STR(err.message, rows[i].message);
	}
}

TEST(api_names_a_cpu_that_is_not_there)
{
	static const char *const events[] = {"page-faults:u", "cycles:u", "instructions"};

	for (size_t i = 0; i < 3; i++) {
		CHECK(!pace_counter_open(events[i], 0, 60000, &err));
		CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
		CHECK_HAS(err.message, events[i]);
		CHECK_HAS(err.message, "CPU 60000 is not online (online are ");
		CHECK(!pace_group_open(events[i], 0, 60000, NULL, &err));
		CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
	}
}

/* Runs on that CPU for so long, in ns of its own time; false: it may not run there. */
static bool burn_on(int cpu, uint64_t ns)
{
	struct timespec begin, now;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return false;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((uint64_t)(now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec <
		begin.tv_nsec + ns);
	return true;
}

/* What it does elsewhere is not what others took from the counter: nothing to make up for. */
TEST(api_counter_of_this_thread_on_one_cpu_is_of_that_cpu)
{
	struct pace_counter *c = pace_counter_open("task-clock:u", 0, 0, &err);
	struct pace_group *g = pace_group_open("task-clock:u,page-faults:u", 0, 0, NULL, &err);
	struct pace_value v, values[2];

	if (!c || !g)
		SKIP("%s", err.message);
	if (!burn_on(1, 1000000) || !burn_on(0, 1000000))
		SKIP("CPUs 0 and 1 are not both here");
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	CHECK_EQ(pace_group_enable(g, &err), 0);
	burn_on(0, 20000000);
	burn_on(1, 60000000);
	CHECK_EQ(pace_group_disable(g, &err), 0);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	v = value_of(c);
	CHECK_EQ(pace_group_read(g, values, 2, &err), 2);
	for (int i = 0; i < 3; i++) {
		const struct pace_value *one = i ? &values[i - 1] : &v;

		CHECK_EQ(one->counted, PACE_COUNTED);
		CHECK(one->scaled == (double)one->value);
		CHECK(one->time_enabled == one->time_running);
		CHECK(one->time_running >= 19000000 && one->time_running < 60000000);
	}
	CHECK(v.value >= 19000000 && v.value < 60000000);
	pace_group_close(g);
	pace_counter_close(c);
}

TEST(api_says_what_branch_stacks_need)
{
	struct pace_options options = {.period = 1,
		.sample = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branches = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER};

	CHECK(!pace_counter_open_with("page-faults:u", 0, -1, &options, &err));
	CHECK(err.code == PACE_ERROR_UNSUPPORTED || err.code == PACE_ERROR_PERMISSION);
	CHECK_HAS(err.message, "opening 'page-faults:u'");
}

/* ---- events ---- */

TEST(api_parses_events_for_those_who_open_them_themselves)
{
	struct perf_event_attr a;

	memset(&a, 0xff, sizeof(a));
	CHECK_EQ(pace_event_parse("page-faults:u", &a, sizeof(a), &err), 0);
	CHECK_EQ(a.type, PERF_TYPE_SOFTWARE);
	CHECK_EQ(a.config, PERF_COUNT_SW_PAGE_FAULTS);
	CHECK(a.exclude_kernel && !a.exclude_user && !a.disabled);
	CHECK(a.size <= sizeof(a) && a.size >= PERF_ATTR_SIZE_VER0);
	/* The raw encodings of branches, retired and mispredicted, on Intel. */
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(pace_event_parse((const char *[]){"rc4", "r00C5"}[i], &a, sizeof(a), &err),
			0);
		CHECK_EQ(a.type, PERF_TYPE_RAW);
		CHECK_EQ(a.config, 0xc4 + i);
	}
	/* In the struct of an old header. */
	memset(&a, 0xff, sizeof(a));
	CHECK_EQ(pace_event_parse("task-clock", &a, PERF_ATTR_SIZE_VER0, &err), 0);
	CHECK_EQ(a.size, PERF_ATTR_SIZE_VER0);
	CHECK_EQ(a.config2, ~0ULL);
	CHECK_EQ(pace_event_parse("task-clock", &a, 60, &err), PACE_ERROR_LIMIT);
	CHECK_STR(err.message,
		"event 'task-clock' needs an attr of 64 bytes, but there is room for 60");
	CHECK_EQ(pace_event_parse("a,b", &a, sizeof(a), &err), PACE_ERROR_NOT_FOUND);
	CHECK_EQ(pace_event_parse("cs,faults", &a, sizeof(a), &err), PACE_ERROR_ARGUMENT);
}

TEST(api_counter_knows_its_name_and_unit)
{
	struct pace_counter *c = open_with("page-faults:u", 0, NULL);
	double scale = 5;

	CHECK_STR(pace_counter_name(c), "page-faults:u");
	CHECK(!pace_counter_unit(c, &scale));
	CHECK(scale == 1.0);
	pace_counter_close(c);
}

TEST(api_counts_every_write_to_an_address)
{
	static volatile long watched;
	struct pace_counter *c;
	char event[64];

	snprintf(event, sizeof(event), "mem:0x%llx/8:w:u", (unsigned long long)(uintptr_t)&watched);
	c = pace_counter_open(event, 0, -1, &err);
	if (!c)
		SKIP("%s", err.message);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	for (long i = 0; i < 1234; i++)
		watched = i;
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK_EQ(value_of(c).value, 1234);
	pace_counter_close(c);
}

/* ---- when it counts, and whom ---- */

TEST(api_counter_may_count_from_the_first_moment_on)
{
	struct pace_options options = {.flags = PACE_ENABLED};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);

	freshpages_touch(N);
	CHECK(value_of(c).value >= N);
	pace_counter_close(c);
}

static void *touch_many(void *unused)
{
	freshpages_touch(5000);
	return unused;
}

static uint64_t faults_with_a_thread_and_a_child(unsigned flags)
{
	struct pace_options options = {.flags = flags | PACE_ENABLED};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);
	pthread_t thread;
	uint64_t faults;
	int status;
	pid_t child;

	CHECK_EQ(pthread_create(&thread, NULL, touch_many, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	child = fork();
	if (!child) {
		freshpages_touch(5000);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	faults = value_of(c).value;
	pace_counter_close(c);
	return faults;
}

TEST(api_counter_is_inherited_if_it_is_told_to)
{
	CHECK(faults_with_a_thread_and_a_child(0) < 5000);
	CHECK(faults_with_a_thread_and_a_child(PACE_INHERIT) >= 10000);
	CHECK(faults_with_a_thread_and_a_child(PACE_INHERIT | PACE_INHERIT_STAT) >= 10000);
}

TEST(api_group_is_inherited_as_a_whole)
{
	struct pace_options options = {.flags = PACE_INHERIT | PACE_ENABLED};
	struct pace_group *g =
		pace_group_open("page-faults:u,minor-faults:u", 0, -1, &options, &err);
	struct pace_value v[2];
	pthread_t thread;

	if (!g)
		SKIP("%s", err.message);
	CHECK_EQ(pthread_create(&thread, NULL, touch_many, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(pace_group_read(g, v, 2, &err), 2);
	CHECK(v[0].value >= 5000 && v[1].value >= 5000);
	pace_group_close(g);
}

TEST(api_counter_begins_at_exec)
{
	struct pace_options options = {.flags = PACE_ENABLE_ON_EXEC};
	int gate[2], reached[2], status;
	struct pace_counter *c;
	struct pace_value v;
	pid_t child;
	char byte;

	if (access("/bin/true", X_OK))
		SKIP("there is no /bin/true");
	CHECK_EQ(pipe(gate), 0);
	CHECK_EQ(pipe(reached), 0);
	child = fork();
	if (!child) {
		if (read(gate[0], &byte, 1) != 1)
			_exit(1);
		freshpages_touch(5000);
		if (write(reached[1], "r", 1) != 1 || read(gate[0], &byte, 1) != 1)
			_exit(1);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	c = pace_counter_open_with("page-faults:u", child, -1, &options, &err);
	CHECK_EQ(write(gate[1], "g", 1), 1);
	CHECK_EQ(read(reached[0], &byte, 1), 1);
	if (c)
		CHECK_EQ(value_of(c).value, 0);
	CHECK_EQ(write(gate[1], "g", 1), 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	if (!c)
		SKIP("%s", err.message);
	v = value_of(c);
	CHECK(v.value > 10 && v.value < 5000);
	CHECK_EQ(v.counted, PACE_COUNTED);
	pace_counter_close(c);
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return is_written;
}

/* A control group of this test's own; false if none can be made. */
static bool make_cgroup(char *path, size_t size)
{
	static const char *const mounts[] = {"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified",
		"/sys/fs/cgroup"};

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, size, "%s/cgroup.procs", mounts[i]);
		if (access(path, W_OK))
			continue;
		snprintf(path, size, "%s/pace-test-%d", mounts[i], getpid());
		if (!mkdir(path, 0755))
			return true;
	}
	return false;
}

/* A child that touches pages once it is told to; told by a byte into *ret_gate. */
static pid_t start_child(size_t n_pages, int *ret_gate)
{
	int gate[2];
	pid_t child;
	char byte;

	CHECK_EQ(pipe(gate), 0);
	child = fork();
	if (!child) {
		if (read(gate[0], &byte, 1) == 1)
			freshpages_touch(n_pages);
		_exit(0);
	}
	close(gate[0]);
	*ret_gate = gate[1];
	return child;
}

TEST(api_counts_the_tasks_of_a_control_group)
{
	enum { CPUS_MAX = 64 };
	int gate, status, n_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	struct pace_options options = {.flags = PACE_ENABLED};
	struct pace_counter *counters[CPUS_MAX];
	char path[256], procs[300], pid[32];
	uint64_t faults = 0, enabled = 0;
	bool has_moved;
	pid_t child;

	if (n_cpus > CPUS_MAX || !make_cgroup(path, sizeof(path)))
		SKIP("no control group can be made here");
	options.cgroup = path;
	for (int i = 0; i < n_cpus; i++)
		counters[i] = pace_counter_open_with("page-faults:u", -1, i, &options, &err);
	child = start_child(3000, &gate);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	snprintf(pid, sizeof(pid), "%d", child);
	has_moved = write_text(procs, pid);
	/* Outside of the group nothing counts. */
	freshpages_touch(5000);
	CHECK_EQ(write(gate, "g", 1), 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	rmdir(path);
	if (!has_moved)
		SKIP("a process cannot be moved into a control group here");
	for (int i = 0; i < n_cpus; i++) {
		if (!counters[i])
			SKIP("%s", err.message);
		faults += value_of(counters[i]).value;
		enabled += value_of(counters[i]).time_enabled;
		pace_counter_close(counters[i]);
	}
	CHECK(faults >= 3000 && faults < 5000);
	CHECK(enabled > 0);
}

TEST(api_names_a_control_group_that_is_not_there)
{
	struct pace_options options = {.cgroup = "no/such/group"};

	CHECK(!pace_counter_open_with("page-faults:u", -1, 0, &options, &err));
	CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
	if (!strstr(err.message, "no control groups are mounted"))
		CHECK_HAS(err.message, "no/such/group");
}

TEST(api_says_without_rights_what_is_missing)
{
	struct pace_counter *c;

	nobody_begin();
	c = pace_counter_open("task-clock", -1, 0, &err);
	nobody_end();
	if (c)
		SKIP("everybody may measure everything here");
	CHECK_EQ(err.code, PACE_ERROR_PERMISSION);
	CHECK_HAS(err.message, "perf_event_paranoid is ");
	CHECK_HAS(err.message, "CAP_PERFMON");
	CHECK(err.system == EACCES || err.system == EPERM);
}

TEST(api_counts_itself_without_rights)
{
	struct pace_counter *c;

	nobody_begin();
	c = pace_counter_open("page-faults:u", 0, -1, &err);
	if (!c) {
		nobody_end();
		SKIP("%s", err.message);
	}
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_touch(N);
	CHECK(value_of(c).value >= N);
	pace_counter_close(c);
	nobody_end();
}

/* ---- without system calls ---- */

static void *read_elsewhere(void *c)
{
	return value_of(c).value >= N && !pace_counter_is_user_read(c) ? c : NULL;
}

TEST(api_reads_in_user_space_or_by_the_kernel_and_says_the_same)
{
	struct pace_options options = {.flags = PACE_USER_READ};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);
	pthread_t thread;
	void *result;
	int status;
	pid_t child;

	/* A software event has no register. */
	CHECK(!pace_counter_is_user_read(c));
	CHECK_EQ(value_of(c).counted, PACE_NOT_COUNTED);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_touch(N);
	CHECK(value_of(c).value >= N);
	CHECK(value_of(c).id > 0);
	CHECK_EQ(value_of(c).counted, PACE_COUNTED);
	/* From other threads and behind fork it is read as any other. */
	CHECK_EQ(pthread_create(&thread, NULL, read_elsewhere, c), 0);
	CHECK_EQ(pthread_join(thread, &result), 0);
	CHECK(result == c);
	child = fork();
	if (!child)
		_exit(!read_elsewhere(c));
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	pace_counter_close(c);
}

/* ---- overflows ---- */

static volatile sig_atomic_t n_signals, n_hangups, last_fd, last_thread;

static void on_signal(int number, siginfo_t *info, void *unused)
{
	(void)number;
	(void)unused;
	n_signals++;
	n_hangups += info->si_code == POLL_HUP;
	last_fd = info->si_fd;
	last_thread = gettid();
}

static void catch (int number)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	CHECK_EQ(sigaction(number, &action, NULL), 0);
}

static void check_signals(int number)
{
	struct pace_options options = {.period = 1};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);
	volatile char *pages = freshpages_map(3 * N);
	uint64_t counted;

	catch (number);
	/* Whatever has to be paged in for a signal to arrive. */
	raise(number);
	n_signals = 0;
	CHECK_EQ(pace_counter_notify(c, number, &err), 0);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_write(pages, N);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	counted = value_of(c).value;
	CHECK(counted >= N);
	CHECK_EQ(n_signals, counted);
	CHECK_EQ(last_fd, pace_counter_fd(c));
	CHECK_EQ(last_thread, gettid());
	/* Once everything is there it is as many as pages. */
	n_signals = 0;
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_write(pages + N * sysconf(_SC_PAGESIZE), N);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK_EQ(n_signals, N);
	/* Not any more. */
	CHECK_EQ(pace_counter_notify(c, 0, &err), 0);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_write(pages + 2 * N * sysconf(_SC_PAGESIZE), N);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK_EQ(n_signals, N);
	CHECK(value_of(c).value >= counted + 2 * N);
	freshpages_unmap(pages, 3 * N);
	pace_counter_close(c);
}

TEST(api_signals_each_overflow_with_sigio)
{
	check_signals(SIGIO);
}

TEST(api_signals_each_overflow_with_a_queued_signal)
{
	check_signals(SIGRTMIN + 3);
}

TEST(api_signals_come_every_so_many_events)
{
	struct pace_options options = {.period = 16};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);
	volatile char *pages = freshpages_map(N);

	catch (SIGIO);
	raise(SIGIO);
	n_signals = 0;
	CHECK_EQ(pace_counter_notify(c, SIGIO, &err), 0);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_write(pages, N);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK_EQ(n_signals, value_of(c).value / 16);
	freshpages_unmap(pages, N);
	pace_counter_close(c);
}

TEST(api_counter_is_on_for_as_many_overflows_as_asked)
{
	struct pace_options options = {.period = 1};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);

	catch (SIGIO);
	raise(SIGIO);
	n_signals = n_hangups = 0;
	CHECK_EQ(pace_counter_notify(c, SIGIO, &err), 0);
	CHECK_EQ(pace_counter_refresh(c, 10, &err), 0);
	freshpages_touch(N);
	CHECK_EQ(n_signals, 10);
	CHECK_EQ(n_hangups, 1);
	CHECK_EQ(value_of(c).value, 10);
	CHECK_EQ(pace_counter_refresh(c, 3, &err), 0);
	freshpages_touch(N);
	CHECK_EQ(n_signals, 13);
	CHECK_EQ(n_hangups, 2);
	CHECK_EQ(value_of(c).value, 13);
	CHECK_EQ(pace_counter_refresh(c, 0, &err), PACE_ERROR_ARGUMENT);
	pace_counter_close(c);
}

TEST(api_counter_without_a_period_has_no_overflows)
{
	struct pace_options inherited = {.period = 1, .flags = PACE_INHERIT};
	struct pace_counter *c = open_with("page-faults:u", 0, NULL);

	CHECK_EQ(pace_counter_notify(c, SIGIO, &err), PACE_ERROR_ARGUMENT);
	CHECK_STR(err.message, "'page-faults:u' was opened without a period: it has no overflows");
	CHECK_EQ(pace_counter_refresh(c, 1, &err), PACE_ERROR_ARGUMENT);
	pace_counter_close(c);
	c = open_with("page-faults:u", 0, &inherited);
	CHECK_EQ(pace_counter_refresh(c, 1, &err), PACE_ERROR_ARGUMENT);
	CHECK_STR(err.message, "'page-faults:u' is inherited: its overflows cannot be limited");
	CHECK_EQ(pace_counter_notify(c, 9999, &err), PACE_ERROR_SYSTEM);
	CHECK_HAS(err.message, "asking for signal 9999 on overflows of 'page-faults:u'");
	pace_counter_close(c);
}

static int poll_now(const struct pace_counter *c)
{
	struct pollfd p = {.fd = pace_counter_fd(c), .events = POLLIN};

	return poll(&p, 1, 0) == 1 ? p.revents : 0;
}

TEST(api_poll_wakes_up_after_as_many_samples_as_asked)
{
	struct pace_options options = {.period = 1, .sample = PERF_SAMPLE_IP, .wakeup_samples = 10};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);
	struct pace_ring *ring = pace_ring_open(c, 8, &err);
	volatile char *pages = freshpages_map(64);
	int n_before = 0, n_page = (int)sysconf(_SC_PAGESIZE);

	CHECK(ring);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	while (!(poll_now(c) & POLLIN) && n_before < 60)
		freshpages_write(pages + n_before++ * n_page, 1);
	CHECK(n_before > 0 && n_before <= 10);
	CHECK_EQ(value_of(c).value / 10 * 10, 10);
	CHECK(!(poll_now(c) & POLLIN));
	/* Here everything is paged in: exactly ten. */
	while (value_of(c).value % 10)
		freshpages_write(pages + n_before++ * n_page, 1);
	poll_now(c);
	for (int i = 0; i < 10; i++) {
		CHECK(!(poll_now(c) & POLLIN));
		freshpages_write(pages + n_before++ * n_page, 1);
	}
	CHECK(poll_now(c) & POLLIN);
	pace_ring_close(ring);
	freshpages_unmap(pages, 64);
	pace_counter_close(c);
}

TEST(api_poll_wakes_up_after_as_many_bytes_as_asked)
{
	struct pace_options options = {.period = 1, .sample = PERF_SAMPLE_IP, .wakeup_bytes = 160};
	struct pace_counter *c = open_with("page-faults:u", 0, &options);
	struct pace_ring *ring = pace_ring_open(c, 8, &err);
	uint64_t before;

	CHECK(ring);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_touch(N);
	CHECK(poll_now(c) & POLLIN);
	/* 16 bytes a sample */
	before = value_of(c).value;
	while (!(poll_now(c) & POLLIN))
		freshpages_touch(1);
	CHECK(value_of(c).value - before <= 11);
	pace_ring_close(ring);
	pace_counter_close(c);
}
