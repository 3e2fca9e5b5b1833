#include "test.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/counter/counter.h"
#include "event/abi.h"

/* ---- what the kernel returns, made by hand ---- */

static struct event_attr attr_of(u64 read_format)
{
	return (struct event_attr){.read_format = read_format};
}

/* A counter whose read gives these words. */
static struct counter fake(const u64 *words, size_t n_bytes)
{
	struct counter c = {.fd = memfd_create("counter", MFD_CLOEXEC)};

	CHECK(c.fd >= 0);
	CHECK_EQ(pwrite(c.fd, words, n_bytes, 0), n_bytes);
	return c;
}

enum {
	TIMES = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	ALL = TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST,
};

TEST(counter_reads_a_single_value_with_every_subset_of_its_words)
{
	for (u64 format = 0; format < 32; format++) {
		struct event_attr attr = attr_of(format);
		struct counter_value v[2];
		u64 words[5] = {11}, n = 1;
		struct counter c;
		struct err err;
		size_t n_values;

		if (format & PERF_FORMAT_GROUP)
			continue;
		/* value, enabled, running, id, lost: each where it is asked for */
		for (u64 bit = 1, value = 22; bit <= PERF_FORMAT_LOST; bit *= 2, value += 11)
			if (format & bit)
				words[n++] = value;
		c = fake(words, n * 8);
		CHECK_EQ(counter_read(&c, &attr, v, 2, &n_values, &err), 0);
		CHECK_EQ(n_values, 1);
		CHECK_EQ(v[0].value, 11);
		CHECK_EQ(v[0].time_enabled, format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 22 : 0);
		CHECK_EQ(v[0].time_running, format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 33 : 0);
		CHECK_EQ(v[0].id, format & PERF_FORMAT_ID ? 44 : 0);
		CHECK_EQ(v[0].lost, format & PERF_FORMAT_LOST ? 66 : 0);
		close(c.fd);
	}
}

TEST(counter_reads_a_group_whose_times_come_before_the_values)
{
	const u64 words[] = {2, 100, 50, /* value, id, lost */ 1, 10, 0, 2, 20, 7};
	struct event_attr attr = attr_of(ALL | PERF_FORMAT_GROUP);
	struct counter c = fake(words, sizeof(words));
	struct counter_value v[2];
	struct err err;
	size_t n;

	CHECK_EQ(counter_read(&c, &attr, v, 2, &n, &err), 0);
	CHECK_EQ(n, 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(v[i].value, i + 1);
		CHECK_EQ(v[i].time_enabled, 100);
		CHECK_EQ(v[i].time_running, 50);
		CHECK_EQ(v[i].id, (i + 1) * 10);
		CHECK_EQ(v[i].lost, i * 7);
	}
	close(c.fd);
}

TEST(counter_does_not_write_more_values_than_there_is_room_for)
{
	const u64 words[] = {3, 1, 2, 3};
	struct event_attr attr = attr_of(PERF_FORMAT_GROUP);
	struct counter c = fake(words, sizeof(words));
	struct counter_value *v = malloc(2 * sizeof(*v));
	struct err err;
	size_t n = 99;

	CHECK_EQ(counter_read(&c, &attr, v, 2, &n, &err), ERR_FORMAT);
	CHECK_EQ(n, 99);
	CHECK_STR(err.msg, "the kernel returned 32 bytes for read_format 0x8");
	free(v);
	close(c.fd);
}

TEST(counter_that_returns_too_few_words_is_an_error)
{
	const u64 words[] = {2, 100, 50, 1, 10, 0, 2, 20, 7};

	for (size_t n_bytes = 1; n_bytes < sizeof(words); n_bytes++) {
		struct event_attr attr = attr_of(ALL | PERF_FORMAT_GROUP);
		struct counter c = fake(words, n_bytes);
		struct counter_value v[4];
		struct err err;
		size_t n;

		CHECK_EQ(counter_read(&c, &attr, v, 4, &n, &err), ERR_FORMAT);
		close(c.fd);
		if (n_bytes >= 40)
			continue;
		attr.read_format = ALL;
		c = fake(words, n_bytes);
		CHECK_EQ(counter_read(&c, &attr, v, 4, &n, &err), ERR_FORMAT);
		close(c.fd);
	}
}

