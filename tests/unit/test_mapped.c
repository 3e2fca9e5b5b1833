#include "base/mapped.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/workers.h"
#include "test.h"

TEST(mapped_pages_of_a_file_that_was_cut_off_read_as_zeros)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *bytes = malloc(3 * page);
	const volatile char *map;
	int fd;

	memset(bytes, 'x', 3 * page);
	test_write(test_path("file"), bytes, 3 * page);
	fd = open(test_path("file"), O_RDWR);
	CHECK(fd >= 0);
	map = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(map != MAP_FAILED);
	mapped_read_zeros();
	CHECK(map[2 * page + 5] == 'x');
	CHECK(!mapped_hurt((const void *)map, 3 * page));
	CHECK(!ftruncate(fd, (off_t)page + 7));
	CHECK(map[page - 1] == 'x');
	CHECK(map[page + 6] == 'x');
	/* the rest of a page that is still there is zeros by itself */
	CHECK(map[page + 7] == 0);
	CHECK(map[2 * page + 5] == 0);
	CHECK(map[3 * page - 1] == 0);
	CHECK(mapped_hurt((const void *)map, 3 * page) == (const void *)(map + 2 * page));
	CHECK(!mapped_hurt((const void *)map, 2 * page));
	CHECK(mapped_hurt((const void *)(map + 2 * page + 7), 1) == (const void *)(map + 2 * page));
	mapped_forget((const void *)map, 2 * page);
	CHECK(mapped_hurt((const void *)map, 3 * page));
	mapped_forget((const void *)(map + 2 * page), 1);
	CHECK(!mapped_hurt((const void *)map, 3 * page));
	close(fd);
	free(bytes);
}

struct cut {
	const volatile char *map;
	size_t page;
	atomic_uint n_begun;
	atomic_uint n_zeros;
};

/* Two threads, each at a page of its own. */
static void touch(void *ctx, size_t i, unsigned worker)
{
	struct cut *c = ctx;

	(void)worker;
	atomic_fetch_add(&c->n_begun, 1);
	while (atomic_load(&c->n_begun) < 2)
		usleep(100);
	atomic_fetch_add(&c->n_zeros, c->map[(1 + i) * c->page] == 0);
}

TEST(mapped_pages_read_as_zeros_in_every_worker)
{
	struct cut c = {.page = (size_t)sysconf(_SC_PAGESIZE)};
	char *bytes = malloc(3 * c.page);
	int fd;

	memset(bytes, 'x', 3 * c.page);
	test_write(test_path("file"), bytes, 3 * c.page);
	fd = open(test_path("file"), O_RDWR);
	c.map = mmap(NULL, 3 * c.page, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(c.map != MAP_FAILED);
	mapped_read_zeros();
	CHECK(!ftruncate(fd, (off_t)c.page));
	workers_run(2, 2, touch, &c);
	CHECK_EQ(atomic_load(&c.n_zeros), 2);
	close(fd);
	free(bytes);
}
