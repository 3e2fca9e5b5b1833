#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/counter/userread.h"

/* ---- a page made by hand, and registers that say what a test wants ---- */

enum { HAS_MEANING = 2, HAS_COUNTER = 4, HAS_TIME = 8, HAS_SHORT_TIME = 32, ALL = 14 };

static struct ring_page page;
static u64 counter, clock_cycles;
static u32 asked, n_asked;
static void (*meanwhile)(void); /* what happens between two looks at the lock */

static u64 fake_counter(u32 number)
{
	asked = number;
	n_asked++;
	if (meanwhile)
		meanwhile();
	return counter;
}

static u64 fake_clock(void)
{
	return clock_cycles;
}

static const struct userread_registers fake = {fake_counter, fake_clock};

/* A counter that was on the PMU all the time, with a clock of 1 cycle a ns. */
static void make_page(void)
{
	page = (struct ring_page){.version = 1,
		.lock = 4,
		.index = 3,
		.offset = 1000,
		.time_enabled = 500,
		.time_running = 500,
		.capabilities = ALL,
		.pmc_width = 48,
		.time_mult = 1};
	counter = 7;
	clock_cycles = 0;
	asked = n_asked = 0;
	meanwhile = NULL;
}

static struct counter_value read_page(void)
{
	struct counter_value v = {.value = 11, .time_enabled = 22, .time_running = 33, .id = 44};

	if (!userread_page(&page, &fake, &v))
		test_failed(__FILE__, __LINE__, "the page was not enough");
	CHECK_EQ(v.id, 44);
	return v;
}

static void check_refused(void)
{
	struct counter_value v = {.value = 11, .time_enabled = 22, .time_running = 33};

	CHECK(!userread_page(&page, &fake, &v));
	CHECK(v.value == 11 && v.time_enabled == 22 && v.time_running == 33);
}

TEST(userread_adds_the_register_to_the_offset)
{
	struct counter_value v;

	make_page();
	v = read_page();
	CHECK_EQ(v.value, 1007);
	CHECK_EQ(v.time_enabled, 500);
	CHECK_EQ(v.time_running, 500);
	/* The index counts from 1. */
	CHECK_EQ(asked, 2);
	CHECK_EQ(n_asked, 1);
}

TEST(userread_extends_the_sign_of_every_width)
{
	make_page();
	for (unsigned width = 8; width <= 64; width++) {
		u64 all = width == 64 ? ~0ULL : (1ULL << width) - 1;

		page.pmc_width = width;
		page.offset = 1LL << 40;
		/* A register that waits for its overflow stands below zero. */
		counter = all - 99;
		CHECK_EQ(read_page().value, (1LL << 40) - 100);
		/* What is above the width does not count. */
		if (width < 64) {
			counter = 5 | ~all;
			CHECK_EQ(read_page().value, (1LL << 40) + 5);
		}
		counter = all >> 1;
		CHECK_EQ(read_page().value, (1LL << 40) + (all >> 1));
	}
	for (unsigned i = 0; i < 3; i++) {
		page.pmc_width = (const u16[]){0, 65, 999}[i];
		check_refused();
	}
}

TEST(userread_without_a_register_asks_the_kernel)
{
	make_page();
	page.index = 0;
	check_refused();
	CHECK_EQ(n_asked, 0);
}

TEST(userread_does_not_take_fractions_of_topdown_for_a_count)
{
	make_page();
	page.index = (1u << 29) + 1;
	check_refused();
	CHECK_EQ(n_asked, 0);
	page.index = (1u << 29) + 2;
	CHECK_EQ(read_page().value, 1007);
}

TEST(userread_needs_the_counter_the_clock_and_a_kernel_that_means_them)
{
	for (u64 bits = 0; bits < 64; bits++) {
		make_page();
		page.capabilities = bits;
		if ((bits & ALL) == ALL)
			CHECK_EQ(read_page().value, 1007);
		else
			check_refused();
	}
}

/* ---- the lock ---- */

/* The kernel changes everything once. */
static void change_once(void)
{
	meanwhile = NULL;
	counter = 100;
	page.lock += 2;
	page.offset = 2000;
	page.time_enabled = page.time_running = 900;
}

