/* Names, callers and lines of live samples, and what they carry, by pace.h alone. */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pace.h"
#include "test.h"
#include "unit/freshpages.h"

static struct pace_error err;

/* A function that stays one, under its name. */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

enum { N_PAGES = 16 };

/* ---- a program that is measured: main > ... > outermost > between > touch_pages ---- */

static KEPT unsigned touch_pages(volatile char *at, size_t page_size)
{
	unsigned line = __LINE__ + 2;
	for (size_t i = 0; i < N_PAGES; i++)
		at[i * page_size] = 1;
	return line;
}

static KEPT unsigned between(volatile char *at, size_t page_size)
{
	unsigned line = touch_pages(at, page_size);

	__asm__ volatile("" : "+r"(line)); /* no jump in the place of the call */
	return line;
}

static KEPT unsigned outermost(volatile char *at, size_t page_size)
{
	unsigned line = between(at, page_size);

	__asm__ volatile("" : "+r"(line));
	return line;
}

struct looked {
	struct pace_counter *counter;
	struct pace_ring *ring;
	unsigned line; /* that faults */
	size_t n_samples, n_named, n_between, n_outermost, n_complete, n_lines, n_user, n_regs,
		n_stacks;
	uint64_t sp_regs;
	int code; /* of pace_sample_place() */
	char thread[64], file[256];
};

static int look(void *context, const struct pace_sample *s)
{
	struct looked *l = context;
	struct pace_frame frames[64];
	struct pace_line lines[8];
	struct pace_place place;
	const char *ending;
	int n;

	l->n_samples++;
	l->code = pace_sample_place(s, NULL, &place, &err);
	if (l->code || !place.function || strcmp(place.function, "touch_pages"))
		return 0;
	l->n_named++;
	l->n_user += s->mode == PACE_MODE_USER;
	snprintf(l->thread, sizeof(l->thread), "%s", place.thread);
	snprintf(l->file, sizeof(l->file), "%s", place.file);
	l->n_regs += s->user_regs.n_values > 0 && s->user_regs.abi == 2 &&
		s->user_regs.n_values == (unsigned)__builtin_popcountll(s->user_regs.mask);
	l->n_stacks += s->n_stack > 64;
	n = pace_sample_callers(s, frames, 64, &ending, &err);
	CHECK(n >= 1);
	CHECK(frames[0].ip == s->ip && frames[0].mode == PACE_MODE_USER && !frames[0].is_return);
	l->n_complete += ending && !strcmp(ending, "complete");
	for (int i = 1; i < n; i++) {
		CHECK(frames[i].is_return == 1);
		CHECK_EQ(pace_sample_place(s, &frames[i], &place, &err), 0);
		l->n_between += i == 1 && place.function && !strcmp(place.function, "between");
		l->n_outermost += i == 2 && place.function && !strcmp(place.function, "outermost");
	}
	n = pace_sample_lines(s, NULL, lines, 8, &err);
	l->n_lines += n == 1 && lines[0].line + 1 >= l->line && lines[0].line <= l->line &&
		strstr(lines[0].file, "test_api_place.c") &&
		!strcmp(lines[0].function, "touch_pages");
	/* How many there are does not depend on the room for them. */
	CHECK_EQ(pace_sample_lines(s, NULL, NULL, 0, &err), n);
	return 0;
}

static struct looked measure(struct pace_options options)
{
	struct looked l = {0};
	struct pace_slots slots = {.context = &l, .sample = look};
	volatile char *pages = freshpages_map(N_PAGES);

	options.period = 1;
	options.sample |= PERF_SAMPLE_IP;
	l.counter = pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
	if (!l.counter)
		SKIP("%s", err.message);
	l.ring = pace_ring_open(l.counter, 64, &err);
	if (!l.ring)
		SKIP("%s", err.message);
	CHECK_EQ(pace_counter_enable(l.counter, &err), 0);
	l.line = outermost(pages, (size_t)sysconf(_SC_PAGESIZE));
	CHECK_EQ(pace_counter_disable(l.counter, &err), 0);
	CHECK_EQ(pace_ring_read(l.ring, &slots, &err), 0);
	pace_ring_close(l.ring);
	pace_counter_close(l.counter);
	freshpages_unmap(pages, N_PAGES);
	return l;
}

