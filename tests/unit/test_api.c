/*
 * The library as its users have it: pace.h and libpace, nothing of what is inside.
 */
#include "pace.h"
#include "test.h"
#include "unit/freshpages.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pace_error err;

/* Opens a software event on this thread; skips where the kernel refuses. */
static struct pace_counter *open_here(const char *event)
{
	struct pace_counter *c = pace_counter_open(event, 0, -1, &err);

	if (!c && (err.code == PACE_ERROR_PERMISSION || err.code == PACE_ERROR_UNSUPPORTED))
		SKIP("%s", err.message);
	if (!c)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return c;
}

static struct pace_value value_of(struct pace_counter *c)
{
	struct pace_value v = {~0ULL, ~0ULL, ~0ULL};

	if (pace_counter_read(c, &v, &err))
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return v;
}

static void spin(void)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < 2000000; i++)
		sum = sum + i;
}

TEST(api_tells_its_version)
{
	CHECK_STR(pace_version(), PACE_VERSION);
}

/* ---- counting ---- */

TEST(api_counter_is_off_until_it_is_enabled)
{
	struct pace_counter *c = open_here("page-faults:u");

	freshpages_touch(10);
	CHECK_EQ(value_of(c).value, 0);
	CHECK_EQ(value_of(c).time_enabled, 0);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_touch(10);
	CHECK(value_of(c).value >= 10);
	CHECK(value_of(c).time_enabled > 0);
	pace_counter_close(c);
}

TEST(api_counter_counts_exactly)
{
	struct pace_counter *c = open_here("page-faults:u");
	uint64_t fewest = ~0ULL;

	CHECK_EQ(pace_counter_enable(c, &err), 0);
	/* The first time some code has to be paged in too. */
	for (int i = 0; i < 3; i++) {
		uint64_t before = value_of(c).value, faults;

		freshpages_touch(64);
		faults = value_of(c).value - before;
		fewest = faults < fewest ? faults : fewest;
	}
	CHECK_EQ(fewest, 64);
	pace_counter_close(c);
}

TEST(api_counter_keeps_its_count_while_it_is_disabled)
{
	struct pace_counter *c = open_here("page-faults:u");
	struct pace_value v;

	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_touch(10);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	v = value_of(c);
	CHECK(v.value >= 10);
	freshpages_touch(10);
	CHECK_EQ(value_of(c).value, v.value);
	CHECK_EQ(value_of(c).time_enabled, v.time_enabled);
	/* And goes on from there. */
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_touch(10);
	CHECK(value_of(c).value >= v.value + 10);
	pace_counter_close(c);
}

TEST(api_counter_reset_is_of_the_count_not_the_times)
{
	struct pace_counter *c = open_here("page-faults:u");
	struct pace_value v;

	CHECK_EQ(pace_counter_enable(c, &err), 0);
	freshpages_touch(10);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	v = value_of(c);
	CHECK_EQ(pace_counter_reset(c, &err), 0);
	CHECK_EQ(value_of(c).value, 0);
	CHECK_EQ(value_of(c).time_enabled, v.time_enabled);
	CHECK_EQ(value_of(c).time_running, v.time_running);
	pace_counter_close(c);
}

TEST(api_counter_of_time_grows)
{
	struct pace_counter *c = open_here("task-clock:u");
	struct pace_value first, second;

	CHECK_EQ(pace_counter_enable(c, &err), 0);
	spin();
	first = value_of(c);
	spin();
	second = value_of(c);
	CHECK(first.value > 0);
	CHECK(second.value > first.value);
	CHECK(second.time_running <= second.time_enabled);
	pace_counter_close(c);
}

static void *touch_elsewhere(void *n)
{
	freshpages_touch(*(size_t *)n);
	return NULL;
}

