#include "collect/counter/ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

static int map_ring(struct ring *ring, int fd, u64 pages, int protection, struct err *err)
{
	u64 page_size = sysconf(_SC_PAGESIZE);
	void *map;

	memset(ring, 0, sizeof(*ring));
	if (!pages || pages & (pages - 1))
		return err_set(err, ERR_INVAL, "a ring has a power of two of pages, not %llu",
			(unsigned long long)pages);
	map = mmap(NULL, (pages + 1) * page_size, protection, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "mapping a ring of %llu pages",
			(unsigned long long)pages);
	ring->page = map;
	ring->data = (const u8 *)map + page_size;
	ring->size = pages * page_size;
	ring->scratch = mem_alloc(UINT16_MAX + 1);
	return 0;
}

int ring_open(struct ring *ring, int fd, u64 pages, struct err *err)
{
	return map_ring(ring, fd, pages, PROT_READ | PROT_WRITE, err);
}

int ring_open_backward(struct ring *ring, int fd, u64 pages, struct err *err)
{
	/* A read-only mapping tells the kernel not to wait for a reader. */
	int r = map_ring(ring, fd, pages, PROT_READ, err);

	ring->is_backward = true;
	return r;
}

void ring_acquire_backward(struct ring *ring)
{
	/* Acquire: as in ring_acquire(). */
	ring->tail = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	ring->head = ring->tail + ring->size;
}

void ring_close(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->size + (ring->data - (const u8 *)ring->page));
	mem_free(ring->scratch);
	memset(ring, 0, sizeof(*ring));
}

u64 ring_acquire(struct ring *ring)
{
	/* Acquire: what the kernel wrote before it moved data_head is visible to later reads. */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	if (ring->head - ring->tail > ring->size) {
		ring->is_broken = true;
		ring->tail = ring->head;
	}
	return ring->head - ring->tail;
}

int ring_runs(const struct ring *ring, struct iovec runs[2])
{
	u64 at = ring->tail & (ring->size - 1), n = ring->head - ring->tail;
	u64 first = MIN(n, ring->size - at);

	if (!n)
		return 0;
	runs[0] = (struct iovec){(void *)(ring->data + at), first};
	runs[1] = (struct iovec){(void *)ring->data, n - first};
	return n > first ? 2 : 1;
}

/* Copies n bytes from `at` on, some of which may be at the ring's beginning. */
static void take(const struct ring *ring, u64 at, u64 n, void *to)
{
	u64 first = MIN(n, ring->size - at);

	memcpy(to, ring->data + at, first);
	memcpy((u8 *)to + first, ring->data, n - first);
}

bool ring_next(struct ring *ring, struct record *ret_rec)
{
	u64 at = ring->tail & (ring->size - 1), left = ring->head - ring->tail;
	u64 first = ring->size - at;
	struct record_header header;

	if (left < sizeof(header))
		return false;
	take(ring, at, sizeof(header), &header);
	if (!record_is_size_sound(header.type, header.size) || header.size > left) {
		/*
		 * The oldest record of a backward ring is followed by zeros, or by one that was
		 * partly overwritten.
		 */
		ring->is_broken = !ring->is_backward;
		ring->tail = ring->head;
		return false;
	}
	*ret_rec = (struct record){.type = header.type,
		.misc = header.misc,
		.size = header.size,
		.at = ring->data + at};
	if (first < header.size) {
		take(ring, at, header.size, ring->scratch);
		ret_rec->at = ring->scratch;
	}
	ring->tail += header.size;
	return true;
}

void ring_release(struct ring *ring)
{
	ring->tail = ring->head;
	/* Release: our reads are done before the kernel may overwrite what they read. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

void ring_release_read(struct ring *ring)
{
	ring->head = ring->tail;
	ring_release(ring);
}
