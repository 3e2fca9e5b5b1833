#include "file/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "collect/open.h"
#include "collect/topology.h"
#include "event/abi.h"
#include "record/record.h"
#include "record/sample.h"

enum {
	DEFAULT_RING_BYTES = 512 << 10,
	/* At 10,000 samples a second with 8 KiB of stack, half of it is full after 50 ms. */
	DUMPS_RING_BYTES = 8 << 20,
	DUMPS_ALL_BYTES = 256 << 20, /* of all rings, however many CPUs there are */
	MS = 1000000,                /* ns */
	SYNC_MS = 1000,
	/* What a filter looks at is of now: files of processes that end soon, maps. */
	FILTER_MS = 20,
	RUNS_MAX = 512,
	FILTERED_BYTES = 64 << 10, /* are written at a time */
	FILTERED_RECORDS = 64,     /* then their room in the ring is given back */
};

#define SIGNAL_EVENT UINT64_MAX
#define PILOT_EVENT  (UINT64_MAX - 1)

/* ---- set-up ---- */

static bool is_backward(const struct recorder *r, const struct counter *c)
{
	return r->events->at[c->event].attr.flags & ATTR_WRITE_BACKWARD;
}

/* Without a CPU it is a thread's. */
static struct recorder_ring *ring_of(struct recorder *r, const struct counter *c)
{
	vec_each(ring, &r->rings)
		if (ring->cpu == c->cpu && (c->cpu >= 0 || ring->tid == c->tid) &&
			ring->is_backward == is_backward(r, c))
			return ring;
	return NULL;
}

/* Sorts the counters to rings by their CPU, or where they follow their thread by that. */
static void assign_counters(struct recorder *r)
{
	vec_each(c, r->counters) {
		struct recorder_ring *ring = ring_of(r, c);

		if (!ring) {
			ring = vec_push(&r->rings);
			memset(ring, 0, sizeof(*ring));
			ring->cpu = c->cpu;
			ring->tid = c->tid;
			ring->is_backward = is_backward(r, c);
			r->has_backward |= ring->is_backward;
			ring->counters = mem_alloc(r->counters->n * sizeof(*ring->counters));
		}
		ring->counters[ring->n_counters++] = c - r->counters->at;
	}
}

/* Maps the rings with r->pages each; on failure none is left. */
static int map_rings(struct recorder *r, struct err *err)
{
	vec_each(ring, &r->rings) {
		int fd = r->counters->at[ring->counters[0]].fd;

		if (!(ring->is_backward ? ring_open_backward(&ring->ring, fd, r->pages, err)
					: ring_open(&ring->ring, fd, r->pages, err)))
			continue;
		vec_each(opened, &r->rings)
			ring_close(&opened->ring);
		return err->code;
	}
	return 0;
}

static bool have_dumps(const struct event_list *events)
{
	vec_each(e, events)
		if (e->attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return false;
}

static u64 default_pages(const struct recorder *r)
{
	u64 page_size = (u64)sysconf(_SC_PAGESIZE), bytes = DEFAULT_RING_BYTES;

	while (have_dumps(r->events) && bytes < DUMPS_RING_BYTES &&
		2 * bytes * r->rings.n <= DUMPS_ALL_BYTES)
		bytes *= 2;
	return bytes / page_size;
}

static int map_fitting_rings(struct recorder *r, bool may_shrink, struct err *err)
{
	u64 wanted = MIN(r->pages, DEFAULT_RING_BYTES / (u64)sysconf(_SC_PAGESIZE));

	while (map_rings(r, err)) {
		bool is_limit = err->sys == EPERM || err->sys == ENOMEM;

		if (!is_limit || r->pages == 1 || !may_shrink)
			return is_limit
				? err_set(err, ERR_PERM,
					  "mapping %zu rings of %llu pages: the limit of locked memory is reached; smaller rings (-m), 'ulimit -l' or 'sudo sysctl kernel.perf_event_mlock_kb=' a larger number help",
					  r->rings.n, (unsigned long long)r->pages)
				: err->code;
		r->pages /= 2;
	}
	if (r->pages < wanted)
		log_note(r->log,
			"rings have %llu pages instead of %llu, as much as kernel.perf_event_mlock_kb and 'ulimit -l' allow",
			(unsigned long long)r->pages, (unsigned long long)wanted);
	log_debug(r->log, "rings of %llu pages for %zu %s", (unsigned long long)r->pages,
		r->rings.n, r->rings.n && r->rings.at[0].cpu < 0 ? "threads" : "CPUs");
	return 0;
}

static int share_rings(struct recorder *r, struct err *err)
{
	vec_each(ring, &r->rings) {
		int to = r->counters->at[ring->counters[0]].fd;

		for (size_t i = 1; i < ring->n_counters; i++)
			if (ioctl(r->counters->at[ring->counters[i]].fd, PERF_EVENT_IOC_SET_OUTPUT,
				    to))
				return err_sys(err, errno, "sharing the ring of CPU %d", ring->cpu);
	}
	return 0;
}

/* A ring that nobody empties is always full: of it only its end is awaited. */
static u32 awaited(const struct recorder *r, u64 what)
{
	return what < r->rings.n && r->rings.at[what].is_backward ? 0 : EPOLLIN;
}

static int watch(struct recorder *r, int fd, u64 what, struct err *err)
{
	struct epoll_event e = {.events = awaited(r, what), .data.u64 = what};

	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &e)
		? err_sys(err, errno, "watching a descriptor")
		: 0;
}