TEST(counter_at_its_end_of_file_has_lost_its_place)
{
	struct event_attr attr = attr_of(0);
	struct counter c = fake(NULL, 0);
	struct counter_value v;
	struct err err;
	size_t n;

	CHECK_EQ(counter_read(&c, &attr, &v, 1, &n, &err), ERR_LIMIT);
	CHECK_STR(err.msg, "a pinned event lost its place on the PMU and counts no more");
	close(c.fd);
}

TEST(counter_that_is_closed_says_so)
{
	struct event_attr attr = attr_of(0);
	struct counter at[] = {{.fd = -1}};
	struct counters all = {at, 1, 1};
	struct counter_value v;
	struct err err;
	size_t n;

	CHECK_EQ(counter_read(at, &attr, &v, 1, &n, &err), ERR_SYS);
	CHECK_EQ(err.sys, EBADF);
	CHECK_STR(err.msg, "reading a counter: Bad file descriptor");
	CHECK_EQ(counters_enable(&all, &err), ERR_SYS);
	CHECK_STR(err.msg, "enabling an event: Bad file descriptor");
	CHECK_EQ(counters_disable(&all, &err), ERR_SYS);
	CHECK_STR(err.msg, "disabling an event: Bad file descriptor");
}

TEST(counter_without_an_ioctl_for_ids_is_asked_by_reading)
{
	const u64 words[] = {5, 4711};
	struct event_attr attr = attr_of(PERF_FORMAT_ID);
	struct counter c = fake(words, sizeof(words));
	struct err err;

	CHECK_EQ(counter_fetch_id(&c, &attr, &err), 0);
	CHECK_EQ(c.id, 4711);
	close(c.fd);
}

/* ---- the kernel itself ---- */

/* Opens a software event on this thread; skips where that is forbidden. */
static struct counter open_one(struct event_attr *attr, u64 config, u64 read_format, int group_fd)
{
	struct counter c = {.cpu = -1};

	*attr = (struct event_attr){.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER5,
		.config = config,
		.read_format = read_format,
		.flags =
			ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | (group_fd < 0 ? ATTR_DISABLED : 0)};
	c.fd = perf_event_open(attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
	if (c.fd < 0)
		SKIP("perf_event_open: %s", strerror(errno));
	return c;
}

static struct counter_value read_one(const struct counter *c, const struct event_attr *attr)
{
	struct counter_value v;
	struct err err;
	size_t n;

	CHECK_EQ(counter_read(c, attr, &v, 1, &n, &err), 0);
	CHECK_EQ(n, 1);
	return v;
}

/*
 * Writes to n pages that nobody has touched before: n page faults, all from user space. The
 * sanitizer would look at its shadow of these pages, which faults too.
 */
__attribute__((no_sanitize_address)) static void touch(size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);
	volatile char *p =
		mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	madvise((void *)p, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		p[i * page] = 1;
	munmap((void *)p, n * page);
}

static void spin(void)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < 3000000; i++)
		sum = sum + i;
}

static void control(const struct counter *c, unsigned long request)
{
	CHECK_EQ(ioctl(c->fd, request, 0), 0);
}

TEST(counter_counts_exactly_the_page_faults_of_new_pages)
{
	struct event_attr attr;
	struct counter c = open_one(&attr, PERF_COUNT_SW_PAGE_FAULTS, 0, -1);
	u64 fewest = UINT64_MAX;

	control(&c, PERF_EVENT_IOC_ENABLE);
	/* The first time some code has to be paged in too. */
	for (int i = 0; i < 3; i++) {
		u64 before = read_one(&c, &attr).value;

		touch(100);
		fewest = MIN(fewest, read_one(&c, &attr).value - before);
	}
	CHECK_EQ(fewest, 100);
	close(c.fd);
}

TEST(counter_counts_only_while_it_is_enabled)
{
	struct event_attr attr;
	struct counter c = open_one(&attr, PERF_COUNT_SW_PAGE_FAULTS, TIMES, -1);
	struct counters all = {&c, 1, 1};
	struct counter_value v, later;
	struct err err;

	touch(10);
	v = read_one(&c, &attr);
	CHECK_EQ(v.value, 0);
	CHECK_EQ(v.time_enabled, 0);
	CHECK_EQ(counters_enable(&all, &err), 0);
	touch(10);
	CHECK_EQ(counters_disable(&all, &err), 0);
	v = read_one(&c, &attr);
	CHECK(v.value >= 10);
	CHECK(v.time_enabled > 0);
	CHECK_EQ(v.time_running, v.time_enabled);
	touch(10);
	later = read_one(&c, &attr);
	CHECK_EQ(later.value, v.value);
	CHECK_EQ(later.time_enabled, v.time_enabled);
	close(c.fd);
}

