#include "collect/counter/userread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- registers ---- */

#if defined(__x86_64__) || defined(__i386__)

static u64 read_counter(u32 number)
{
	u32 low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
	return (u64)high << 32 | low;
}

static u64 read_clock(void)
{
	return __builtin_ia32_rdtsc();
}

static const struct userread_registers native = {read_counter, read_clock};

#elif defined(__aarch64__)

/* The register's number is part of the instruction: each register needs an instruction of its own. */
static u64 read_counter(u32 number)
{
	u64 v = 0;

	switch (number) {
#define EACH(n)                                                           \
	case n:                                                           \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(v)); \
		break;
		/* clang-format off */
		EACH(0) EACH(1) EACH(2) EACH(3) EACH(4) EACH(5) EACH(6) EACH(7)
		EACH(8) EACH(9) EACH(10) EACH(11) EACH(12) EACH(13) EACH(14) EACH(15)
		EACH(16) EACH(17) EACH(18) EACH(19) EACH(20) EACH(21) EACH(22) EACH(23)
		EACH(24) EACH(25) EACH(26) EACH(27) EACH(28) EACH(29) EACH(30)
		/* clang-format on */
#undef EACH
						case 31
		    : /* the kernel's name for the register that counts cycles */
		      __asm__ volatile("mrs %0, pmccntr_el0"
				       : "=r"(v));
		break;
	}
	return v;
}

static u64 read_clock(void)
{
	u64 v;

	/* Without isb the processor may read the clock ahead of time. */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v)::"memory");
	return v;
}

static const struct userread_registers native = {read_counter, read_clock};

#else

static const struct userread_registers native = {NULL, NULL};

#endif

const struct userread_registers *userread_registers(void)
{
	return native.counter ? &native : NULL;
}

void userread_allow(struct event_attr *attr)
{
#if defined(__aarch64__)
	/* config1 of ARMv8 PMUs. Only the cycle counter is 64 bits wide everywhere. */
	enum { LONG = 1 << 0, RDPMC = 1 << 1 };

	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
		attr->type == PERF_TYPE_RAW)
		attr->config1 |= RDPMC;
	if (attr->type == PERF_TYPE_HARDWARE && (u32)attr->config == PERF_COUNT_HW_CPU_CYCLES)
		attr->config1 |= LONG;
#else
	(void)attr;
#endif
}

/* ---- the page ---- */

enum capability {
	HAS_MEANING = 1 << 1, /* since 3.12: the bits that follow mean what they say */
	HAS_COUNTER = 1 << 2,
	HAS_TIME = 1 << 3,
	HAS_SHORT_TIME = 1 << 5, /* the clock's register is narrower than 64 bits */
	NEEDED = HAS_MEANING | HAS_COUNTER | HAS_TIME,
};

/*
 * x86: the register of TopDown metrics, which holds four fractions of a byte each, not a count.
 * Source: Documentation of Intel's TopDown metrics, rdpmc with bit 29 set.
 */
static const u32 METRICS = 1u << 29;

/* A writer that never finishes is not the kernel. */
enum { TRIES_MAX = 1000 };

static u64 extend_sign(u64 v, unsigned width)
{
	return (u64)((s64)(v << (64 - width)) >> (64 - width));
}

/* The ns since the page's times were written. */
static u64 time_since(const volatile struct ring_page *p, u64 capabilities, u64 cycles)
{
	u64 shift = p->time_shift, mult = p->time_mult, whole, rest;

	if (capabilities & HAS_SHORT_TIME)
		cycles = p->time_cycles + ((cycles - p->time_cycles) & p->time_mask);
	/* Computed in two parts, so that the product stays within 64 bits. */
	whole = cycles >> shift;
	rest = cycles & ((1ULL << shift) - 1);
	return p->time_offset + whole * mult + (rest * mult >> shift);
}

static bool can_be_read(const volatile struct ring_page *p, u64 capabilities, u32 index)
{
	return (capabilities & NEEDED) == NEEDED && index && index - 1 != METRICS && p->pmc_width &&
		p->pmc_width <= 64 && p->time_shift < 64;
}

bool userread_may(const struct ring_page *page)
{
	const volatile struct ring_page *p = page;
	u64 needed = HAS_MEANING | HAS_COUNTER;

	return (p->capabilities & needed) == needed;
}

bool userread_page(const struct ring_page *page, const struct userread_registers *registers,
	struct counter_value *ret_value)
{
	const volatile struct ring_page *p = page;

	for (unsigned i = 0; i < TRIES_MAX; i++) {
		/* Acquire: nothing below is read before the lock is. */
		u32 lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE), index = p->index;
		u64 capabilities = p->capabilities, since;
		struct counter_value v = {0};

		/* Odd: the kernel is writing, on another CPU. */
		if (lock & 1)
			continue;
		if (!can_be_read(p, capabilities, index))
			return false;
		v.value = (u64)p->offset + extend_sign(registers->counter(index - 1), p->pmc_width);
		since = time_since(p, capabilities, registers->clock());
		v.time_enabled = p->time_enabled + since;
		v.time_running = p->time_running + since;
		/* Acquire: everything above is read before the lock is checked again. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != lock)
			continue;
		ret_value->value = v.value;
		ret_value->time_enabled = v.time_enabled;
		ret_value->time_running = v.time_running;
		return true;
	}
	return false;
}

/* ---- whose it is ---- */

/* A mapped event does not survive fork, but the pointer to it does: children must not use it. */
struct userread_owner {
	pthread_t thread;
	bool is_set;
};

int userread_open(struct userread *u, int fd, struct err *err)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	void *page, *owner;

	*u = (struct userread){0};
	if (!native.counter)
		return err_set(err, ERR_UNSUPPORTED,
			"reading counters in user space is supported on x86 and arm64 only");
	owner = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (owner == MAP_FAILED)
		return err_sys(err, errno, "mapping a page");
	/* Linux 4.14. Without it a child could not tell that it is one. */
	if (madvise(owner, page_size, MADV_WIPEONFORK)) {
		munmap(owner, page_size);
		return err_set(err, ERR_UNSUPPORTED,
			"reading counters in user space needs Linux 4.14 (MADV_WIPEONFORK)");
	}
	page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		int sys = errno;

		munmap(owner, page_size);
		return err_sys(err, sys, "mapping a counter's page");
	}
	*u = (struct userread){page, owner};
	*u->owner = (struct userread_owner){pthread_self(), true};
	return 0;
}

void userread_close(struct userread *u)
{
	size_t page_size = sysconf(_SC_PAGESIZE);

	if (u->page && u->owner->is_set)
		munmap(u->page, page_size);
	if (u->owner)
		munmap(u->owner, page_size);
	*u = (struct userread){0};
}

bool userread_is_own(const struct userread *u)
{
	return u->page && u->owner->is_set && pthread_equal(u->owner->thread, pthread_self());
}

bool userread_value(const struct userread *u, struct counter_value *ret_value)
{
	return userread_is_own(u) && userread_page(u->page, &native, ret_value);
}