int recorder_open(struct recorder *r, struct counters *counters, struct event_list *events,
	u64 pages, struct log *log, struct err *err)
{
	memset(r, 0, sizeof(*r));
	r->counters = counters;
	r->events = events;
	r->log = log;
	r->stop.fd = -1;
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0)
		return err_sys(err, errno, "creating an epoll descriptor");
	assign_counters(r);
	r->pages = pages ? pages : default_pages(r);
	if (stop_open(&r->stop, err) || map_fitting_rings(r, !pages, err) || share_rings(r, err) ||
		watch(r, r->stop.fd, SIGNAL_EVENT, err))
		return err->code;
	vec_each(ring, &r->rings)
		if (watch(r, counters->at[ring->counters[0]].fd, ring - r->rings.at, err))
			return err->code;
	return 0;
}

int recorder_watch(struct recorder *r, int fd, struct err *err)
{
	return watch(r, fd, PILOT_EVENT, err);
}

void recorder_unwatch(struct recorder *r, int fd)
{
	epoll_ctl(r->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* ---- CPUs that come back ---- */

static bool open_counter_again(struct recorder *r, size_t i, bool is_off)
{
	struct counter *c = &r->counters->at[i];
	struct event *e = &r->events->at[c->event];
	bool is_leader = e->leader == c->event;
	struct err ignored;
	u64 *ids;
	int fd;

	if (open_again(r->events, r->counters, i, &fd, &ignored))
		return false;
	dup3(fd, c->fd, O_CLOEXEC);
	close(fd);
	if (counter_fetch_id(c, &e->attr, &ignored))
		return false;
	ids = arena_alloc(&r->events->arena, (e->n_ids + 1) * sizeof(*ids));
	memcpy(ids, e->ids, e->n_ids * sizeof(*ids));
	ids[e->n_ids++] = c->id;
	e->ids = ids;
	return !is_leader || is_off || !ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static bool open_ring_again(struct recorder *r, struct recorder_ring *ring)
{
	int first = r->counters->at[ring->counters[0]].fd;
	struct err ignored;

	if (ring->is_backward ? ring_open_backward(&ring->ring, first, r->pages, &ignored)
			      : ring_open(&ring->ring, first, r->pages, &ignored))
		return false;
	ring->seen_to = ring->due_to = 0;
	ring->watched = 0;
	for (size_t i = 1; i < ring->n_counters; i++)
		ioctl(r->counters->at[ring->counters[i]].fd, PERF_EVENT_IOC_SET_OUTPUT, first);
	return !watch(r, first, ring - r->rings.at, &ignored);
}

size_t recorder_reopen_cpu(struct recorder *r, s32 cpu, bool is_off)
{
	size_t n_failed = 0;

	vec_each(ring, &r->rings) {
		if (ring->cpu != cpu)
			continue;
		/* Its map holds the old counter, and that would hold its place in epoll. */
		if (ring->watched < ring->n_counters)
			recorder_unwatch(r, r->counters->at[ring->counters[ring->watched]].fd);
		ring_close(&ring->ring);
		for (size_t i = 0; i < ring->n_counters; i++)
			n_failed += !open_counter_again(r, ring->counters[i], is_off);
		if (n_failed || !open_ring_again(r, ring)) {
			ring->watched = ring->n_counters;
			n_failed += !n_failed;
		}
	}
	return n_failed;
}

void recorder_close(struct recorder *r)
{
	vec_each(ring, &r->rings) {
		ring_close(&ring->ring);
		mem_free(ring->counters);
	}
	vec_fini(&r->rings);
	vec_fini(&r->runs);
	str_fini(&r->filtered);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	stop_close(&r->stop);
}

/* ---- the loop ---- */

static int flush_runs(struct recorder *r, struct err *err)
{
	int result = r->runs.n ? writer_append(r->writer, r->runs.at, r->runs.n, err) : 0;

	r->runs.n = 0;
	return result;
}

/* Not one that keeps the newest; nor that of a CPU that did not come back. */
static bool is_drained(const struct recorder_ring *ring)
{
	return !ring->is_backward && ring->ring.page;
}

/* Releases the rings that the runs came from: only now may the kernel overwrite them. */
static void release(struct recorder *r, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (is_drained(&r->rings.at[i]))
			ring_release(&r->rings.at[i].ring);
}

static void note_broken(struct recorder *r, struct recorder_ring *ring)
{
	r->n_broken_rings += ring->ring.is_broken;
	ring->ring.is_broken = false;
}

/* The CPUs near a ring's memory. */
static void choose_cpus(const struct recorder *r, struct recorder_ring *ring)
{
	struct topology own, other;

	CPU_ZERO(&ring->cpus);
	if (ring->cpu < 0)
		return;
	CPU_SET(ring->cpu, &ring->cpus);
	if (r->affinity != RECORDER_NODE_OF_RING)
		return;
	topology_read(&own, "/sys", (u32)ring->cpu);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &r->own_cpus))
			continue;
		topology_read(&other, "/sys", cpu);
		if (other.node == own.node)
			CPU_SET(cpu, &ring->cpus);
	}
}

