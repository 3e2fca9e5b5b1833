/*
 * The kernel as oracle: events of every shape are opened, their records read from a ring, decoded
 * by the tables of record/ and encoded again. Only if the order and size of all fields are right do
 * the bytes agree.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "collect/counter/counter.h"
#include "collect/counter/ring.h"
#include "event/tracefs.h"
#include "record/sample.h"
#include "test.h"
#include "unwind/chain.h"
#include "unit/recording.h"

enum { PAGES = 32, RING_PAGES = 64 };

/* All registers a user-space sample can have, and the number of the instruction pointer. */
#if defined(__aarch64__)
static const u64 regs_mask = 0x1ffffffff, reg_ip = 32;
#else
static const u64 regs_mask = 0xff0fff, reg_ip = 8;
#endif

/* What samples of software events can carry. Branches and AUX need hardware. */
static const u64 bits[] = {PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR,
	PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_ID, PERF_SAMPLE_CPU,
	PERF_SAMPLE_PERIOD, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_RAW, PERF_SAMPLE_REGS_USER,
	PERF_SAMPLE_STACK_USER, PERF_SAMPLE_WEIGHT, PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_IDENTIFIER,
	PERF_SAMPLE_TRANSACTION, PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, PERF_SAMPLE_WEIGHT_STRUCT};

struct live {
	struct event_attr attr;
	struct counter counter;
	struct ring ring;
	struct sample_format format;
	u8 *memory;
	size_t page_size;
	u64 began_ns, ended_ns; /* CLOCK_MONOTONIC, which the samples use too */
	u64 n_samples, n_in_memory, last_time, last_value;
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct event_attr page_faults(u64 sample_type)
{
	return (struct event_attr){.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = sample_type,
		.read_format = PERF_FORMAT_ID,
		.flags = ATTR_DISABLED | ATTR_USE_CLOCKID | ATTR_EXCLUDE_KERNEL,
		.clockid = CLOCK_MONOTONIC,
		.sample_regs_user = sample_type & PERF_SAMPLE_REGS_USER ? regs_mask : 0,
		.sample_regs_intr = sample_type & PERF_SAMPLE_REGS_INTR ? regs_mask : 0,
		.sample_stack_user = sample_type & PERF_SAMPLE_STACK_USER ? 256 : 0};
}

static void need_regs(void)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	SKIP("the register masks are those of x86 and arm64");
#endif
}

/* Whether perf_event_open(2) is allowed at all; the tests say why not. */
static void need_perf(void)
{
	struct event_attr attr = page_faults(PERF_SAMPLE_IP);
	int fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		SKIP("perf_event_open: %s", strerror(errno));
	close(fd);
}

