#include "collect/counter/ring.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/counter/counter.h"
#include "test.h"
#include "unit/recording.h"

/* ---- a ring that the test fills itself ---- */

enum { SIZE = 256 };

struct fake {
	struct ring ring;
	u8 *data; /* of exactly SIZE bytes */
};

/* A ring whose reader and writer both stand at `position`. */
static void fake_init(struct fake *f, u64 position)
{
	memset(f, 0, sizeof(*f));
	f->data = memset(mem_alloc(SIZE), 0xee, SIZE);
	f->ring.page = mem_zalloc(sizeof(*f->ring.page));
	f->ring.data = f->data;
	f->ring.size = SIZE;
	f->ring.scratch = mem_alloc(UINT16_MAX + 1);
	f->ring.head = f->ring.tail = position;
	f->ring.page->data_head = f->ring.page->data_tail = position;
}

static void fake_fini(struct fake *f)
{
	mem_free(f->data);
	mem_free(f->ring.page);
	mem_free(f->ring.scratch);
}

/* Writes as the kernel does: data first, then the head. */
static void fake_put(struct fake *f, u32 type, u16 size, u8 fill)
{
	struct record_header header = {type, 0x1234, size};
	u64 at = f->ring.page->data_head;

	for (u16 i = 0; i < size; i++)
		f->data[(at + i) % SIZE] = i < sizeof(header) ? ((const u8 *)&header)[i] : fill;
	f->ring.page->data_head += size;
}

static void check_next(struct fake *f, u32 type, u16 size, u8 fill)
{
	struct record rec;

	CHECK(ring_next(&f->ring, &rec));
	CHECK_EQ(rec.type, type);
	CHECK_EQ(rec.misc, 0x1234);
	CHECK_EQ(rec.size, size);
	CHECK_EQ(rec.offset, 0);
	CHECK_EQ(load_u32(rec.at), type);
	for (u16 i = RECORD_HEADER_SIZE; i < size; i++)
		CHECK_EQ(rec.at[i], fill);
}

/* Places to begin at: all in the ring, and those before the counter of bytes wraps around. */
static const u64 laps[] = {0, SIZE, 1ULL << 32, UINT64_MAX - SIZE + 1};

TEST(ring_records_are_whole_wherever_they_wrap)
{
	for (size_t lap = 0; lap < ARRAY_SIZE(laps); lap++) {
		for (u64 place = 0; place < SIZE; place += 8) {
			for (u16 size = 8; size <= SIZE; size += 8) {
				struct record rec;
				struct fake f;

				fake_init(&f, laps[lap] + place);
				CHECK_EQ(ring_acquire(&f.ring), 0);
				CHECK(!ring_next(&f.ring, &rec));
				fake_put(&f, 9, size, 0xab);
				CHECK_EQ(ring_acquire(&f.ring), size);
				check_next(&f, 9, size, 0xab);
				CHECK(!ring_next(&f.ring, &rec));
				ring_release(&f.ring);
				CHECK(f.ring.page->data_tail == laps[lap] + place + size);
				CHECK(!f.ring.is_broken);
				fake_fini(&f);
			}
		}
	}
}

/* Of a 32-bit program's stack the kernel copies up to the end of the address space, whatever is left of it. */
TEST(ring_samples_may_have_any_size_and_put_what_follows_at_any_place)
{
	for (u64 place = 0; place < SIZE; place++) {
		for (u16 size = 8; size < 32; size++) {
			struct record rec;
			struct fake f;

			fake_init(&f, place);
			fake_put(&f, PERF_RECORD_SAMPLE, size, 0x11);
			fake_put(&f, PERF_RECORD_EXIT, 24, 0x22);
			fake_put(&f, PERF_RECORD_SAMPLE, size, 0x33);
			CHECK_EQ(ring_acquire(&f.ring), 2 * size + 24);
			check_next(&f, PERF_RECORD_SAMPLE, size, 0x11);
			check_next(&f, PERF_RECORD_EXIT, 24, 0x22);
			check_next(&f, PERF_RECORD_SAMPLE, size, 0x33);
			CHECK(!ring_next(&f.ring, &rec));
			CHECK(!f.ring.is_broken);
			fake_fini(&f);
		}
	}
}