/* A wish: where it cannot be had, any CPU will do. */
static void go_to(const struct recorder *r, const struct recorder_ring *ring)
{
	if (r->affinity != RECORDER_ANY_CPU && ring->cpu >= 0)
		(void)sched_setaffinity(0, sizeof(ring->cpus), &ring->cpus);
}

static void note_fill(struct recorder *r, const struct recorder_ring *ring, u64 bytes)
{
	r->fullest_pct = MAX(r->fullest_pct, (unsigned)(100 * bytes / ring->ring.size));
}

/* Everything that lies in the rings goes into the file; how many bytes that were. */
static int drain_as_it_is(struct recorder *r, bool is_whole, u64 *ret_bytes, struct err *err)
{
	size_t first = 0;

	vec_each(ring, &r->rings) {
		struct iovec runs[2];
		u64 bytes;
		int n;

		if (!is_drained(ring))
			continue;
		go_to(r, ring);
		bytes = ring_acquire(&ring->ring);
		note_fill(r, ring, bytes);
		if (!is_whole && bytes < r->flush_bytes) {
			ring->ring.head = ring->ring.tail;
			continue;
		}
		*ret_bytes += bytes;
		n = ring_runs(&ring->ring, runs);
		for (int i = 0; i < n; i++)
			vec_add(&r->runs, runs[i]);
		note_broken(r, ring);
		if (r->runs.n + 2 <= RUNS_MAX)
			continue;
		if (flush_runs(r, err))
			return err->code;
		release(r, first, ring - r->rings.at + 1);
		first = ring - r->rings.at + 1;
	}
	if (flush_runs(r, err))
		return err->code;
	release(r, first, r->rings.n);
	return 0;
}

/* ---- with a filter ---- */

/* Shows the filter what has come to a ring since the last time. */
static void show_ring(struct recorder *r, struct recorder_ring *ring)
{
	struct ring view = ring->ring; /* its positions are a reader's of its own */
	struct record rec;

	ring_acquire(&view);
	if (view.is_broken) {
		ring->seen_to = view.head;
		return;
	}
	view.tail = MAX(ring->seen_to, ring->ring.tail);
	while (ring_next(&view, &rec))
		r->filter->see(r->filter->ctx, &rec, view.tail <= ring->due_to);
	ring->seen_to = view.tail;
}

static int flush_filtered(struct recorder *r, struct err *err)
{
	struct iovec run = {r->filtered.at, r->filtered.n};
	int result = run.iov_len ? writer_append(r->writer, &run, 1, err) : 0;

	str_clear(&r->filtered);
	return result;
}

/* What of a ring belongs to this round. Room is given back soon: while we work, samples come. */
static int take_ring(struct recorder *r, struct recorder_ring *ring, struct err *err)
{
	struct record rec;
	unsigned n = 0;

	ring->ring.head = ring->due_to;
	while (ring_next(&ring->ring, &rec)) {
		r->filter->take(r->filter->ctx, &rec, &r->filtered);
		if (r->filtered.n >= FILTERED_BYTES && flush_filtered(r, err))
			return err->code;
		if (++n % FILTERED_RECORDS)
			continue;
		ring_release_read(&ring->ring);
		ring->ring.head = ring->due_to;
	}
	note_broken(r, ring);
	ring_release_read(&ring->ring);
	return 0;
}