TEST(api_live_samples_have_names_callers_and_lines)
{
	struct looked l = measure((struct pace_options){.flags = PACE_SIDE_BAND | PACE_CALLERS});

	/* The code itself may fault too. */
	CHECK(l.n_named >= N_PAGES && l.n_lines >= N_PAGES);
	CHECK_EQ(l.n_user, l.n_named);
	CHECK_EQ(l.n_regs, l.n_named);
	CHECK_EQ(l.n_stacks, l.n_named);
	CHECK_EQ(l.n_between, l.n_named);
	CHECK_EQ(l.n_outermost, l.n_named);
	CHECK_EQ(l.n_complete, l.n_named);
	CHECK_HAS(l.file, "tests/api");
	CHECK(*l.thread);
}

TEST(api_live_samples_of_the_latest_ring_have_names)
{
	struct looked l = measure(
		(struct pace_options){.flags = PACE_SIDE_BAND | PACE_CALLERS | PACE_KEEP_LATEST,
			.stack_bytes = 4096});

	/* The code itself may fault too. */
	CHECK(l.n_named >= N_PAGES && l.n_lines >= N_PAGES);
	CHECK_EQ(l.n_outermost, l.n_named);
}

TEST(api_live_samples_without_the_side_band_say_what_names_need)
{
	struct looked l = measure((struct pace_options){0});

	CHECK(l.n_samples >= N_PAGES && !l.n_named);
	CHECK_EQ(l.code, PACE_ERROR_ARGUMENT);
	CHECK_STR(err.message,
		"this ring cannot name its samples: open its counter with PACE_SIDE_BAND");
}

/* ---- code that is mapped later ---- */

struct later {
	uint64_t from, to;
	size_t n;
	char file[256];
};

static int look_later(void *context, const struct pace_sample *s)
{
	struct later *l = context;
	struct pace_place place;

	if (s->ip < l->from || s->ip >= l->to)
		return 0;
	CHECK_EQ(pace_sample_place(s, NULL, &place, &err), 0);
	snprintf(l->file, sizeof(l->file), "%s", place.file);
	l->n++;
	return 0;
}

/* "*at = 1; return" from a file; NULL: nobody has written that machine's code here. */
static void (*map_code(size_t page_size))(volatile char *at)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {0xc6, 0x07, 0x01, 0xc3};
#elif defined(__aarch64__)
	static const unsigned char code[] = {0x21, 0x00, 0x80, 0x52, 0x01, 0x00, 0x00, 0x39, 0xc0,
		0x03, 0x5f, 0xd6};
#else
	static const unsigned char code[1];
	return NULL;
#endif
	int fd = memfd_create("later-code", 0);
	void *at;

	CHECK(fd >= 0 && write(fd, code, sizeof(code)) == (ssize_t)sizeof(code));
	CHECK_EQ(ftruncate(fd, (off_t)page_size), 0);
	at = mmap(NULL, page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK(at != MAP_FAILED);
	close(fd);
	return (void (*)(volatile char *))at;
}