TEST(ring_records_come_in_order_through_many_laps)
{
	u64 dice = 6, put = 0, got = 0;
	u16 sizes[64];
	struct fake f;

	fake_init(&f, UINT64_MAX - 1023);
	while (got < 5000) {
		u64 n;

		while (put - got < ARRAY_SIZE(sizes)) {
			u16 size = 8 + 8 * recording_below(&dice, 12);

			if (f.ring.page->data_head + size - f.ring.page->data_tail > SIZE)
				break;
			sizes[put % ARRAY_SIZE(sizes)] = size;
			fake_put(&f, 100 + put % 50, size, (u8)put);
			put++;
		}
		n = ring_acquire(&f.ring);
		CHECK(n > 0 && n <= SIZE);
		for (; got < put; got++)
			check_next(&f, 100 + got % 50, sizes[got % ARRAY_SIZE(sizes)], (u8)got);
		ring_release(&f.ring);
		CHECK(f.ring.page->data_tail == f.ring.page->data_head);
	}
	CHECK(!f.ring.is_broken);
	fake_fini(&f);
}

TEST(ring_reads_only_up_to_the_head_that_was_acquired)
{
	struct record rec;
	struct fake f;

	fake_init(&f, 200);
	fake_put(&f, 1, 16, 1);
	CHECK_EQ(ring_acquire(&f.ring), 16);
	fake_put(&f, 2, 24, 2);
	check_next(&f, 1, 16, 1);
	CHECK(!ring_next(&f.ring, &rec));
	ring_release(&f.ring);
	CHECK_EQ(f.ring.page->data_tail, 216);
	CHECK_EQ(ring_acquire(&f.ring), 24);
	check_next(&f, 2, 24, 2);
	fake_fini(&f);
}

TEST(ring_runs_are_none_one_or_two)
{
	for (u64 place = 0; place < SIZE; place += 8) {
		for (u16 size = 8; size <= SIZE; size += 8) {
			struct iovec runs[2] = {{NULL, 0}, {NULL, 0}};
			struct fake f;
			int n;

			fake_init(&f, 3 * SIZE + place);
			ring_acquire(&f.ring);
			CHECK_EQ(ring_runs(&f.ring, runs), 0);
			fake_put(&f, 7, size, 0x5c);
			ring_acquire(&f.ring);
			n = ring_runs(&f.ring, runs);
			CHECK_EQ(n, place + size > SIZE ? 2 : 1);
			CHECK(runs[0].iov_base == f.data + place);
			CHECK_EQ(runs[0].iov_len, n == 2 ? SIZE - place : size);
			if (n == 2) {
				CHECK(runs[1].iov_base == f.data);
				CHECK_EQ(runs[1].iov_len, place + size - SIZE);
			}
			/* Handing out runs does not move the reader; releasing does. */
			CHECK_EQ(f.ring.page->data_tail, 3 * SIZE + place);
			ring_release(&f.ring);
			CHECK_EQ(f.ring.page->data_tail, 3 * SIZE + place + size);
			CHECK_EQ(ring_runs(&f.ring, runs), 0);
			fake_fini(&f);
		}
	}
}

TEST(ring_whose_head_makes_no_sense_reads_as_empty)
{
	static const u64 heads[] = {SIZE + 8 + 64, 56, 0, UINT64_MAX - 7, 1ULL << 63};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct record rec;
		struct iovec runs[2];
		struct fake f;

		fake_init(&f, 64);
		f.ring.page->data_head = heads[i];
		CHECK_EQ(ring_acquire(&f.ring), 0);
		CHECK(f.ring.is_broken);
		CHECK(!ring_next(&f.ring, &rec));
		CHECK_EQ(ring_runs(&f.ring, runs), 0);
		/* It goes on from there. */
		f.ring.is_broken = false;
		ring_release(&f.ring);
		CHECK(f.ring.page->data_tail == heads[i]);
		fake_put(&f, 5, 8, 0);
		CHECK_EQ(ring_acquire(&f.ring), 8);
		check_next(&f, 5, 8, 0);
		CHECK(!f.ring.is_broken);
		fake_fini(&f);
	}
}

