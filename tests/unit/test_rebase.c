#include "edit/rebase.h"

#include "event/abi.h"
#include "test.h"

static const struct event_attr attr = {.size = ATTR_SIZE_VER7,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN};

struct moving {
	struct rebase r;
	struct sample_format format;
	struct str room;
};

static void moving_init(struct moving *m)
{
	*m = (struct moving){0};
	rebase_init(&m->r);
	sample_format_init(&m->format, &attr);
}

static void moving_fini(struct moving *m)
{
	rebase_fini(&m->r);
	str_fini(&m->room);
}

static struct record record_of(struct moving *m, u32 type, u16 misc)
{
	struct record_header header;

	memcpy(&header, m->room.at, sizeof(header));
	return (struct record){type, misc, header.size, (const u8 *)m->room.at, 0};
}

/* Moves a map; where it is then. */
static u64 map(struct moving *m, u16 mode, u32 pid, u64 start, u64 length)
{
	union record_body body = {.mmap = {.pid = pid,
					  .tid = pid,
					  .addr = start,
					  .len = length,
					  .pgoff = mode == PERF_RECORD_MISC_KERNEL ? start : 0,
					  .path = {(const u8 *)"/x", 2}}};
	struct record rec;
	struct err err;

	str_clear(&m->room);
	CHECK(record_encode(PERF_RECORD_MMAP2, mode, &body, m->format.trailer, &m->room));
	rec = record_of(m, PERF_RECORD_MMAP2, mode);
	CHECK(rebase_record(&m->r, &m->format, false, &rec));
	CHECK_EQ(record_decode(&rec, m->format.trailer, &body, &err), 1);
	CHECK_EQ(body.mmap.len, length);
	if (mode == PERF_RECORD_MISC_KERNEL)
		CHECK_EQ(body.mmap.pgoff, body.mmap.addr);
	return body.mmap.addr;
}

static void task(struct moving *m, u32 type, u16 misc, u32 pid, u32 ppid)
{
	union record_body body = {0};
	struct record rec;

	if (type == PERF_RECORD_FORK)
		body.task =
			(struct record_task){.pid = pid, .tid = pid, .ppid = ppid, .ptid = ppid};
	else
		body.comm =
			(struct record_comm){.pid = pid, .tid = pid, .comm = {(const u8 *)"x", 1}};
	str_clear(&m->room);
	CHECK(record_encode(type, misc, &body, m->format.trailer, &m->room));
	rec = record_of(m, type, misc);
	CHECK(rebase_record(&m->r, &m->format, false, &rec));
}

/* Where a sampled address is then; it is also the address of the data, and a caller. */
static u64 at(struct moving *m, u16 mode, u32 pid, u64 address)
{
	const u64 words[] = {PERF_CONTEXT_USER, address, PERF_CONTEXT_KERNEL};
	struct sample s = {.ip = address,
		.addr = address,
		.pid = pid,
		.tid = pid,
		.chain = {(const u8 *)words, 3}};
	struct record_header header = {PERF_RECORD_SAMPLE, mode, 0};
	struct record rec;
	struct err err;

	str_clear(&m->room);
	str_addn(&m->room, &header, sizeof(header));
	sample_encode(&m->format, &s, &m->room);
	rec = (struct record){PERF_RECORD_SAMPLE, mode, (u16)m->room.n, (const u8 *)m->room.at, 0};
	CHECK(rebase_record(&m->r, &m->format, false, &rec));
	CHECK_EQ(rec.size, m->room.n);
	memset(&s, 0, sizeof(s));
	CHECK_EQ(sample_decode(&m->format, rec.at + 8, rec.size - 8, UINT64_MAX, &s, &err), 0);
	CHECK_EQ(s.addr, s.ip);
	CHECK_EQ(s.chain.n, 3);
	CHECK_EQ(load_u64(s.chain.at), PERF_CONTEXT_USER);
	CHECK_EQ(load_u64(s.chain.at + 8), s.ip);
	CHECK_EQ(load_u64(s.chain.at + 16), PERF_CONTEXT_KERNEL);
	return s.ip;
}

enum { USER = PERF_RECORD_MISC_USER, KERNEL = PERF_RECORD_MISC_KERNEL };

