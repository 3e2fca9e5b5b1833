/* Groups, scaling and switching, by pace.h alone. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"
#include "test.h"
#include "unit/freshpages.h"

static struct pace_error err;

enum { N = 64, MAX = 8 };

static struct pace_group *open_group(const char *events)
{
	struct pace_group *g = pace_group_open(events, 0, -1, NULL, &err);

	if (!g && (err.code == PACE_ERROR_PERMISSION || err.code == PACE_ERROR_UNSUPPORTED))
		SKIP("%s", err.message);
	if (!g)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return g;
}

static void read_group(struct pace_group *g, struct pace_value *values)
{
	int n = pace_group_read(g, values, MAX, &err);

	if (n < 0)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	CHECK_EQ(n, pace_group_size(g));
}

static uint64_t read_one(struct pace_counter *c)
{
	struct pace_value v;

	if (pace_counter_read(c, &v, &err))
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return v.value;
}

TEST(api_group_counts_the_same_faults_over_the_same_time)
{
	struct pace_group *g =
		open_group("{page-faults:u,minor-faults:u,major-faults:u,task-clock:u}");
	uint64_t fewest = ~0ULL;

	CHECK_EQ(pace_group_size(g), 4);
	CHECK_EQ(pace_group_enable(g, &err), 0);
	/* The first time some code has to be paged in too. */
	for (int i = 0; i < 3; i++) {
		struct pace_value before[MAX], after[MAX];
		uint64_t faults;

		read_group(g, before);
		freshpages_touch(N);
		read_group(g, after);
		faults = after[0].value - before[0].value;
		fewest = faults < fewest ? faults : fewest;
		/* All of a group is read at one moment. */
		CHECK_EQ(after[0].value, after[1].value + after[2].value);
		for (int k = 0; k < 4; k++) {
			CHECK_EQ(after[k].time_enabled, after[0].time_enabled);
			CHECK_EQ(after[k].time_running, after[k].time_enabled);
			CHECK_EQ(after[k].counted, PACE_COUNTED);
			CHECK(after[k].scaled == (double)after[k].value);
		}
		CHECK(after[3].value > before[3].value);
	}
	CHECK_EQ(fewest, N);
	pace_group_close(g);
}

TEST(api_group_is_written_with_braces_or_without)
{
	static const char *const same[] = {"{page-faults:u,task-clock:u}",
		"page-faults:u,task-clock:u", "{page-faults,task-clock}:u"};

	for (size_t i = 0; i < 3; i++) {
		struct pace_group *g = open_group(same[i]);
		struct pace_value values[MAX];

		CHECK_EQ(pace_group_size(g), 2);
		CHECK_EQ(pace_group_enable(g, &err), 0);
		freshpages_touch(N);
		CHECK_EQ(pace_group_disable(g, &err), 0);
		read_group(g, values);
		CHECK(values[0].value >= N && values[1].value > 0);
		CHECK_HAS(pace_counter_name(pace_group_counter(g, 1)), "task-clock");
		pace_group_close(g);
	}
}

TEST(api_group_of_one_is_a_group)
{
	struct pace_group *g = open_group("page-faults:u");
	struct pace_value v;

	CHECK_EQ(pace_group_size(g), 1);
	CHECK_EQ(pace_group_enable(g, &err), 0);
	freshpages_touch(N);
	CHECK_EQ(pace_group_read(g, &v, 1, &err), 1);
	CHECK(v.value >= N);
	pace_group_close(g);
}

static void check_refused(const char *events, enum pace_error_code code, const char *part)
{
	memset(&err, 0xff, sizeof(err));
	CHECK(!pace_group_open(events, 0, -1, NULL, &err));
	CHECK_EQ(err.code, code);
	CHECK_HAS(err.message, part);
}

TEST(api_group_is_one_and_whole)
{
	check_refused("{page-faults:u,cs},{task-clock:u,faults}", PACE_ERROR_ARGUMENT,
		"events '{page-faults:u,cs},{task-clock:u,faults}': expected one group, not 2");
	check_refused("page-faults:u,{task-clock:u,faults}", PACE_ERROR_ARGUMENT,
		"expected one group, not 2");
	check_refused("{page-faults:u,task-clock:u}:W", PACE_ERROR_ARGUMENT, "W has no meaning");
	check_refused("{page-faults:u,no-such-event}", PACE_ERROR_NOT_FOUND, "no-such-event");
	check_refused("", PACE_ERROR_ARGUMENT, "");
}

