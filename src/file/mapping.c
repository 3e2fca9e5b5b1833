#include "file/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mapped.h"
#include "event/abi.h"

enum { PAGE_BYTES = 64 << 10 }; /* no machine has larger ones */

bool mapping_pays(const struct formats *formats)
{
	if (!mapped_is_safe())
		return false;
	for (size_t i = 0; i < formats->n; i++)
		if (formats->at[i].type & PERF_SAMPLE_STACK_USER)
			return true;
	return false;
}

bool mapping_move(struct mapping *m, int fd, u64 offset, u64 end, u64 most)
{
	u64 begin = offset & ~((u64)PAGE_BYTES - 1);
	struct stat status;
	void *at;

	mapping_fini(m);
	if (fstat(fd, &status))
		return false;
	/* The file may have become shorter since it was opened. */
	end = MIN(end, (u64)MAX(status.st_size, 0));
	if (begin >= end)
		return true;
	m->n = MIN(end - begin, most);
	at = mmap(NULL, m->n, PROT_READ, MAP_PRIVATE, fd, (off_t)begin);
	if (at == MAP_FAILED)
		return false;
	/* Another mapping may have been at these addresses, of a file that was truncated. */
	mapped_forget(at, m->n);
	m->at = at;
	m->offset = begin;
	return true;
}

void mapping_fini(struct mapping *m)
{
	if (m->at)
		munmap((void *)(uintptr_t)m->at, m->n);
	*m = (struct mapping){0};
}