static void check_later(bool is_on_when_mapped)
{
	struct pace_options options = {.period = 1,
		.sample = PERF_SAMPLE_IP,
		.flags = PACE_SIDE_BAND};
	struct pace_counter *c = pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
	struct pace_ring *ring = c ? pace_ring_open(c, 8, &err) : NULL;
	volatile char *pages = freshpages_map(1);
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct later l = {0};
	struct pace_slots slots = {.context = &l, .sample = look_later};
	void (*touch)(volatile char *at);

	if (!ring)
		SKIP("%s", err.message);
	if (is_on_when_mapped)
		CHECK_EQ(pace_counter_enable(c, &err), 0);
	touch = map_code(page_size);
	CHECK_EQ(pace_counter_enable(c, &err), 0);
	if (!touch)
		SKIP("there is no code of this machine here");
	touch(pages);
	CHECK_EQ(pace_counter_disable(c, &err), 0);
	l.from = (uintptr_t)touch;
	l.to = l.from + page_size;
	CHECK_EQ(pace_ring_read(ring, &slots, &err), 0);
	CHECK(l.n >= 1);
	CHECK_HAS(l.file, "later-code");
	pace_ring_close(ring);
	pace_counter_close(c);
	freshpages_unmap(pages, 1);
	munmap((void *)touch, page_size);
}

TEST(api_live_samples_have_the_names_of_code_that_is_mapped_later)
{
	check_later(true);
}

/* A counter that is off writes no records of maps. */
TEST(api_live_samples_have_the_names_of_code_that_was_mapped_while_it_was_off)
{
	check_later(false);
}

/* ---- what samples carry ---- */

struct carried {
	uint64_t n, value, last, sp, stack_begin;
	double scaled;
	uint32_t n_values;
};

static int see_values(void *context, const struct pace_sample *s)
{
	struct carried *c = context;

	c->n++;
	c->n_values = s->n_values;
	for (uint32_t i = 0; i < s->n_values; i++) {
		CHECK_EQ(s->values[i].counted, PACE_COUNTED);
		CHECK(s->values[i].scaled == (double)s->values[i].value);
		CHECK(s->values[i].id != 0);
	}
	if (s->n_values) {
		CHECK(s->values[0].value > c->value);
		c->value = s->values[0].value;
		c->last = s->values[s->n_values - 1].value;
	}
	return 0;
}

TEST(api_live_samples_carry_the_values_of_their_group)
{
	struct pace_options options = {.period = 1, .sample = PERF_SAMPLE_IP | PERF_SAMPLE_READ};
	struct pace_group *g =
		pace_group_open("page-faults:u,minor-faults:u,task-clock:u", 0, -1, &options, &err);
	struct pace_ring *ring = g ? pace_ring_open(pace_group_counter(g, 0), 8, &err) : NULL;
	volatile char *pages = freshpages_map(N_PAGES);
	struct carried c = {0};
	struct pace_slots slots = {.context = &c, .sample = see_values};

	if (!ring)
		SKIP("%s", err.message);
	CHECK_EQ(pace_group_enable(g, &err), 0);
	freshpages_write(pages, N_PAGES);
	CHECK_EQ(pace_group_disable(g, &err), 0);
	CHECK_EQ(pace_ring_read(ring, &slots, &err), 0);
	CHECK(c.n >= N_PAGES);
	CHECK_EQ(c.n_values, 3);
	CHECK_EQ(c.value, c.n);
	CHECK(c.last > 0);
	pace_ring_close(ring);
	pace_group_close(g);
	freshpages_unmap(pages, N_PAGES);
}

/* The bit of the stack pointer in the masks of asm/perf_regs.h. */
#if defined(__x86_64__)
enum { SP = 7 };
#else
enum { SP = 31 };
#endif

static int see_registers(void *context, const struct pace_sample *s)
{
	struct carried *c = context;

	c->n++;
	CHECK(s->user_regs.n_values == 1 && s->user_regs.mask == 1ULL << SP);
	CHECK(s->intr_regs.n_values == 1 && s->intr_regs.mask == 1ULL << SP);
	c->sp = s->user_regs.values[0];
	CHECK_EQ(s->intr_regs.values[0], c->sp);
	CHECK(s->n_stack > 0 && s->n_stack <= 256);
	memcpy(&c->stack_begin, s->stack, 8);
	return 0;
}

