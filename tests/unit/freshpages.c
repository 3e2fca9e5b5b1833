#include "unit/freshpages.h"

#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

volatile char *freshpages_map(size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	madvise(p, n * page, MADV_NOHUGEPAGE);
	return p;
}

void freshpages_unmap(volatile char *pages, size_t n)
{
	munmap((void *)pages, n * sysconf(_SC_PAGESIZE));
}

/* The sanitizer would look at its shadow of these pages, which faults too. */
__attribute__((no_sanitize("address", "undefined"))) void freshpages_write(volatile char *pages,
	size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < n; i++)
		pages[i * page] = 1;
}

void freshpages_touch(size_t n)
{
	volatile char *pages = freshpages_map(n);

	freshpages_write(pages, n);
	freshpages_unmap(pages, n);
}
