/* Rings of samples, by pace.h alone. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"
#include "test.h"
#include "unit/freshpages.h"
#include "unit/nobody.h"

static struct pace_error err;

struct sampled {
	struct pace_counter *counter;
	struct pace_ring *ring;
	volatile char *pages;
	size_t n_pages, page_size;

	/* What the slots have seen. */
	uint64_t n_samples, n_mine, n_records, last_time, n_backwards, period;
	uint64_t first_page, last_page; /* of ours */
	uint64_t stop_after;
	uint32_t last_tid;
	unsigned long n_of_type[32];
	char losses[512];
};

static void open_sampled(struct sampled *s, struct pace_options options, unsigned ring_pages,
	size_t n_pages)
{
	memset(s, 0, sizeof(*s));
	if (!options.period)
		options.period = 1;
	/* 40 bytes a sample, which do not divide a page: they wrap around its end. */
	options.sample |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME | PERF_SAMPLE_TID;
	s->counter = pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
	if (!s->counter)
		SKIP("%s", err.message);
	s->ring = pace_ring_open(s->counter, ring_pages, &err);
	if (!s->ring)
		SKIP("%s", err.message);
	s->page_size = sysconf(_SC_PAGESIZE);
	s->n_pages = n_pages;
	s->pages = freshpages_map(n_pages);
}

static void touch(struct sampled *s, size_t first, size_t n)
{
	CHECK(first + n <= s->n_pages);
	CHECK_EQ(pace_counter_enable(s->counter, &err), 0);
	freshpages_write(s->pages + first * s->page_size, n);
	CHECK_EQ(pace_counter_disable(s->counter, &err), 0);
}

static int see_sample(void *context, const struct pace_sample *p)
{
	struct sampled *s = context;
	uint64_t page = (p->addr - (uintptr_t)s->pages) / s->page_size;

	CHECK_EQ(p->record->type, PERF_RECORD_SAMPLE);
	CHECK_EQ(p->record->time, p->time);
	CHECK_EQ(((const struct perf_event_header *)p->record->bytes)->size, p->record->size);
	CHECK_EQ(p->pid, getpid());
	CHECK_EQ(p->n_branches, 0);
	s->n_samples++;
	s->n_backwards += p->time < s->last_time;
	s->last_time = p->time;
	s->last_tid = p->tid;
	s->period += p->period;
	if (page < s->n_pages) {
		if (!s->n_mine)
			s->first_page = page;
		else
			CHECK_EQ(page, s->last_page + 1);
		s->last_page = page;
		s->n_mine++;
	}
	return s->stop_after && s->n_samples == s->stop_after ? 42 : 0;
}

static int see_record(void *context, const struct pace_record *r)
{
	struct sampled *s = context;

	CHECK(r->type != PERF_RECORD_SAMPLE && r->type < 32);
	s->n_records++;
	s->n_of_type[r->type]++;
	s->n_backwards += r->time < s->last_time;
	s->last_time = r->time;
	return 0;
}

static void see_loss(void *context, const char *sentence)
{
	struct sampled *s = context;

	strncat(s->losses, sentence, sizeof(s->losses) - strlen(s->losses) - 1);
}

static int read_sampled(struct sampled *s)
{
	struct pace_slots slots = {.context = s,
		.sample = see_sample,
		.record = see_record,
		.loss = see_loss};
	int r = pace_ring_read(s->ring, &slots, &err);

	if (r < 0)
		test_failed(__FILE__, __LINE__, "%s", err.message);
	return r;
}

static uint64_t counted(struct sampled *s, uint64_t *ret_lost)
{
	struct pace_value v;

	CHECK_EQ(pace_counter_read(s->counter, &v, &err), 0);
	if (ret_lost)
		*ret_lost = v.lost;
	return v.value;
}

static void close_sampled(struct sampled *s)
{
	pace_ring_close(s->ring);
	pace_counter_close(s->counter);
	freshpages_unmap(s->pages, s->n_pages);
}

