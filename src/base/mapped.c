#include "base/mapped.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HURT_KEPT = 64 };

static uintptr_t page_size;
static uintptr_t hurt[HURT_KEPT]; /* pages; 0: none yet */
static unsigned n_hurt;

/* Nothing but system calls: this is a signal handler. */
static void put_zeros(int number, siginfo_t *info, void *context)
{
	void *page = (void *)((uintptr_t)info->si_addr & ~(page_size - 1));

	(void)context;
	if (info->si_code == BUS_ADRERR &&
		mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
			page) {
		unsigned i = __atomic_fetch_add(&n_hurt, 1, __ATOMIC_RELAXED);

		__atomic_store_n(&hurt[i % HURT_KEPT], (uintptr_t)page, __ATOMIC_RELAXED);
		return;
	}
	/* Another cause: with the default action, repeating the access ends the process. */
	signal(number, SIG_DFL);
}

void mapped_read_zeros(void)
{
	struct sigaction action = {.sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO};

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

/* Whether the page overlaps [at, at + n). */
static bool is_in(uintptr_t page, const void *at, size_t n)
{
	return page && page + page_size > (uintptr_t)at && page < (uintptr_t)at + n;
}

const void *mapped_hurt(const void *at, size_t n)
{
	uintptr_t first = 0;

	for (size_t i = 0; i < HURT_KEPT; i++) {
		uintptr_t page = __atomic_load_n(&hurt[i], __ATOMIC_RELAXED);

		if (is_in(page, at, n) && (!first || page < first))
			first = page;
	}
	return (const void *)first;
}

void mapped_forget(const void *at, size_t n)
{
	for (size_t i = 0; i < HURT_KEPT; i++) {
		uintptr_t page = __atomic_load_n(&hurt[i], __ATOMIC_RELAXED);

		if (is_in(page, at, n))
			__atomic_compare_exchange_n(&hurt[i], &page, 0, false, __ATOMIC_RELAXED,
				__ATOMIC_RELAXED);
	}
}

bool mapped_is_safe(void)
{
	return page_size != 0;
}