TEST(userread_begins_again_when_the_page_changed_meanwhile)
{
	struct counter_value v;

	make_page();
	meanwhile = change_once;
	v = read_page();
	CHECK_EQ(v.value, 2100);
	CHECK_EQ(v.time_enabled, 900);
	CHECK_EQ(n_asked, 2);
}

/* The counter is taken from the PMU while it is read. */
static void take_away(void)
{
	meanwhile = NULL;
	page.lock += 2;
	page.index = 0;
	page.offset = 1007;
}

TEST(userread_notices_that_the_register_was_taken_away)
{
	make_page();
	meanwhile = take_away;
	check_refused();
	CHECK_EQ(n_asked, 1);
}

/* Somebody begins to write and another one ends it: the lock is odd, and back at what it was never. */
static void begin_to_write(void)
{
	meanwhile = NULL;
	page.lock++;
	page.offset = -1;
}

TEST(userread_does_not_wait_forever_for_who_writes)
{
	make_page();
	meanwhile = begin_to_write;
	check_refused();
	CHECK_EQ(n_asked, 1);
	make_page();
	page.lock = 5;
	check_refused();
	CHECK_EQ(n_asked, 0);
}

static void change_always(void)
{
	page.lock += 2;
}

TEST(userread_gives_up_on_a_page_that_never_rests)
{
	make_page();
	meanwhile = change_always;
	check_refused();
	CHECK(n_asked > 10);
}

/* Writes {n, 2 n, 3 n} under the lock as fast as it can. */
static void *write_numbers(void *stop)
{
	for (u64 n = 1; !__atomic_load_n((bool *)stop, __ATOMIC_RELAXED); n++) {
		__atomic_store_n(&page.lock, page.lock + 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&page.offset, n, __ATOMIC_RELAXED);
		__atomic_store_n(&page.time_enabled, 2 * n, __ATOMIC_RELAXED);
		__atomic_store_n(&page.time_running, 3 * n, __ATOMIC_RELAXED);
		__atomic_store_n(&page.lock, page.lock + 1, __ATOMIC_RELEASE);
		if (n % 64 == 0)
			sched_yield();
	}
	return NULL;
}

TEST(userread_is_never_torn_by_a_writer_on_another_cpu)
{
	bool stop = false;
	pthread_t writer;
	unsigned n_read = 0;

	make_page();
	counter = 0;
	page.offset = 0;
	page.time_enabled = page.time_running = 0;
	CHECK_EQ(pthread_create(&writer, NULL, write_numbers, &stop), 0);
	/* A writer that is kept from running leaves nothing to be read for a while. */
	for (unsigned i = 0; i < 300000 || n_read <= 1000; i++) {
		struct counter_value v;

		if (!userread_page(&page, &fake, &v)) {
			if (i >= 300000)
				sched_yield();
			continue;
		}
		n_read++;
		CHECK_EQ(v.time_enabled, 2 * v.value);
		CHECK_EQ(v.time_running, 3 * v.value);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
	CHECK(n_read > 1000);
}

/* ---- times ---- */

TEST(userread_brings_both_times_up_to_date)
{
	struct counter_value v;

	make_page();
	/* On the PMU for half of the time; the page was written at cycle 3000, 2.5 ns a cycle. */
	page.time_running = 250;
	page.time_shift = 10;
	page.time_mult = 2560;
	page.time_offset = -7500;
	clock_cycles = 3000;
	v = read_page();
	CHECK_EQ(v.time_enabled, 500);
	CHECK_EQ(v.time_running, 250);
	clock_cycles = 7000;
	v = read_page();
	CHECK_EQ(v.time_enabled, 500 + 10000);
	CHECK_EQ(v.time_running, 250 + 10000);
}

TEST(userread_multiplies_clocks_of_years_without_losing_the_top)
{
	/* 2.1 GHz for three years */
	u64 cycles = 2100000000ULL * 3600 * 24 * 1000;

	make_page();
	page.time_shift = 31;
	page.time_mult = 1022611260; /* 2^31 / 2.1 */
	clock_cycles = cycles;
	/* by numbers of 128 bits */
	CHECK_EQ(read_page().time_enabled,
		500 + (u64)(((unsigned __int128)cycles * 1022611260) >> 31));
	page.time_shift = 64;
	check_refused();
}

TEST(userread_follows_a_clock_that_wraps)
{
	make_page();
	page.capabilities |= HAS_SHORT_TIME;
	page.time_mask = (1ULL << 32) - 1;
	page.time_cycles = (1ULL << 32) * 9 + 0xfffffff0;
	page.time_offset = -page.time_cycles;
	clock_cycles = 0x10;
	CHECK_EQ(read_page().time_enabled, 500 + 0x20);
}

/* ---- the kernel's pages ---- */

static int open_software(u64 config)
{
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = config,
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV};
	int fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		SKIP("perf_event_open: %s", strerror(errno));
	return fd;
}