TEST(api_group_names_the_member_that_cannot_be_opened)
{
	struct pace_group *g = open_group("page-faults:u");
	int fd = pace_counter_fd(pace_group_counter(g, 0));

	pace_group_close(g);
	if ((g = pace_group_open("{page-faults:u,instructions:u}", 0, -1, NULL, &err))) {
		pace_group_close(g);
		SKIP("this machine has hardware counters");
	}
	CHECK_HAS(err.message, "opening 'instructions:u'");
	/* What was open before is closed. */
	g = open_group("page-faults:u");
	CHECK_EQ(pace_counter_fd(pace_group_counter(g, 0)), fd);
	pace_group_close(g);
}

TEST(api_group_tells_how_much_room_it_needs)
{
	struct pace_group *g = open_group("page-faults:u,task-clock:u");
	struct pace_value values[2] = {{.value = 5}, {.value = 6}};

	CHECK_EQ(pace_group_read(g, values, 1, &err), PACE_ERROR_LIMIT);
	CHECK_STR(err.message, "the group has 2 values, but there is room for 1");
	CHECK(values[0].value == 5 && values[1].value == 6);
	CHECK_EQ(pace_group_read(g, values, 2, &err), 2);
	pace_group_close(g);
}

TEST(api_group_members_have_ids_of_their_own)
{
	struct pace_group *g = open_group("page-faults:u,task-clock:u,minor-faults:u");
	struct pace_value values[MAX], v;

	read_group(g, values);
	for (int i = 0; i < 3; i++) {
		CHECK(values[i].id > 0);
		CHECK(values[i].id != values[(i + 1) % 3].id);
		/* A member that is asked alone says the same. */
		CHECK_EQ(pace_counter_read(pace_group_counter(g, i), &v, &err), 0);
		CHECK_EQ(v.id, values[i].id);
	}
	CHECK(!pace_group_counter(g, 3));
	/* Members are the group's. */
	pace_counter_close(pace_group_counter(g, 1));
	read_group(g, values);
	pace_group_close(g);
	pace_group_close(NULL);
}

TEST(api_group_reset_is_of_all_counts_not_of_times)
{
	struct pace_group *g = open_group("page-faults:u,minor-faults:u");
	struct pace_value before[MAX], after[MAX];

	CHECK_EQ(pace_group_enable(g, &err), 0);
	freshpages_touch(N);
	CHECK_EQ(pace_group_disable(g, &err), 0);
	read_group(g, before);
	CHECK_EQ(pace_group_reset(g, &err), 0);
	read_group(g, after);
	for (int i = 0; i < 2; i++) {
		CHECK(before[i].value >= N);
		CHECK_EQ(after[i].value, 0);
		CHECK_EQ(after[i].time_enabled, before[i].time_enabled);
		CHECK_EQ(after[i].time_running, before[i].time_running);
	}
	/* One alone. */
	CHECK_EQ(pace_group_enable(g, &err), 0);
	freshpages_touch(N);
	CHECK_EQ(pace_group_disable(g, &err), 0);
	CHECK_EQ(pace_counter_reset(pace_group_counter(g, 1), &err), 0);
	read_group(g, after);
	CHECK(after[0].value >= N);
	CHECK_EQ(after[1].value, 0);
	pace_group_close(g);
}