TEST(api_live_samples_carry_registers_and_a_copy_of_the_stack)
{
	struct pace_options options = {.period = 1,
		.sample = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR |
			PERF_SAMPLE_STACK_USER,
		.user_regs = 1ULL << SP,
		.intr_regs = 1ULL << SP,
		.stack_bytes = 256};
	struct pace_counter *counter =
		pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
	struct pace_ring *ring = counter ? pace_ring_open(counter, 8, &err) : NULL;
	volatile char *pages = freshpages_map(N_PAGES);
	struct carried c = {0};
	struct pace_slots slots = {.context = &c, .sample = see_registers};
	char here;

	if (!ring)
		SKIP("%s", err.message);
	CHECK_EQ(pace_counter_enable(counter, &err), 0);
	freshpages_write(pages, N_PAGES);
	CHECK_EQ(pace_counter_disable(counter, &err), 0);
	CHECK_EQ(pace_ring_read(ring, &slots, &err), 0);
	CHECK(c.n >= N_PAGES);
	CHECK(c.sp > (uintptr_t)&here - (1 << 20) && c.sp < (uintptr_t)&here + (1 << 20));
	pace_ring_close(ring);
	pace_counter_close(counter);
	freshpages_unmap(pages, N_PAGES);
}

/* ---- cycles that nobody counts ---- */

TEST(api_cycles_fall_back_to_a_timer_if_they_may)
{
	struct pace_options options = {.frequency = 1000, .sample = PERF_SAMPLE_IP};
	struct pace_counter *c = pace_counter_open_with("cycles:u", 0, -1, &options, &err);

	if (c)
		SKIP("this machine counts cycles");
	if (err.code == PACE_ERROR_PERMISSION)
		SKIP("%s", err.message);
	CHECK_EQ(err.code, PACE_ERROR_UNSUPPORTED);
	options.flags = PACE_FALLBACK;
	c = pace_counter_open_with("cycles:u", 0, -1, &options, &err);
	CHECK(c);
	CHECK_STR(pace_counter_name(c), "cpu-clock:u");
	pace_counter_close(c);
	/* A timer counts no cycles, and no other event is like it. */
	options.frequency = 0;
	options.sample = 0;
	CHECK(!pace_counter_open_with("cycles:u", 0, -1, &options, &err));
	options.period = 1000;
	CHECK(!pace_counter_open_with("instructions:u", 0, -1, &options, &err));
}

/* ---- what there is ---- */

struct list {
	size_t n, n_opening, n_forms;
	bool has_faults, has_cycles;
	const char *stop_at;
};

static int see_listed(void *context, const struct pace_listed *e)
{
	struct list *l = context;

	CHECK(e->name && *e->name && e->kind);
	CHECK(e->opens || e->reason || e->is_form);
	l->n++;
	l->n_opening += e->opens;
	l->n_forms += e->is_form;
	l->has_cycles |= !strcmp(e->name, "cycles") || (e->alias && !strcmp(e->alias, "cycles"));
	if (!strcmp(e->name, "page-faults") || (e->alias && !strcmp(e->alias, "page-faults"))) {
		l->has_faults = true;
		CHECK_STR(e->kind, "software");
	}
	return l->stop_at && !strcmp(e->kind, l->stop_at) ? 42 : 0;
}

TEST(api_lists_the_events_of_this_machine)
{
	struct list l = {0};

	if (pace_events_list(NULL, see_listed, &l, &err))
		test_failed(__FILE__, __LINE__, "%s", err.message);
	CHECK(l.n > 30 && l.has_faults && l.has_cycles && l.n_forms > 0);
	l = (struct list){.stop_at = "software"};
	CHECK_EQ(pace_events_list(NULL, see_listed, &l, &err), 42);
	l = (struct list){0};
	CHECK_EQ(pace_events_list("sw", see_listed, &l, &err), 0);
	CHECK(l.has_faults && !l.has_cycles && !l.n_forms);
	CHECK_EQ(pace_events_list("no-such-event-at-all", see_listed, &l, &err),
		PACE_ERROR_NOT_FOUND);
	CHECK_HAS(err.message, "no-such-event-at-all");
}