TEST(api_counter_counts_the_thread_that_opened_it)
{
	struct pace_counter *c = open_here("page-faults:u");
	size_t n = 5000;
	pthread_t thread;

	CHECK_EQ(pace_counter_enable(c, &err), 0);
	CHECK_EQ(pthread_create(&thread, NULL, touch_elsewhere, &n), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(value_of(c).value < n / 2);
	pace_counter_close(c);
}

TEST(api_counter_counts_another_process)
{
	int gate[2], status;
	struct pace_counter *c;
	pid_t child;
	char byte;

	CHECK_EQ(pipe(gate), 0);
	child = fork();
	if (child == 0) {
		if (read(gate[0], &byte, 1) == 1)
			freshpages_touch(200);
		_exit(0);
	}
	c = pace_counter_open("page-faults:u", child, -1, &err);
	if (c)
		CHECK_EQ(pace_counter_enable(c, &err), 0);
	CHECK_EQ(write(gate[1], "g", 1), 1);
	CHECK_EQ(waitpid(child, &status, 0), child);
	if (!c)
		SKIP("%s", err.message);
	/* What it counted stays readable. */
	CHECK(value_of(c).value >= 200);
	CHECK(value_of(c).value < 1200);
	pace_counter_close(c);
}

TEST(api_counter_counts_everybody_on_a_cpu)
{
	struct pace_counter *c = pace_counter_open("task-clock", -1, 0, &err);

	if (!c)
		SKIP("%s", err.message);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	usleep(20000);
	CHECK(value_of(c).time_enabled >= 10000000);
	pace_counter_close(c);
}

TEST(api_counter_has_a_descriptor_of_its_own)
{
	struct pace_counter *c = open_here("page-faults:u"), *d = open_here("page-faults:u");
	int fd = pace_counter_fd(c);

	CHECK(fd >= 0 && fd != pace_counter_fd(d));
	/* Not for programs that are exec'd. */
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	pace_counter_close(c);
	CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
	pace_counter_close(d);
}

/* ---- errors ---- */

static void check_refused(const char *event, pid_t pid, int cpu, enum pace_error_code code,
	const char *message)
{
	memset(&err, 0xff, sizeof(err));
	CHECK(!pace_counter_open(event, pid, cpu, &err));
	CHECK_EQ(err.code, code);
	CHECK_STR(err.message, message);
}

TEST(api_refuses_to_measure_everybody_everywhere)
{
	check_refused("task-clock", -1, -1, PACE_ERROR_ARGUMENT,
		"pid -1 (every process) needs a CPU, cpu -1 (any CPU) needs a process: choose one");
	CHECK_EQ(err.system, 0);
}

TEST(api_explains_an_event_that_does_not_exist)
{
	memset(&err, 0xff, sizeof(err));
	CHECK(!pace_counter_open("page-fualts", 0, -1, &err));
	CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
	CHECK_HAS(err.message, "page-fualts");
	CHECK_HAS(err.message, "did you mean 'page-faults'?");
	CHECK_EQ(err.system, 0);
}

TEST(api_opens_one_event_at_a_time)
{
	check_refused("page-faults,task-clock", 0, -1, PACE_ERROR_ARGUMENT,
		"event 'page-faults,task-clock': expected one event, not 2");
	check_refused("{page-faults,task-clock,cs}", 0, -1, PACE_ERROR_ARGUMENT,
		"event '{page-faults,task-clock,cs}': expected one event, not 3");
	CHECK(!pace_counter_open("", 0, -1, &err));
	CHECK_EQ(err.code, PACE_ERROR_ARGUMENT);
}

TEST(api_names_a_process_that_is_not_there)
{
	pid_t child = fork();
	char message[128];

	if (child == 0)
		_exit(0);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	pace_counter_close(open_here("page-faults:u"));
	snprintf(message, sizeof(message), "opening 'page-faults:u': there is no process %d",
		child);
	check_refused("page-faults:u", child, -1, PACE_ERROR_NOT_FOUND, message);
}

TEST(api_gives_the_systems_error_too)
{
	struct pace_counter *c = open_here("page-faults:u");
	struct pace_value v = {1, 2, 3};

	CHECK_EQ(close(pace_counter_fd(c)), 0);
	CHECK_EQ(pace_counter_read(c, &v, &err), PACE_ERROR_SYSTEM);
	CHECK_EQ(err.code, PACE_ERROR_SYSTEM);
	CHECK_EQ(err.system, EBADF);
	CHECK_STR(err.message, "reading a counter: Bad file descriptor");
	/* What was not read is not written to. */
	CHECK(v.value == 1 && v.time_enabled == 2 && v.time_running == 3);
	CHECK_EQ(pace_counter_enable(c, &err), PACE_ERROR_SYSTEM);
	CHECK_STR(err.message, "enabling a counter: Bad file descriptor");
	CHECK_EQ(pace_counter_disable(c, &err), PACE_ERROR_SYSTEM);
	CHECK_STR(err.message, "disabling a counter: Bad file descriptor");
	CHECK_EQ(pace_counter_reset(c, &err), PACE_ERROR_SYSTEM);
	CHECK_STR(err.message, "resetting a counter: Bad file descriptor");
	pace_counter_close(c);
}

TEST(api_leaves_the_error_alone_when_there_is_none)
{
	struct pace_error untouched;
	struct pace_counter *c;
	struct pace_value v;

	memset(&err, 0x5a, sizeof(err));
	untouched = err;
	c = pace_counter_open("page-faults:u", 0, -1, &err);
	if (!c)
		SKIP("%s", err.message);
	pace_counter_enable(c, &err);
	pace_counter_read(c, &v, &err);
	pace_counter_reset(c, &err);
	pace_counter_disable(c, &err);
	pace_counter_close(c);
	CHECK(!memcmp(&err, &untouched, sizeof(err)));
}

TEST(api_closes_nothing_without_a_word)
{
	pace_counter_close(NULL);
}

TEST(api_says_what_hardware_events_need)
{
	struct pace_counter *c = pace_counter_open("instructions:u", 0, -1, &err);

	if (c) {
		struct pace_value v;

		CHECK_EQ(pace_counter_enable(c, &err), 0);
		spin();
		v = value_of(c);
		pace_counter_close(c);
		/* At least one for each round of the loop, if it ran all the time. */
		CHECK(v.value > 2000000 || v.time_running < v.time_enabled);
		return;
	}
	CHECK(err.code == PACE_ERROR_UNSUPPORTED || err.code == PACE_ERROR_PERMISSION);
	CHECK_HAS(err.message, "opening 'instructions:u': ");
}

/* ---- the library itself ---- */

static int find_library(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libpace.so"))
		return 0;
	snprintf(path, 4096, "%s", info->dlpi_name);
	return 1;
}

TEST(api_exports_its_own_names_and_no_others)
{
	char path[4096] = "", command[4200], line[512];
	unsigned n = 0;
	FILE *nm;

	dl_iterate_phdr(find_library, path);
	CHECK(*path);
	snprintf(command, sizeof(command), "nm -D --defined-only '%s' 2>/dev/null", path);
	nm = popen(command, "r");
	CHECK(nm);
	while (fgets(line, sizeof(line), nm)) {
		char type, name[256];

		if (sscanf(line, "%*x %c %255s", &type, name) != 2 || type == 'A')
			continue;
		if (strncmp(name, "pace_", 5))
			test_failed(__FILE__, __LINE__, "libpace exports '%s'", name);
		n++;
	}
	pclose(nm);
	if (!n)
		SKIP("nm is not installed");
	CHECK_EQ(n, 58);
}