TEST(api_group_stops_with_its_leader_and_goes_on_without_a_member)
{
	struct pace_group *g = open_group("page-faults:u,minor-faults:u,faults:u");
	struct pace_value before[MAX], after[MAX];

	CHECK_EQ(pace_group_enable(g, &err), 0);
	freshpages_touch(N);
	CHECK_EQ(pace_counter_disable(pace_group_counter(g, 1), &err), 0);
	read_group(g, before);
	freshpages_touch(N);
	read_group(g, after);
	CHECK(after[0].value >= before[0].value + N);
	CHECK_EQ(after[1].value, before[1].value);
	CHECK(after[2].value >= before[2].value + N);
	/* Its own times say that it counted less. */
	CHECK_EQ(pace_counter_read(pace_group_counter(g, 1), &before[1], &err), 0);
	CHECK(before[1].time_enabled < after[0].time_enabled);

	CHECK_EQ(pace_counter_disable(pace_group_counter(g, 0), &err), 0);
	read_group(g, before);
	freshpages_touch(N);
	read_group(g, after);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(after[i].value, before[i].value);
	/* The leader alone starts those again that it stopped; the group all. */
	CHECK_EQ(pace_counter_enable(pace_group_counter(g, 0), &err), 0);
	freshpages_touch(N);
	read_group(g, after);
	CHECK(after[0].value >= before[0].value + N);
	CHECK_EQ(after[1].value, before[1].value);
	CHECK(after[2].value >= before[2].value + N);
	CHECK_EQ(pace_group_enable(g, &err), 0);
	freshpages_touch(N);
	read_group(g, after);
	CHECK(after[1].value >= before[1].value + N);
	pace_group_close(g);
}

/* ---- what a value is worth ---- */

/* Puts a file into the place of a counter: it reads what the test wants it to. */
static void say(struct pace_counter *c, const uint64_t *words, size_t n_bytes)
{
	int fd = memfd_create("counter", MFD_CLOEXEC);

	CHECK(fd >= 0);
	if (n_bytes)
		CHECK_EQ(write(fd, words, n_bytes), n_bytes);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK(dup2(fd, pace_counter_fd(c)) >= 0);
	close(fd);
}

static struct pace_value said(uint64_t value, uint64_t enabled, uint64_t running)
{
	struct pace_counter *c = pace_counter_open("page-faults:u", 0, -1, &err);
	uint64_t words[] = {value, enabled, running, 77};
	struct pace_value v;

	if (!c)
		SKIP("%s", err.message);
	say(c, words, sizeof(words));
	CHECK_EQ(pace_counter_read(c, &v, &err), 0);
	CHECK_EQ(v.value, value);
	CHECK_EQ(v.time_enabled, enabled);
	CHECK_EQ(v.time_running, running);
	CHECK_EQ(v.id, 77);
	pace_counter_close(c);
	return v;
}

TEST(api_value_of_a_part_of_the_time_is_an_estimate)
{
	struct pace_value v = said(1000, 400, 100);

	CHECK_EQ(v.counted, PACE_ESTIMATED);
	CHECK(v.scaled == 4000.0);
	v = said(1000, 400, 400);
	CHECK_EQ(v.counted, PACE_COUNTED);
	CHECK(v.scaled == 1000.0);
	/* Large numbers do not overflow on the way. */
	v = said(1ULL << 62, 1ULL << 40, 1ULL << 39);
	CHECK(v.scaled == 9223372036854775808.0);
}

TEST(api_value_that_was_never_counted_is_no_number)
{
	struct pace_value v = said(0, 400, 0);

	CHECK_EQ(v.counted, PACE_NOT_COUNTED);
	CHECK(isnan(v.scaled));
	v = said(0, 0, 0);
	CHECK_EQ(v.counted, PACE_NOT_COUNTED);
	CHECK(isnan(v.scaled));
}

TEST(api_pinned_counter_that_lost_its_place_is_an_error)
{
	struct pace_group *g = open_group("page-faults:u,task-clock:u");
	struct pace_value v[MAX] = {{.value = 5}};

	say(pace_group_counter(g, 0), NULL, 0);
	CHECK_EQ(pace_group_read(g, v, MAX, &err), PACE_ERROR_LIMIT);
	CHECK_STR(err.message, "a pinned event lost its place on the PMU and counts no more");
	CHECK_EQ(pace_counter_read(pace_group_counter(g, 0), v, &err), PACE_ERROR_LIMIT);
	CHECK_EQ(v[0].value, 5);
	pace_group_close(g);
}