TEST(ring_full_to_the_last_byte_is_not_broken)
{
	struct fake f;

	fake_init(&f, 64);
	fake_put(&f, 5, SIZE, 1);
	CHECK_EQ(ring_acquire(&f.ring), SIZE);
	CHECK(!f.ring.is_broken);
	check_next(&f, 5, SIZE, 1);
	fake_fini(&f);
}

/* Sizes no record has: less than a header, more than there is, or such that the next header would
 * not be aligned. */
TEST(ring_record_with_an_impossible_size_ends_the_reading)
{
	static const u16 sizes[] = {0, 1, 7, 9, 12, 20, 31, 40, 64, SIZE, UINT16_MAX,
		UINT16_MAX - 7};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (u64 place = 0; place < SIZE; place += 8) {
			struct record_header bad = {PERF_RECORD_COMM, 0, sizes[i]};
			struct record rec;
			struct fake f;
			u64 at;

			fake_init(&f, place);
			fake_put(&f, 1, 16, 1);
			at = f.ring.page->data_head % SIZE;
			fake_put(&f, 9, 32, 2);
			memcpy(f.data + at, &bad, sizeof(bad));
			CHECK_EQ(ring_acquire(&f.ring), 48);
			check_next(&f, 1, 16, 1);
			CHECK(!ring_next(&f.ring, &rec));
			CHECK(f.ring.is_broken);
			CHECK(!ring_next(&f.ring, &rec));
			/* The rest is skipped, and the next records are read again. */
			ring_release(&f.ring);
			CHECK_EQ(f.ring.page->data_tail, place + 48);
			fake_put(&f, 3, 24, 3);
			CHECK_EQ(ring_acquire(&f.ring), 24);
			check_next(&f, 3, 24, 3);
			fake_fini(&f);
		}
	}
}

TEST(ring_with_less_than_a_header_left_has_no_record)
{
	for (u64 n = 1; n < RECORD_HEADER_SIZE; n++) {
		struct record rec;
		struct fake f;

		fake_init(&f, 0);
		f.ring.page->data_head = n;
		CHECK_EQ(ring_acquire(&f.ring), n);
		CHECK(!ring_next(&f.ring, &rec));
		fake_fini(&f);
	}
}

TEST(ring_gives_back_only_what_was_read)
{
	struct fake f;

	fake_init(&f, SIZE - 16);
	fake_put(&f, 1, 24, 1);
	fake_put(&f, 2, 16, 2);
	CHECK_EQ(ring_acquire(&f.ring), 40);
	check_next(&f, 1, 24, 1);
	ring_release_read(&f.ring);
	CHECK_EQ(f.ring.page->data_tail, SIZE - 16 + 24);
	CHECK_EQ(ring_acquire(&f.ring), 16);
	check_next(&f, 2, 16, 2);
	ring_release_read(&f.ring);
	CHECK_EQ(ring_acquire(&f.ring), 0);
	fake_fini(&f);
}

/* Puts a record in front of the others, as the kernel does with ATTR_WRITE_BACKWARD. */
static void fake_put_before(struct fake *f, u16 type, u16 size, u8 fill)
{
	f->ring.page->data_head -= size;
	for (u64 i = 0; i < size; i++)
		f->data[(f->ring.page->data_head + i) % SIZE] = fill;
	memcpy(f->data + f->ring.page->data_head % SIZE,
		&(struct record_header){type, 0x1234, size}, sizeof(struct record_header));
}