/*
 * Why no sample is taken before the map that it runs in: the kernel has moved the head of the map's
 * ring before mmap(2) returns, so before a thread can know the address and be sampled there. Who saw
 * the sample's ring with the sample in it (acquire, in the first pass) therefore sees the map's ring with
 * the map in it, if he looks once more afterwards (the second pass). The same holds for fork and exec.
 */
static int drain_filtered(struct recorder *r, u64 *ret_bytes, struct err *err)
{
	vec_each(ring, &r->rings) {
		u64 bytes;

		if (!is_drained(ring))
			continue;
		bytes = ring_acquire(&ring->ring);
		note_fill(r, ring, bytes);
		*ret_bytes += bytes;
		ring->due_to = ring->ring.head;
	}
	vec_each(ring, &r->rings)
		if (is_drained(ring))
			show_ring(r, ring);
	r->filter->settle(r->filter->ctx);
	vec_each(ring, &r->rings) {
		if (!is_drained(ring))
			continue;
		go_to(r, ring);
		if (take_ring(r, ring, err))
			return err->code;
	}
	return flush_filtered(r, err);
}

/* Everything that lies in the rings, then the mark that ends a round. */
static int drain(struct recorder *r, bool is_whole, struct err *err)
{
	static const struct record_header round = {PERF_RECORD_FINISHED_ROUND, 0, sizeof(round)};
	struct iovec mark = {(void *)&round, sizeof(round)};
	u64 bytes = 0;

	if (r->filter ? drain_filtered(r, &bytes, err) : drain_as_it_is(r, is_whole, &bytes, err))
		return err->code;
	/* What a snapshot finds is older than the rounds before it: then there are none. */
	if (!bytes || r->has_backward)
		return 0;
	r->n_rounds++;
	return writer_append(r->writer, &mark, 1, err);
}

int recorder_drain(struct recorder *r, struct err *err)
{
	return drain(r, true, err);
}

/* ---- rings that keep the newest ---- */

static int snap_ring(struct recorder *r, struct recorder_ring *ring, struct err *err)
{
	VEC(size_t) starts = {0};
	struct str records = {0};
	struct record rec;
	u64 position;
	int result;

	ring_acquire_backward(&ring->ring);
	position = ring->ring.tail;
	ring->ring.head = position + MIN(ring->ring.size, ring->seen_to - position);
	ring->seen_to = position;
	while (ring_next(&ring->ring, &rec)) {
		vec_add(&starts, records.n);
		str_addn(&records, rec.at, rec.size);
	}
	for (size_t i = starts.n; i-- > 0;) {
		struct record_header header;

		memcpy(&header, records.at + starts.at[i], sizeof(header));
		rec = (struct record){.type = header.type,
			.misc = header.misc,
			.size = header.size,
			.at = (const u8 *)records.at + starts.at[i]};
		if (r->filter)
			r->filter->take(r->filter->ctx, &rec, &r->filtered);
		else
			str_addn(&r->filtered, rec.at, rec.size);
	}
	result = flush_filtered(r, err);
	vec_fini(&starts);
	str_fini(&records);
	return result;
}

int recorder_snapshot(struct recorder *r, struct err *err)
{
	int result = 0;

	vec_each(ring, &r->rings) {
		int fd = ring->is_backward && ring->ring.page
			? r->counters->at[ring->counters[0]].fd
			: -1;

		if (fd < 0 || result)
			continue;
		ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
		result = snap_ring(r, ring, err);
		ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	}
	return result;
}

/* ---- the loop itself ---- */

/*
 * The task behind a ring's watched descriptor has ended: the next counter of the ring takes its
 * place.
 */
static void watch_next(struct recorder *r, size_t i)
{
	struct recorder_ring *ring = &r->rings.at[i];
	struct err ignored;

	epoll_ctl(r->epoll_fd, EPOLL_CTL_DEL, r->counters->at[ring->counters[ring->watched]].fd,
		NULL);
	while (++ring->watched < ring->n_counters)
		if (!watch(r, r->counters->at[ring->counters[ring->watched]].fd, i, &ignored))
			return;
}

static bool have_all_ended(const struct recorder *r)
{
	vec_each(ring, &r->rings)
		if (ring->watched < ring->n_counters)
			return false;
	return true;
}