/* False if this kernel does not know or allow such samples. */
static bool live_open(struct live *l, const struct event_attr *attr, int group_fd)
{
	struct err err;

	memset(l, 0, sizeof(*l));
	l->attr = *attr;
	l->page_size = sysconf(_SC_PAGESIZE);
	l->counter.fd = perf_event_open(attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
	if (l->counter.fd < 0)
		return false;
	if (ring_open(&l->ring, l->counter.fd, RING_PAGES, &err))
		SKIP("%s", err.msg);
	CHECK_EQ(counter_fetch_id(&l->counter, attr, &err), 0);
	sample_format_init(&l->format, attr);
	l->memory = mmap(NULL, PAGES * l->page_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(l->memory != MAP_FAILED);
	madvise(l->memory, PAGES * l->page_size, MADV_NOHUGEPAGE);
	return true;
}

static void live_close(struct live *l)
{
	munmap(l->memory, PAGES * l->page_size);
	ring_close(&l->ring);
	close(l->counter.fd);
}

static void live_touch(struct live *l)
{
	l->began_ns = now_ns();
	CHECK_EQ(ioctl(l->counter.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (size_t i = 0; i < PAGES; i++)
		*(volatile u8 *)(l->memory + i * l->page_size) = 1;
	CHECK_EQ(ioctl(l->counter.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	l->ended_ns = now_ns();
}

static bool is_in_memory(const struct live *l, u64 addr)
{
	return addr - (u64)(uintptr_t)l->memory < PAGES * l->page_size;
}

static bool is_page_size(u64 size)
{
	return size == 0 || (size >= 4096 && !(size & (size - 1)));
}

static void check_regs(const struct sample_regs *regs, u64 ip, bool has_ip)
{
	CHECK_EQ(regs->abi, 2);
	CHECK_EQ(regs->values.n, __builtin_popcountll(regs_mask));
	/* All registers below the instruction pointer are in the mask. */
	if (has_ip)
		CHECK(load_u64(regs->values.at + 8 * reg_ip) == ip);
}

/* From the innermost place outwards; what was sampled in user space has no kernel part. */
static void check_chain(const struct live *l, const struct sample *s)
{
	struct chain_walk walk = chain_walk(&s->chain, PERF_RECORD_MISC_CPUMODE_UNKNOWN);
	struct chain_step step;
	u64 n = 0;

	CHECK(s->chain.n >= 2);
	CHECK(load_u64(s->chain.at) == PERF_CONTEXT_USER);
	while (chain_next(&walk, &step)) {
		CHECK_EQ(step.mode, PERF_RECORD_MISC_USER);
		CHECK_EQ(step.is_return, n > 0);
		if (!n++ && l->format.type & PERF_SAMPLE_IP)
			CHECK(step.ip == s->ip);
	}
	CHECK_EQ(n, s->chain.n - 1);
}

static void check_read(struct live *l, const struct sample_read *read)
{
	u64 value = load_u64(read->values.at);

	CHECK_EQ(read->n_values, 1);
	CHECK_EQ(read->values.n, 2);
	CHECK(value > l->last_value);
	l->last_value = value;
	CHECK_EQ(load_u64(read->values.at + 8), l->counter.id);
}

static void check_fields(struct live *l, const struct sample *s)
{
	u64 type = l->format.type;
	bool has_ip = type & PERF_SAMPLE_IP;

	if (type & PERF_SAMPLE_TID) {
		CHECK_EQ(s->pid, getpid());
		CHECK_EQ(s->tid, gettid());
	}
	if (type & PERF_SAMPLE_TIME) {
		CHECK(s->time >= l->began_ns && s->time <= l->ended_ns);
		CHECK(s->time >= l->last_time);
		l->last_time = s->time;
	}
	if (type & PERF_SAMPLE_CPU) {
		CHECK(s->cpu < (u32)sysconf(_SC_NPROCESSORS_CONF));
		CHECK_EQ(s->cpu_reserved, 0);
	}
	if (type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		CHECK_EQ(s->id, l->counter.id);
	if (type & PERF_SAMPLE_STREAM_ID)
		CHECK_EQ(s->stream_id, l->counter.id);
	if (type & PERF_SAMPLE_PERIOD)
		CHECK_EQ(s->period, 1);
	if (type & PERF_SAMPLE_READ)
		check_read(l, &s->read);
	if (type & PERF_SAMPLE_CALLCHAIN)
		check_chain(l, s);
	if (type & PERF_SAMPLE_RAW)
		CHECK_EQ(s->raw.n, 4);
	if (type & PERF_SAMPLE_REGS_USER)
		check_regs(&s->user_regs, s->ip, has_ip);
	if (type & PERF_SAMPLE_REGS_INTR)
		check_regs(&s->intr_regs, s->ip, has_ip);
	if (type & PERF_SAMPLE_STACK_USER) {
		CHECK_EQ(s->user_stack.bytes.n, 256);
		CHECK_EQ(s->user_stack.dyn_size, 256);
	}
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		CHECK_EQ(s->weight, 0);
	if (type & PERF_SAMPLE_TRANSACTION)
		CHECK_EQ(s->transaction, 0);
	if (type & PERF_SAMPLE_DATA_SRC)
		CHECK(s->data_src != 0); /* PERF_MEM_NA says so in bits */
	if (type & PERF_SAMPLE_CGROUP)
		CHECK(s->cgroup != 0);
	CHECK(is_page_size(s->data_page_size));
	CHECK(is_page_size(s->code_page_size));
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		CHECK(s->code_page_size != 0);
	l->n_in_memory += type & PERF_SAMPLE_ADDR && is_in_memory(l, s->addr);
}

/* The body decodes, and encodes to the very bytes that the kernel wrote. */
static void check_record(const struct live *l, const struct record *rec, struct sample *ret_sample)
{
	size_t n = rec->size - RECORD_HEADER_SIZE;
	struct str again = {0};
	struct err err;

	memset(ret_sample, 0, sizeof(*ret_sample));
	if (sample_decode(&l->format, rec->at + RECORD_HEADER_SIZE, n, UINT64_MAX, ret_sample,
		    &err))
		test_failed(__FILE__, __LINE__, "sample_type 0x%llx: %s",
			(unsigned long long)l->format.type, err.msg);
	sample_encode(&l->format, ret_sample, &again);
	if (again.n != n || memcmp(again.at, rec->at + RECORD_HEADER_SIZE, n))
		test_failed(__FILE__, __LINE__,
			"sample_type 0x%llx read_format 0x%llx: %zu bytes became %zu, or others",
			(unsigned long long)l->format.type,
			(unsigned long long)l->format.read_format, n, again.n);
	str_fini(&again);
}

static void live_check(struct live *l)
{
	struct record rec;

	ring_acquire(&l->ring);
	while (ring_next(&l->ring, &rec)) {
		struct sample s;

		CHECK_EQ(rec.type, PERF_RECORD_SAMPLE);
		CHECK_EQ(rec.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
		check_record(l, &rec, &s);
		check_fields(l, &s);
		l->n_samples++;
	}
	ring_release(&l->ring);
	CHECK(!l->ring.is_broken);
	CHECK(l->n_samples >= PAGES);
	if (l->format.type & PERF_SAMPLE_ADDR)
		CHECK_EQ(l->n_in_memory, PAGES);
}

/* False if the kernel refuses this kind of sample. */
static bool check_page_faults(u64 sample_type)
{
	struct event_attr attr = page_faults(sample_type);
	struct live l;

	if (!live_open(&l, &attr, -1))
		return false;
	live_touch(&l);
	live_check(&l);
	live_close(&l);
	return true;
}

TEST(kernel_samples_of_each_bit_alone_decode_and_encode)
{
	unsigned n_refused = 0;

	need_regs();
	need_perf();
	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		if (check_page_faults(bits[i]))
			continue;
		n_refused++;
		printf("# this kernel refuses samples of type 0x%llx: %s\n",
			(unsigned long long)bits[i], strerror(errno));
	}
	CHECK(n_refused < ARRAY_SIZE(bits) / 3);
}

/* Which of the bits this kernel takes. */
static u64 allowed_bits(void)
{
	u64 allowed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		struct event_attr attr = page_faults(bits[i]);
		int fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			continue;
		close(fd);
		allowed |= bits[i];
	}
	return allowed;
}

TEST(kernel_samples_of_many_combinations_decode_and_encode)
{
	u64 dice = 7, allowed;

	need_regs();
	need_perf();
	allowed = allowed_bits();
	for (unsigned i = 0; i < 150; i++) {
		u64 type = recording_random(&dice) & allowed;

		/* The two kinds of weight exclude each other. */
		if (type & PERF_SAMPLE_WEIGHT)
			type &= ~(u64)PERF_SAMPLE_WEIGHT_STRUCT;
		CHECK(check_page_faults(type));
	}
}

TEST(kernel_samples_of_all_bits_together_decode_and_encode)
{
	u64 allowed;

	need_regs();
	need_perf();
	allowed = allowed_bits();
	CHECK(check_page_faults(allowed & ~(u64)PERF_SAMPLE_WEIGHT));
	CHECK(check_page_faults(allowed & ~(u64)PERF_SAMPLE_WEIGHT_STRUCT));
}

/* ---- reads ---- */

enum { GROUP = 3 };

struct group {
	struct live leader;
	int fds[GROUP];
	u64 ids[GROUP];
};

static bool group_open(struct group *g, u64 read_format)
{
	static const u64 configs[GROUP] = {PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_TASK_CLOCK};
	struct event_attr attr =
		page_faults(PERF_SAMPLE_IP | PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD);
	struct err err;

	memset(g, 0, sizeof(*g));
	attr.config = configs[0];
	attr.sample_period = 100000;
	attr.read_format = read_format;
	if (!live_open(&g->leader, &attr, -1))
		return false;
	g->fds[0] = g->leader.counter.fd;
	g->ids[0] = g->leader.counter.id;
	for (size_t i = 1; i < GROUP; i++) {
		struct counter c = {0};

		attr.config = configs[i];
		attr.sample_period = 0;
		attr.sample_type = 0;
		attr.flags &= ~ATTR_DISABLED;
		c.fd = perf_event_open(&attr, 0, -1, g->fds[0], PERF_FLAG_FD_CLOEXEC);
		CHECK(c.fd >= 0);
		CHECK_EQ(counter_fetch_id(&c, &attr, &err), 0);
		g->fds[i] = c.fd;
		g->ids[i] = c.id;
	}
	return true;
}

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Runs until the clock, which goes on only while this thread runs, has sampled some times; and
 * faults meanwhile. */
static void group_run(struct group *g)
{
	u64 begin = cpu_ns(), ran = 0;

	g->leader.began_ns = now_ns();
	ioctl(g->fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	/* A timer of a virtual machine may come late, or not for a while. */
	for (size_t i = 0;
		i < PAGES || ran < 4000000 || (ran < 400000000 && !ring_acquire(&g->leader.ring));
		i++) {
		if (i < PAGES)
			*(volatile u8 *)(g->leader.memory + i * g->leader.page_size) = 1;
		ran = cpu_ns() - begin;
	}
	ioctl(g->fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

static void check_times(const struct group *g, const struct sample_read *read)
{
	u64 format = g->leader.format.read_format, most = 10 * (now_ns() - g->leader.began_ns);

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		CHECK(read->time_enabled > 0 && read->time_enabled < most);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		CHECK(read->time_running > 0 && read->time_running < most);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED && format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		CHECK(read->time_running <= read->time_enabled);
}

/* Values never decrease; ids are those the kernel gave; nothing was lost. */
static void check_group_read(const struct group *g, const struct sample_read *read, u64 last[GROUP])
{
	u64 format = g->leader.format.read_format, n = format & PERF_FORMAT_GROUP ? GROUP : 1;
	size_t behind = 1;

	CHECK_EQ(read->n_values, n);
	check_times(g, read);
	if (!(format & PERF_FORMAT_GROUP))
		behind += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	CHECK_EQ(read->values.n,
		n * (1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST)) + behind - 1);
	for (size_t i = 0; i < n; i++) {
		const u8 *at = read->values.at + i * 8 * (read->values.n / n);
		u64 value = load_u64(at);

		CHECK(value >= last[i]);
		last[i] = value;
		at += 8 * behind;
		if (format & PERF_FORMAT_ID) {
			CHECK_EQ(load_u64(at), g->ids[i]);
			at += 8;
		}
		if (format & PERF_FORMAT_LOST)
			CHECK_EQ(load_u64(at), 0);
	}
}

static void check_group(struct group *g)
{
	u64 last[GROUP] = {0}, n = 0;
	struct record rec;

	group_run(g);
	ring_acquire(&g->leader.ring);
	while (ring_next(&g->leader.ring, &rec)) {
		struct sample s;

		if (rec.type != PERF_RECORD_SAMPLE)
			continue;
		check_record(&g->leader, &rec, &s);
		check_group_read(g, &s.read, last);
		n++;
	}
	CHECK(n > 0);
	CHECK(last[0] > 0);
	if (g->leader.format.read_format & PERF_FORMAT_GROUP) {
		CHECK(last[1] >= PAGES);
		CHECK(last[2] > 0);
	}
}

TEST(kernel_reads_of_all_formats_decode_and_encode)
{
	need_perf();
	for (u64 format = 0; format < 32; format++) {
		struct group g;

		if (!group_open(&g, format)) {
			/* LOST is new in Linux 6.0. */
			CHECK(format & PERF_FORMAT_LOST);
			continue;
		}
		check_group(&g);
		for (size_t i = 1; i < GROUP; i++)
			close(g.fds[i]);
		live_close(&g.leader);
	}
}

/* ---- raw data of a tracepoint ---- */

TEST(kernel_samples_of_a_tracepoint_carry_its_raw_fields)
{
	struct event_attr attr = page_faults(
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD);
	u64 id, n = 0;
	struct record rec;
	struct live l;
	struct err err;

	need_perf();
	if (tracefs_id(NULL, "syscalls", "sys_enter_getppid", &id, &err))
		SKIP("%s", err.msg);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.flags &= ~ATTR_EXCLUDE_KERNEL;
	if (!live_open(&l, &attr, -1))
		SKIP("opening a tracepoint: %s", strerror(errno));
	ioctl(l.counter.fd, PERF_EVENT_IOC_ENABLE, 0);
	for (unsigned i = 0; i < 50; i++)
		syscall(SYS_getppid);
	ioctl(l.counter.fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_acquire(&l.ring);
	while (ring_next(&l.ring, &rec)) {
		struct sample s;

		CHECK_EQ(rec.type, PERF_RECORD_SAMPLE);
		check_record(&l, &rec, &s);
		/* common_type, common_flags, common_preempt_count, common_pid, then the number of
		 * the system call */
		CHECK(s.raw.n >= 12);
		CHECK_EQ(load_u16(s.raw.at), id);
		CHECK_EQ(load_u32(s.raw.at + 4), gettid());
		CHECK_EQ(load_u32(s.raw.at + 8), __NR_getppid);
		CHECK_EQ(s.period, 1);
		n++;
	}
	CHECK_EQ(n, 50);
	live_close(&l);
}

/* ---- trailers and the records they stand behind ---- */

static const u64 trailer_bits[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};

struct side_band {
	struct live live; /* counts nothing in the child; `memory` is not used */
	pid_t child;
	u64 n_comm, n_exec, n_fork, n_exit, n_mmap, n_executable;
	u64 last_time;
};

/* Names itself, maps executable memory, forks, execs: one record of each kind. */
static void be_watched(int go)
{
	pid_t grandchild;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	prctl(PR_SET_NAME, "side-band");
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		MAP_FAILED)
		_exit(1);
	grandchild = fork();
	if (!grandchild)
		_exit(0);
	waitpid(grandchild, NULL, 0);
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

static void check_side_trailer(struct side_band *s, const struct record *rec)
{
	u64 type = s->live.format.type;
	struct sample t;

	CHECK(sample_decode_trailer(&s->live.format, rec, &t));
	if (type & PERF_SAMPLE_TID) {
		CHECK_EQ(t.pid, s->child);
		CHECK_EQ(t.tid, s->child);
	}
	if (type & PERF_SAMPLE_TIME) {
		CHECK(t.time >= s->live.began_ns && t.time <= s->live.ended_ns);
		CHECK(t.time >= s->last_time);
		s->last_time = t.time;
	}
	if (type & PERF_SAMPLE_CPU)
		CHECK(t.cpu < (u32)sysconf(_SC_NPROCESSORS_CONF));
	if (type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		CHECK_EQ(t.id, s->live.counter.id);
	if (type & PERF_SAMPLE_STREAM_ID)
		CHECK_EQ(t.stream_id, s->live.counter.id);
}

/* Body and trailer encode to the bytes that the kernel wrote. */
static void check_side_bytes(const struct side_band *s, const struct record *rec,
	const union record_body *body)
{
	struct str again = {0};
	struct sample t;

	CHECK(record_encode(rec->type, rec->misc, body, 0, &again));
	CHECK(sample_decode_trailer(&s->live.format, rec, &t));
	sample_encode_trailer(&s->live.format, &t, &again);
	CHECK_EQ(again.n, rec->size);
	CHECK(!memcmp(again.at + RECORD_HEADER_SIZE, rec->at + RECORD_HEADER_SIZE,
		again.n - RECORD_HEADER_SIZE));
	str_fini(&again);
}

static bool is_text(const struct record_bytes *run, const char *text)
{
	return run->n == strlen(text) && !memcmp(run->at, text, run->n);
}

static void check_side_body(struct side_band *s, const struct record *rec,
	const union record_body *body)
{
	u32 child = s->child;

	switch (rec->type) {
	case PERF_RECORD_COMM:
		CHECK_EQ(body->comm.pid, child);
		CHECK_EQ(body->comm.tid, child);
		s->n_comm += is_text(&body->comm.comm, "side-band") &&
			!(rec->misc & PERF_RECORD_MISC_COMM_EXEC);
		s->n_exec +=
			is_text(&body->comm.comm, "true") && rec->misc & PERF_RECORD_MISC_COMM_EXEC;
		break;
	case PERF_RECORD_FORK:
		CHECK_EQ(body->task.ppid, child);
		CHECK_EQ(body->task.ptid, child);
		CHECK(body->task.pid != child);
		CHECK_EQ(body->task.pid, body->task.tid);
		CHECK(body->task.time >= s->live.began_ns && body->task.time <= s->live.ended_ns);
		s->n_fork++;
		break;
	case PERF_RECORD_EXIT:
		CHECK_EQ(body->task.pid, child);
		CHECK_EQ(body->task.tid, child);
		CHECK_EQ(body->task.ppid, getpid());
		s->n_exit++;
		break;
	case PERF_RECORD_MMAP2:
		CHECK_EQ(body->mmap.pid, child);
		CHECK_EQ(body->mmap.tid, child);
		CHECK_EQ(body->mmap.addr % 4096, 0);
		CHECK(body->mmap.len > 0 && body->mmap.len % 4096 == 0);
		CHECK(body->mmap.prot & PROT_EXEC);
		CHECK(body->mmap.path.n > 0);
		s->n_mmap++;
		s->n_executable += body->mmap.path.n > 5 &&
			!memcmp(body->mmap.path.at + body->mmap.path.n - 5, "/true", 5);
		break;
	default:
		test_failed(__FILE__, __LINE__, "a record of type %u", rec->type);
	}
}

static void check_side_band(u64 sample_type, u64 more_flags)
{
	struct event_attr attr = page_faults(sample_type);
	struct side_band s = {.live.attr = attr};
	struct record rec;
	struct err err;
	int go[2];

	CHECK_EQ(pipe(go), 0);
	s.live.began_ns = now_ns();
	s.child = fork();
	if (!s.child)
		be_watched(go[0]);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.flags = (attr.flags & ~ATTR_DISABLED) | ATTR_SAMPLE_ID_ALL | ATTR_MMAP | ATTR_MMAP2 |
		ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK | more_flags;
	s.live.counter.fd = perf_event_open(&attr, s.child, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s.live.counter.fd < 0)
		SKIP("watching a child: %s", strerror(errno));
	if (ring_open(&s.live.ring, s.live.counter.fd, RING_PAGES, &err))
		SKIP("%s", err.msg);
	CHECK_EQ(counter_fetch_id(&s.live.counter, &attr, &err), 0);
	sample_format_init(&s.live.format, &attr);
	CHECK_EQ(write(go[1], "g", 1), 1);
	close(go[0]);
	close(go[1]);
	CHECK_EQ(waitpid(s.child, NULL, 0), s.child);
	s.live.ended_ns = now_ns();
	ring_acquire(&s.live.ring);
	while (ring_next(&s.live.ring, &rec)) {
		union record_body body;
		int r = record_decode(&rec, s.live.format.trailer, &body, &err);

		if (r < 0)
			test_failed(__FILE__, __LINE__, "%s", err.msg);
		check_side_trailer(&s, &rec);
		check_side_body(&s, &rec, &body);
		check_side_bytes(&s, &rec, &body);
	}
	CHECK_EQ(s.n_comm, 1);
	CHECK_EQ(s.n_exec, 1);
	CHECK_EQ(s.n_fork, 1);
	CHECK_EQ(s.n_exit, 1);
	CHECK(s.n_mmap >= 3);
	CHECK_EQ(s.n_executable, 1);
	ring_close(&s.live.ring);
	close(s.live.counter.fd);
}

TEST(kernel_trailers_of_all_subsets_decode_and_encode)
{
	need_perf();
	for (unsigned subset = 0; subset < 64; subset++) {
		u64 type = 0;

		for (size_t i = 0; i < ARRAY_SIZE(trailer_bits); i++)
			type |= subset >> i & 1 ? trailer_bits[i] : 0;
		check_side_band(type, 0);
	}
	/* Fields that only samples have leave no trace in trailers. */
	check_side_band(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IDENTIFIER,
		0);
}

TEST(kernel_maps_with_build_ids_decode_and_encode)
{
	struct event_attr attr = page_faults(0);
	int fd;

	need_perf();
	attr.flags |= ATTR_MMAP | ATTR_MMAP2 | ATTR_BUILD_ID;
	fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		SKIP("build-ids in maps are new in Linux 5.12: %s", strerror(errno));
	close(fd);
	check_side_band(PERF_SAMPLE_TID | PERF_SAMPLE_TIME, ATTR_BUILD_ID);
}