TEST(api_value_between_two_has_the_share_of_that_time)
{
	struct pace_value a = said(1000, 400, 100), b = said(3000, 800, 500), v = {.value = 3};

	CHECK_EQ(pace_value_between(&a, &b, &v, &err), 0);
	CHECK_EQ(v.value, 2000);
	CHECK_EQ(v.time_enabled, 400);
	CHECK_EQ(v.time_running, 400);
	/* Then it was on the hardware all the time. */
	CHECK_EQ(v.counted, PACE_COUNTED);
	CHECK(v.scaled == 2000.0);
	CHECK_EQ(pace_value_between(&a, &a, &v, &err), 0);
	CHECK_EQ(v.counted, PACE_NOT_COUNTED);
	CHECK_EQ(pace_value_between(&b, &a, &v, &err), PACE_ERROR_ARGUMENT);
	CHECK_HAS(err.message, "the second value (1000) is older than the first (3000)");
	b.id++;
	CHECK_EQ(pace_value_between(&a, &b, &v, &err), PACE_ERROR_ARGUMENT);
	CHECK_STR(err.message,
		"counters 77 and 78 are different: their values cannot be subtracted");
}

/* ---- all counters of a thread ---- */

TEST(api_switches_all_counters_that_the_thread_has_opened)
{
	struct pace_group *g = open_group("page-faults:u,minor-faults:u");
	struct pace_counter *c = pace_counter_open("page-faults:u", 0, -1, &err), *other;
	struct pace_value v[MAX];
	int status, gate[2];
	uint64_t before;
	pid_t child;
	char byte;

	CHECK(c);
	CHECK_EQ(pipe(gate), 0);
	child = fork();
	if (!child) {
		close(gate[1]);
		for (size_t i = 0; i < 2; i++)
			if (read(gate[0], &byte, 1) == 1)
				freshpages_touch(N);
		_exit(0);
	}
	/* One that counts somebody else is of this thread too. */
	other = pace_counter_open("task-clock:u", child, -1, &err);
	CHECK(other);
	CHECK_EQ(pace_counters_enable_all(&err), 0);
	freshpages_touch(N);
	CHECK(read_one(c) >= N);
	read_group(g, v);
	CHECK(v[0].value >= N && v[1].value >= N);
	CHECK_EQ(write(gate[1], "g", 1), 1);
	for (int i = 0; i < 60000 && !read_one(other); i++)
		usleep(1000);
	CHECK(read_one(other) > 0);

	CHECK_EQ(pace_counters_disable_all(&err), 0);
	before = read_one(c);
	freshpages_touch(N);
	CHECK_EQ(read_one(c), before);
	before = read_one(other);
	CHECK_EQ(write(gate[1], "g", 1), 1);
	close(gate[1]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(read_one(other), before);
	pace_counter_close(other);
	pace_counter_close(c);
	pace_group_close(g);
}

static void *disable_all_here(void *unused)
{
	pace_counters_disable_all(&err);
	return unused;
}

struct opener {
	pid_t of;
	struct pace_counter *counter;
	pthread_barrier_t barrier;
};

/* Opens a counter on somebody else, and stays until that one has switched its own. */
static void *open_on_other(void *context)
{
	struct pace_options options = {.flags = PACE_ENABLED};
	struct opener *o = context;

	o->counter = pace_counter_open_with("page-faults:u", o->of, -1, &options, &err);
	pthread_barrier_wait(&o->barrier);
	pthread_barrier_wait(&o->barrier);
	return NULL;
}

TEST(api_does_not_switch_what_another_thread_has_opened)
{
	struct pace_counter *c = pace_counter_open("page-faults:u", 0, -1, &err);
	struct opener o = {.of = gettid()};
	pthread_t thread;
	uint64_t before;

	if (!c)
		SKIP("%s", err.message);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	CHECK_EQ(pthread_create(&thread, NULL, disable_all_here, NULL), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	before = read_one(c);
	freshpages_touch(N);
	CHECK(read_one(c) >= before + N);

	CHECK_EQ(pthread_barrier_init(&o.barrier, NULL, 2), 0);
	CHECK_EQ(pthread_create(&thread, NULL, open_on_other, &o), 0);
	pthread_barrier_wait(&o.barrier);
	CHECK(o.counter);
	CHECK_EQ(pace_counters_disable_all(&err), 0);
	before = read_one(o.counter);
	freshpages_touch(N);
	/* It counts this thread, and is not this thread's. */
	CHECK(read_one(o.counter) >= before + N);
	pthread_barrier_wait(&o.barrier);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	pace_counter_close(o.counter);
	pace_counter_close(c);
}