TEST(ring_that_is_filled_backward_begins_with_the_latest)
{
	for (u64 start = 0; start < SIZE; start += 8) {
		struct record rec;
		struct fake f;

		fake_init(&f, 0);
		f.ring.is_backward = true;
		memset(f.data, 0, SIZE);
		f.ring.page->data_head = -start;
		ring_acquire_backward(&f.ring);
		CHECK(!ring_next(&f.ring, &rec));
		fake_put_before(&f, 1, 24, 1);
		fake_put_before(&f, 2, 40, 2);
		ring_acquire_backward(&f.ring);
		check_next(&f, 2, 40, 2);
		check_next(&f, 1, 24, 1);
		/* Behind the oldest one nothing was ever written. */
		CHECK(!ring_next(&f.ring, &rec));
		CHECK(!f.ring.is_broken);
		/* All around: the end of the oldest that is left was written over. */
		for (u8 i = 3; i < 100; i++)
			fake_put_before(&f, i, 40, i);
		ring_acquire_backward(&f.ring);
		for (u8 i = 99; i > 99 - SIZE / 40; i--)
			check_next(&f, i, 40, i);
		CHECK(!ring_next(&f.ring, &rec));
		CHECK(!f.ring.is_broken);
		fake_fini(&f);
	}
}

TEST(ring_open_wants_a_power_of_two_of_pages)
{
	static const u64 pages[] = {0, 3, 5, 6, 7, 12, 127, UINT64_MAX};
	struct ring ring;
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		CHECK_EQ(ring_open(&ring, -1, pages[i], &err), ERR_INVAL);
		CHECK_HAS(err.msg, "power of two");
		ring_close(&ring);
	}
	CHECK(ring_open(&ring, -1, 8, &err) < 0);
	CHECK_EQ(err.sys, EBADF);
	CHECK_HAS(err.msg, "mapping a ring of 8 pages");
	ring_close(&ring);
}

/* ---- the kernel's rings ---- */

struct faults {
	struct event_attr attr;
	struct counter counter;
	struct ring ring;
	size_t page_size;
	u8 *memory; /* pages that were never touched */
	size_t n_pages, n_touched;
};