TEST(counter_reset_zeroes_the_count_and_leaves_the_times)
{
	struct event_attr attr;
	struct counter c = open_one(&attr, PERF_COUNT_SW_PAGE_FAULTS, TIMES, -1);
	struct counter_value v, later;

	control(&c, PERF_EVENT_IOC_ENABLE);
	touch(10);
	control(&c, PERF_EVENT_IOC_DISABLE);
	v = read_one(&c, &attr);
	CHECK(v.value >= 10);
	control(&c, PERF_EVENT_IOC_RESET);
	later = read_one(&c, &attr);
	CHECK_EQ(later.value, 0);
	CHECK_EQ(later.time_enabled, v.time_enabled);
	close(c.fd);
}

TEST(counter_of_the_task_clock_measures_time_that_passes)
{
	struct event_attr attr;
	struct counter c = open_one(&attr, PERF_COUNT_SW_TASK_CLOCK, TIMES, -1);
	struct counter_value first, second;

	control(&c, PERF_EVENT_IOC_ENABLE);
	spin();
	first = read_one(&c, &attr);
	spin();
	second = read_one(&c, &attr);
	CHECK(first.value > 0);
	CHECK(second.value > first.value);
	/* Its own unit is that of the times. */
	CHECK(second.value <= second.time_enabled + 1000000);
	close(c.fd);
}

TEST(counter_group_is_read_at_once_from_its_leader)
{
	struct event_attr attr, member;
	struct counter leader = open_one(&attr, PERF_COUNT_SW_TASK_CLOCK,
		TIMES | PERF_FORMAT_ID | PERF_FORMAT_GROUP, -1);
	struct counter faults =
		open_one(&member, PERF_COUNT_SW_PAGE_FAULTS, PERF_FORMAT_ID, leader.fd);
	struct counter_value v[3], alone;
	struct err err;
	size_t n;

	CHECK_EQ(counter_fetch_id(&leader, &attr, &err), 0);
	CHECK_EQ(counter_fetch_id(&faults, &member, &err), 0);
	CHECK(leader.id && faults.id && leader.id != faults.id);
	control(&leader, PERF_EVENT_IOC_ENABLE);
	touch(20);
	spin();
	control(&leader, PERF_EVENT_IOC_DISABLE);
	CHECK_EQ(counter_read(&leader, &attr, v, 3, &n, &err), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(v[0].id, leader.id);
	CHECK_EQ(v[1].id, faults.id);
	CHECK(v[0].value > 0);
	CHECK(v[1].value >= 20);
	CHECK_EQ(v[0].time_enabled, v[1].time_enabled);
	/* The group stands still: its member alone says the same. */
	alone = read_one(&faults, &member);
	CHECK_EQ(alone.value, v[1].value);
	CHECK_EQ(alone.id, faults.id);
	close(faults.fd);
	close(leader.fd);
}

TEST(counter_of_the_kernel_tells_its_id_both_ways)
{
	struct event_attr attr;
	struct counter c = open_one(&attr, PERF_COUNT_SW_PAGE_FAULTS, PERF_FORMAT_ID, -1);
	struct err err;

	CHECK_EQ(counter_fetch_id(&c, &attr, &err), 0);
	CHECK_EQ(read_one(&c, &attr).id, c.id);
	close(c.fd);
}

TEST(counters_close_closes_all_of_them)
{
	struct counters all = {0};
	struct event_attr attr;
	int fds[2];

	for (size_t i = 0; i < 2; i++) {
		vec_add(&all, open_one(&attr, PERF_COUNT_SW_DUMMY, 0, -1));
		fds[i] = all.at[i].fd;
	}
	counters_close(&all);
	CHECK_EQ(all.n, 0);
	for (size_t i = 0; i < 2; i++)
		CHECK(close(fds[i]) < 0 && errno == EBADF);
}