TEST(userread_of_a_software_event_asks_the_kernel)
{
	int fd = open_software(PERF_COUNT_SW_TASK_CLOCK);
	struct counter_value v = {.value = 5};
	struct userread u;
	struct err err;

	if (!userread_registers()) {
		CHECK_EQ(userread_open(&u, fd, &err), ERR_UNSUPPORTED);
		return;
	}
	CHECK_EQ(userread_open(&u, fd, &err), 0);
	/* The structure is the kernel's: it says how large it is and that its bits have meaning. */
	CHECK_EQ(u.page->version, 0);
	CHECK(u.page->size >= offsetof(struct ring_page, time_mask) + 8 &&
		u.page->size <= offsetof(struct ring_page, data_head));
	CHECK(u.page->capabilities & HAS_MEANING);
	CHECK_EQ(u.page->index, 0);
	CHECK(!userread_value(&u, &v));
	CHECK_EQ(v.value, 5);
	userread_close(&u);
	userread_close(&u);
	CHECK(!userread_value(&u, &v));
	close(fd);
}

static void *read_elsewhere(void *u)
{
	struct counter_value v;

	return (void *)(uintptr_t)userread_value(u, &v);
}

TEST(userread_has_values_for_the_thread_that_opened_it_and_for_no_child)
{
	int fd = open_software(PERF_COUNT_SW_PAGE_FAULTS), status;
	struct counter_value v;
	struct userread u;
	pthread_t thread;
	struct err err;
	void *result;
	pid_t child;

	if (!userread_registers())
		SKIP("programs cannot read counters of this machine");
	CHECK_EQ(userread_open(&u, fd, &err), 0);
	/* A page that always has a value, in the place of the kernel's. */
	munmap(u.page, sysconf(_SC_PAGESIZE));
	u.page = mmap(u.page, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(u.page != MAP_FAILED);
	CHECK_EQ(pthread_create(&thread, NULL, read_elsewhere, &u), 0);
	CHECK_EQ(pthread_join(thread, &result), 0);
	CHECK(!result);
	child = fork();
	if (!child) {
		/* As the kernel leaves it: nothing is there. */
		munmap(u.page, sysconf(_SC_PAGESIZE));
		if (userread_value(&u, &v))
			_exit(1);
		userread_close(&u);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	userread_close(&u);
	close(fd);
}

TEST(userread_open_says_what_failed)
{
	struct userread u;
	struct err err;

	if (!userread_registers())
		SKIP("programs cannot read counters of this machine");
	CHECK(userread_open(&u, -1, &err) < 0);
	CHECK_EQ(err.sys, EBADF);
	CHECK_HAS(err.msg, "mapping a counter's page");
	userread_close(&u);
}

TEST(userread_of_a_hardware_counter_agrees_with_the_kernel)
{
	struct event_attr attr = {.type = PERF_TYPE_HARDWARE,
		.size = ATTR_SIZE_VER7,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
	struct counter c = {0};
	struct userread u;
	struct err err;
	unsigned n_fast = 0;

	userread_allow(&attr);
	c.fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (c.fd < 0)
		SKIP("this machine has no hardware counters: %s", strerror(errno));
	CHECK_EQ(userread_open(&u, c.fd, &err), 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct counter_value before, fast, after;
		size_t n;

		CHECK_EQ(counter_read(&c, &attr, &before, 1, &n, &err), 0);
		if (!userread_value(&u, &fast))
			continue;
		CHECK_EQ(counter_read(&c, &attr, &after, 1, &n, &err), 0);
		n_fast++;
		CHECK(before.value < fast.value && fast.value < after.value);
		CHECK(before.time_enabled <= fast.time_enabled &&
			fast.time_enabled <= after.time_enabled);
	}
	userread_close(&u);
	close(c.fd);
	if (!n_fast)
		SKIP("this kernel does not let programs read counters");
}