/* One sample for each page fault of this thread; skips where that is not allowed. */
static void faults_open(struct faults *f, u64 ring_pages, size_t n_pages)
{
	struct err err;

	memset(f, 0, sizeof(*f));
	f->page_size = sysconf(_SC_PAGESIZE);
	f->attr = (struct event_attr){.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
		.read_format = PERF_FORMAT_LOST,
		.flags = ATTR_DISABLED | ATTR_EXCLUDE_KERNEL};
	f->counter.fd = perf_event_open(&f->attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (f->counter.fd < 0 && errno == EINVAL) {
		f->attr.read_format = 0; /* before Linux 6.0 */
		f->counter.fd = perf_event_open(&f->attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (f->counter.fd < 0)
		SKIP("perf_event_open: %s", strerror(errno));
	if (ring_open(&f->ring, f->counter.fd, ring_pages, &err))
		SKIP("%s", err.msg);
	f->n_pages = n_pages;
	f->memory = mmap(NULL, n_pages * f->page_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(f->memory != MAP_FAILED);
	madvise(f->memory, n_pages * f->page_size, MADV_NOHUGEPAGE);
}

static void faults_touch(struct faults *f, size_t n)
{
	CHECK(f->n_touched + n <= f->n_pages);
	ioctl(f->counter.fd, PERF_EVENT_IOC_ENABLE, 0);
	while (n--)
		*(volatile u8 *)(f->memory + f->n_touched++ * f->page_size) = 1;
	ioctl(f->counter.fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void faults_close(struct faults *f)
{
	munmap(f->memory, f->n_pages * f->page_size);
	ring_close(&f->ring);
	close(f->counter.fd);
}

static u64 faults_counted(struct faults *f, u64 *ret_lost)
{
	struct counter_value value;
	struct err err;
	size_t n;

	CHECK_EQ(counter_read(&f->counter, &f->attr, &value, 1, &n, &err), 0);
	*ret_lost = value.lost;
	return value.value;
}

TEST(ring_of_the_kernel_gives_every_sample_in_order)
{
	enum { ROUNDS = 200, A_ROUND = 37 };
	u64 n_samples = 0, n_mine = 0, lost;
	struct faults f;

	faults_open(&f, 1, ROUNDS * A_ROUND);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct record rec;

		faults_touch(&f, A_ROUND);
		ring_acquire(&f.ring);
		while (ring_next(&f.ring, &rec)) {
			u64 addr;

			CHECK_EQ(rec.type, PERF_RECORD_SAMPLE);
			CHECK_EQ(rec.size, 16);
			addr = load_u64(rec.at + 8);
			n_samples++;
			/* The program may fault elsewhere too; its own pages come one behind the
			 * other. */
			if (addr - (u64)(uintptr_t)f.memory >= f.n_pages * f.page_size)
				continue;
			CHECK(addr == (u64)(uintptr_t)f.memory + n_mine * f.page_size);
			n_mine++;
		}
		ring_release(&f.ring);
	}
	CHECK(!f.ring.is_broken);
	CHECK_EQ(n_mine, ROUNDS * A_ROUND);
	CHECK_EQ(faults_counted(&f, &lost), n_samples);
	CHECK_EQ(lost, 0);
	faults_close(&f);
}

TEST(ring_that_was_too_small_tells_what_was_lost)
{
	enum { TOO_MANY = 3000 };
	u64 n_samples = 0, n_lost = 0, n_lost_records = 0, counted, lost;
	struct faults f;
	struct record rec;

	faults_open(&f, 1, TOO_MANY + 10);
	faults_touch(&f, TOO_MANY);
	for (unsigned round = 0; round < 2; round++) {
		ring_acquire(&f.ring);
		while (ring_next(&f.ring, &rec)) {
			union record_body body;
			struct err err;

			n_samples += rec.type == PERF_RECORD_SAMPLE;
			if (rec.type != PERF_RECORD_LOST)
				continue;
			n_lost_records++;
			CHECK_EQ(record_decode(&rec, 0, &body, &err), 1);
			n_lost += body.lost.lost;
		}
		ring_release(&f.ring);
		/* The first round fills the page to the brim; what was lost is told once there is
		 * room again. */
		if (round == 0) {
			CHECK(n_samples <= f.page_size / 16 && n_samples >= f.page_size / 16 - 2);
			CHECK_EQ(n_lost_records, 0);
			faults_touch(&f, 10);
		}
	}
	CHECK_EQ(n_lost_records, 1);
	CHECK(n_lost >= TOO_MANY - f.page_size / 16);
	counted = faults_counted(&f, &lost);
	CHECK_EQ(counted, n_samples + n_lost);
	if (f.attr.read_format)
		CHECK_EQ(lost, n_lost);
	faults_close(&f);
}

TEST(ring_runs_of_the_kernel_are_whole_records)
{
	enum { ROUNDS = 60, A_ROUND = 100 };
	u64 bytes = 0, n_samples = 0, counted, lost;
	bool has_wrapped = false;
	struct faults f;

	faults_open(&f, 1, ROUNDS * A_ROUND);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str joined = {0};
		struct iovec runs[2];
		int n;

		faults_touch(&f, A_ROUND);
		bytes += ring_acquire(&f.ring);
		n = ring_runs(&f.ring, runs);
		CHECK(n > 0);
		has_wrapped |= n == 2;
		for (int i = 0; i < n; i++)
			str_addn(&joined, runs[i].iov_base, runs[i].iov_len);
		ring_release(&f.ring);
		for (size_t at = 0; at < joined.n;) {
			struct record rec = recording_view(joined.at + at, joined.n - at);

			CHECK(rec.size >= RECORD_HEADER_SIZE);
			n_samples += rec.type == PERF_RECORD_SAMPLE;
			at += rec.size;
			CHECK(at <= joined.n);
		}
		str_fini(&joined);
	}
	CHECK(has_wrapped);
	counted = faults_counted(&f, &lost);
	CHECK_EQ(n_samples, counted);
	CHECK_EQ(bytes, counted * 16);
	faults_close(&f);
}
