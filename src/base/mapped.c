#include "base/mapped.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t page_size;

/* Nothing but system calls: this is a signal handler. */
static void put_zeros(int number, siginfo_t *info, void *context)
{
	void *page = (void *)((uintptr_t)info->si_addr & ~(page_size - 1));

	(void)context;
	if (info->si_code == BUS_ADRERR &&
		mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
			page)
		return;
	/* Something else: what is done again now ends the process. */
	signal(number, SIG_DFL);
}

void mapped_read_zeros(void)
{
	struct sigaction action = {.sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO};

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

bool mapped_is_safe(void)
{
	return page_size != 0;
}