/* How long to wait, ms: until something is to be written, walked or decided. */
static int patience(const struct recorder *r, u64 now_ns, u64 synced_ms)
{
	int left = MIN((int)(synced_ms + SYNC_MS - now_ns / MS), r->filter ? FILTER_MS : SYNC_MS);
	u64 due;

	if (!r->pilot || r->pilot->due_ns == UINT64_MAX)
		return left;
	due = r->pilot->due_ns > now_ns ? (r->pilot->due_ns - now_ns + MS - 1) / MS : 0;
	return (int)MIN((u64)left, due);
}

/* Waits and drains until something ends it; false if writing failed. */
static bool loop(struct recorder *r, bool *ret_is_enough, struct err *err)
{
	u64 now = clock_now_ns(), synced = now / MS;

	for (;;) {
		struct epoll_event events[64];
		int n = epoll_wait(r->epoll_fd, events, ARRAY_SIZE(events),
			patience(r, now, synced));
		bool is_end = false, is_due;

		r->n_wakeups += n > 0;
		for (int i = 0; i < n; i++) {
			if (events[i].data.u64 == SIGNAL_EVENT)
				is_end |= stop_take(&r->stop, r->workload);
			else if (events[i].data.u64 == PILOT_EVENT)
				continue;
			else if (events[i].events & (EPOLLHUP | EPOLLERR))
				watch_next(r, events[i].data.u64);
		}
		now = clock_now_ns();
		is_due = now / MS - synced >= SYNC_MS;
		if (drain(r, is_end || is_due, err))
			return false;
		if (is_end || have_all_ended(r))
			return true;
		if (r->pilot && r->pilot->look(r->pilot->ctx, ret_is_enough, err))
			return false;
		if (*ret_is_enough)
			return true;
		if (is_due) {
			if (writer_sync(r->writer, err))
				return false;
			synced = now / MS;
		}
		now = clock_now_ns();
	}
}

/*
 * What each counter dropped. The LOST records in the rings do not tell it all: the kernel writes
 * one when there is room again and something to write, which at the end of a target there is not.
 */
static int write_losses(struct recorder *r, struct err *err)
{
	struct str out = {0};
	struct iovec run;
	int result = 0;

	vec_each(c, r->counters) {
		const struct event_attr *attr = &r->events->at[c->event].attr;
		struct counter_value v;
		struct sample_format format;
		union record_body body = {0};
		struct err ignored;
		size_t n;

		/*
		 * A counter that cannot be read has lost its place on the PMU: it had nothing to
		 * drop.
		 */
		if (attr->read_format & PERF_FORMAT_GROUP ||
			counter_read(c, attr, &v, 1, &n, &ignored) || !v.lost)
			continue;
		body.lost.lost = v.lost;
		sample_format_init(&format, attr);
		record_encode(PERF_RECORD_LOST_SAMPLES, 0, &body, format.trailer, &out);
		str_cut(&out, out.n - format.trailer);
		sample_encode_trailer(&format,
			&(struct sample){.id = c->id, .stream_id = c->id, .cpu = c->cpu}, &out);
	}
	run = (struct iovec){out.at, out.n};
	if (out.n)
		result = writer_append(r->writer, &run, 1, err);
	str_fini(&out);
	return result;
}

enum recorder_end recorder_run(struct recorder *r, struct writer *writer, struct workload *workload,
	struct err *err)
{
	bool is_written, is_enough = false;
	struct err ignored;

	r->writer = writer;
	r->workload = workload;
	sched_getaffinity(0, sizeof(r->own_cpus), &r->own_cpus);
	if (r->affinity != RECORDER_ANY_CPU)
		vec_each(ring, &r->rings)
			choose_cpus(r, ring);
	is_written = loop(r, &is_enough, err);
	counters_disable(r->counters, &ignored);
	/* What came in between the last look and the stop. */
	if (is_written)
		is_written =
			!drain(r, true, err) && !recorder_snapshot(r, err) && !write_losses(r, err);
	if (r->affinity != RECORDER_ANY_CPU)
		(void)sched_setaffinity(0, sizeof(r->own_cpus), &r->own_cpus);
	if (!is_written) {
		writer_sync(writer, &ignored);
		return RECORDER_FAILED;
	}
	if (writer_sync(writer, err))
		return RECORDER_FAILED;
	if (r->stop.signal)
		return RECORDER_SIGNAL;
	return is_enough ? RECORDER_ENOUGH : RECORDER_TARGET_ENDED;
}