TEST(api_ring_hands_out_every_sample_in_order)
{
	enum { ROUNDS = 100, A_ROUND = 37 };
	struct sampled s;

	open_sampled(&s, (struct pace_options){0}, 1, ROUNDS * A_ROUND);
	for (size_t i = 0; i < ROUNDS; i++) {
		touch(&s, i * A_ROUND, A_ROUND);
		CHECK_EQ(read_sampled(&s), 0);
	}
	CHECK_EQ(read_sampled(&s), 0);
	CHECK_EQ(s.n_mine, ROUNDS * A_ROUND);
	CHECK_EQ(s.first_page, 0);
	CHECK_EQ(s.n_samples, counted(&s, NULL));
	CHECK_EQ(s.period, s.n_samples);
	CHECK_EQ(s.n_backwards, 0);
	CHECK_EQ(s.n_records, 0);
	CHECK_EQ(s.last_tid, gettid());
	CHECK_STR(s.losses, "");
	close_sampled(&s);
}

TEST(api_ring_goes_on_where_a_slot_stopped_it)
{
	struct sampled s;

	open_sampled(&s, (struct pace_options){0}, 8, 64);
	touch(&s, 0, 64);
	s.stop_after = 10;
	CHECK_EQ(read_sampled(&s), 42);
	CHECK_EQ(s.n_samples, 10);
	s.stop_after = 0;
	CHECK_EQ(read_sampled(&s), 0);
	CHECK_EQ(s.n_mine, 64);
	CHECK_EQ(s.n_samples, counted(&s, NULL));
	close_sampled(&s);
}

TEST(api_ring_that_was_full_tells_how_many_were_lost)
{
	uint64_t lost, all;
	struct sampled s;

	open_sampled(&s, (struct pace_options){0}, 1, 1010);
	touch(&s, 0, 1000);
	read_sampled(&s);
	CHECK(s.n_samples <= s.page_size / 40);
	CHECK_STR(s.losses, "");
	/* The kernel says it when there is room again. */
	s.n_mine = 0;
	touch(&s, 1000, 10);
	read_sampled(&s);
	CHECK_HAS(s.losses, " records were lost: the ring was full");
	CHECK_EQ(s.n_of_type[PERF_RECORD_LOST], 1);
	all = counted(&s, &lost);
	CHECK_EQ(strtoull(s.losses, NULL, 10), all - s.n_samples);
	/* Linux 6.0 counts them in the counter too. */
	if (lost)
		CHECK_EQ(lost, all - s.n_samples);
	close_sampled(&s);
}

TEST(api_ring_may_keep_the_latest)
{
	struct sampled s;
	size_t n_held;

	open_sampled(&s, (struct pace_options){.flags = PACE_KEEP_LATEST}, 1, 2000);
	/* Before it is full: all. */
	touch(&s, 0, 20);
	read_sampled(&s);
	CHECK_EQ(s.n_mine, 20);
	CHECK_EQ(s.n_samples, counted(&s, NULL));
	CHECK_EQ(s.n_backwards, 0);
	/* Reading takes nothing away, and stopping neither. */
	s.n_samples = s.n_mine = s.last_time = 0;
	s.stop_after = 5;
	CHECK_EQ(read_sampled(&s), 42);
	s.n_samples = s.n_mine = s.last_time = s.stop_after = 0;
	CHECK_EQ(read_sampled(&s), 0);
	CHECK_EQ(s.n_mine, 20);

	for (size_t i = 20; i + 13 <= 2000; i += 13) {
		touch(&s, i, 13);
		s.n_samples = s.n_mine = s.last_time = 0;
		read_sampled(&s);
		/* The last page touched is the last sample; those before it are there without a gap. */
		CHECK_EQ(s.last_page, i + 12);
		CHECK_EQ(s.n_backwards, 0);
	}
	/* The oldest one lacks its end. */
	n_held = s.page_size / 40;
	CHECK(s.n_samples >= n_held - 2 && s.n_samples <= n_held);
	CHECK_STR(s.losses, "");
	close_sampled(&s);
}