TEST(rebase_puts_maps_one_after_the_other_and_addresses_into_them)
{
	struct moving m;

	moving_init(&m);
	CHECK_EQ(map(&m, KERNEL, UINT32_MAX, 0xffffffff9a000000, 0x1200b08), 0xffff800010000000);
	CHECK_EQ(map(&m, USER, 7, 0x7f0000010000, 0x1800), 0x200000);
	CHECK_EQ(map(&m, USER, 7, 0x550000010000, 0x1000), 0x203000);
	/* Each process has its own. */
	CHECK_EQ(map(&m, USER, 8, 0x7f0000010000, 0x1000), 0x200000);
	CHECK_EQ(at(&m, USER, 7, 0x7f0000010123), 0x200123);
	CHECK_EQ(at(&m, USER, 7, 0x550000010fff), 0x203fff);
	CHECK_EQ(at(&m, KERNEL, 7, 0xffffffff9a001000), 0xffff800010001000);
	/* What lies nowhere tells nothing. */
	CHECK_EQ(at(&m, USER, 7, 0x7f0000020000), 0);
	CHECK_EQ(at(&m, USER, 9, 0x7f0000010000), 0);
	CHECK_EQ(at(&m, KERNEL, 7, 0xffffffffc0001000), 0);
	CHECK_EQ(m.r.n_lost, 9);
	moving_fini(&m);
}

TEST(rebase_knows_what_a_new_map_leaves_of_older_ones)
{
	struct moving m;

	moving_init(&m);
	CHECK_EQ(map(&m, USER, 7, 0x10000, 0x10000), 0x200000);
	CHECK_EQ(map(&m, USER, 7, 0x14000, 0x2000), 0x211000);
	CHECK_EQ(at(&m, USER, 7, 0x13fff), 0x203fff);
	CHECK_EQ(at(&m, USER, 7, 0x14000), 0x211000);
	CHECK_EQ(at(&m, USER, 7, 0x16000), 0x206000);
	CHECK_EQ(at(&m, USER, 7, 0x1ffff), 0x20ffff);
	/* From before the first to within the last. */
	CHECK_EQ(map(&m, USER, 7, 0x8000, 0xf000), 0x214000);
	CHECK_EQ(at(&m, USER, 7, 0x8000), 0x214000);
	CHECK_EQ(at(&m, USER, 7, 0x16fff), 0x222fff);
	CHECK_EQ(at(&m, USER, 7, 0x17000), 0x207000);
	/* To the end of all addresses. */
	map(&m, USER, 7, 0x18000, UINT64_MAX);
	CHECK_EQ(at(&m, USER, 7, 0x17fff), 0x207fff);
	moving_fini(&m);
}

TEST(rebase_keeps_maps_once_however_many_children_have_them)
{
	enum { MAPS = 1000, CHILDREN = 1000 };
	struct moving m;
	u64 before;

	moving_init(&m);
	for (u64 i = 0; i < MAPS; i++)
		map(&m, USER, 7, 0x10000 + i * 0x2000, 0x1000);
	before = m.r.maps.arena.total;
	for (u32 i = 0; i < CHILDREN; i++)
		task(&m, PERF_RECORD_FORK, 0, 100 + i, 7);
	CHECK_EQ(m.r.maps.arena.total, before);
	/* What one child changes is its own. */
	CHECK_EQ(map(&m, USER, 100, 0x10000, 0x1000), 0x200000 + MAPS * 0x2000);
	CHECK_EQ(at(&m, USER, 101, 0x10010), 0x200010);
	CHECK_EQ(at(&m, USER, 7, 0x10010), 0x200010);
	CHECK(m.r.maps.arena.total < 2 * before);
	moving_fini(&m);
}

TEST(rebase_lets_children_inherit_maps_until_they_run_something_else)
{
	struct moving m;

	moving_init(&m);
	map(&m, USER, 7, 0x10000, 0x1000);
	task(&m, PERF_RECORD_FORK, 0, 8, 7);
	CHECK_EQ(at(&m, USER, 8, 0x10010), 0x200010);
	CHECK_EQ(map(&m, USER, 8, 0x30000, 0x1000), 0x202000);
	CHECK_EQ(at(&m, USER, 7, 0x30000), 0);
	/* A thread's name is no exec. */
	task(&m, PERF_RECORD_COMM, 0, 8, 0);
	CHECK_EQ(at(&m, USER, 8, 0x10010), 0x200010);
	task(&m, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 8, 0);
	CHECK_EQ(at(&m, USER, 8, 0x10010), 0);
	CHECK_EQ(map(&m, USER, 8, 0x50000, 0x1000), 0x200000);
	moving_fini(&m);
}