TEST(api_ring_has_the_side_band_if_asked)
{
	struct sampled s;
	void *code;

	open_sampled(&s, (struct pace_options){.flags = PACE_SIDE_BAND}, 8, 4);
	CHECK_EQ(pace_counter_enable(s.counter, &err), 0);
	CHECK_EQ(prctl(PR_SET_NAME, "renamed"), 0);
	code = mmap(NULL, s.page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(code != MAP_FAILED);
	munmap(code, s.page_size);
	touch(&s, 0, 4);
	read_sampled(&s);
	CHECK_EQ(s.n_of_type[PERF_RECORD_COMM], 1);
	CHECK_EQ(s.n_of_type[PERF_RECORD_MMAP2], 1);
	CHECK_EQ(s.n_mine, 4);
	CHECK_EQ(s.n_backwards, 0);
	close_sampled(&s);
}

TEST(api_ring_gives_slots_only_what_they_want)
{
	struct sampled s;
	struct pace_slots nothing = {0};

	open_sampled(&s, (struct pace_options){.flags = PACE_SIDE_BAND}, 8, 4);
	touch(&s, 0, 4);
	CHECK_EQ(pace_ring_read(s.ring, &nothing, &err), 0);
	CHECK_EQ(read_sampled(&s), 0);
	CHECK_EQ(s.n_samples, 0);
	close_sampled(&s);
}

static int add_period(void *context, const struct pace_sample *p)
{
	uint64_t *sums = context;

	sums[0]++;
	sums[1] += p->period;
	/* What was not asked for is 0. */
	CHECK(p->ip && !p->time && !p->tid && !p->addr);
	return 0;
}

TEST(api_ring_of_a_frequency_has_periods_that_add_up)
{
	struct pace_options options = {.frequency = 1000,
		.sample = PERF_SAMPLE_PERIOD | PERF_SAMPLE_IP};
	struct pace_counter *c = pace_counter_open_with("cpu-clock:u", 0, -1, &options, &err);
	struct pace_ring *ring = c ? pace_ring_open(c, 8, &err) : NULL;
	uint64_t sums[2] = {0};
	struct pace_slots slots = {.context = sums, .sample = add_period};
	volatile unsigned sum = 0;
	struct pace_value v = {0};

	if (!ring)
		SKIP("%s", err.message);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	while (v.value < 50000000) {
		for (unsigned i = 0; i < 100000; i++)
			sum = sum + i;
		CHECK_EQ(pace_counter_read(c, &v, &err), 0);
	}
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	CHECK_EQ(pace_counter_read(c, &v, &err), 0);
	CHECK_EQ(pace_ring_read(ring, &slots, &err), 0);
	/* 50 ms, a sample each ms: some fall into the kernel, which is not looked at. */
	CHECK(sums[0] >= 10);
	CHECK_EQ(sums[1], sums[0] * 1000000);
	CHECK(sums[1] <= v.value);
	pace_ring_close(ring);
	pace_counter_close(c);
}

static void check_refused(const char *event, struct pace_options options, unsigned pages,
	enum pace_error_code code, const char *part)
{
	struct pace_counter *c = pace_counter_open_with(event, 0, -1, &options, &err);

	if (!c)
		SKIP("%s", err.message);
	CHECK(!pace_ring_open(c, pages, &err));
	CHECK_EQ(err.code, code);
	CHECK_HAS(err.message, part);
	pace_counter_close(c);
}

TEST(api_ring_says_why_there_cannot_be_one)
{
	check_refused("page-faults:u", (struct pace_options){.period = 1}, 3, PACE_ERROR_ARGUMENT,
		"a ring has a power of two of pages, not 3");
	check_refused("page-faults:u", (struct pace_options){.period = 1}, 0, PACE_ERROR_ARGUMENT,
		"a ring has a power of two of pages, not 0");
	check_refused("page-faults:u", (struct pace_options){0}, 1, PACE_ERROR_ARGUMENT,
		"'page-faults:u' was opened without a period or a frequency: it takes no samples");
	check_refused("page-faults:u", (struct pace_options){.period = 1, .flags = PACE_INHERIT}, 1,
		PACE_ERROR_ARGUMENT,
		"'page-faults:u' is inherited: children on other CPUs cannot write");
#if defined(__x86_64__) || defined(__aarch64__)
	check_refused("page-faults:u", (struct pace_options){.period = 1, .flags = PACE_USER_READ},
		1, PACE_ERROR_ARGUMENT, "'page-faults:u' is read in user space");
#endif
	pace_ring_close(NULL);
}

TEST(api_ring_names_the_limit_of_locked_memory)
{
	struct pace_options options = {.period = 1};
	struct pace_counter *c;

	nobody_begin();
	c = pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
	if (c && pace_ring_open(c, 1 << 16, &err)) {
		nobody_end();
		SKIP("everybody may lock any amount of memory here");
	}
	nobody_end();
	if (!c)
		SKIP("%s", err.message);
	CHECK_EQ(err.code, PACE_ERROR_PERMISSION);
	CHECK_HAS(err.message,
		"mapping a ring of 65536 pages: this user may not pin so much memory");
	pace_counter_close(c);
}
