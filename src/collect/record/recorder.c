#include "collect/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "collect/run/deeper.h"
#include "collect/open/open.h"
#include "collect/around/topology.h"
#include "event/abi.h"
#include "collect/record/drain.h"
#include "record/record.h"
#include "record/sample.h"

enum {
	DEFAULT_RING_BYTES = 512 << 10,
	/* At 10,000 samples a second with 8 KiB of stack, half of the ring is full after 50 ms. */
	DUMPS_RING_BYTES = 8 << 20,
	/*
	 * With the whole system many programs are seen for the first time, and reading their unwind
	 * tables takes time.
	 */
	DUMPS_CPU_RING_BYTES = 32 << 20,
	DUMPS_ALL_BYTES = 256 << 20, /* of all rings, for any number of CPUs */
	/* With the largest copies at 10,000 samples a second, half of the ring is full after 50 ms. */
	DEEPER_RING_BYTES = 64 << 20,
	MS = 1000000, /* ns */
	SYNC_MS = 1000,
	/*
	 * How often to update the header with what has been written: a cheap write, and other
	 * readers rely on it.
	 */
	TELL_MS = 100,
	/* A filter looks at the present state: files of processes that end soon, maps. */
	FILTER_MS = 20,
	/* At first it checks more often whether it could do better: stack copies may be too small. */
	FILTER_FIRST_MS = 4,
	FIRST_MS = 500,
	/* A ring filled this far in one round may be full before the next round of that length ends. */
	FILLING_PCT = 8,
	/* Gets ten times the CPU share of other programs. */
	AHEAD_NICE = -10,
};

#define SIGNAL_EVENT UINT64_MAX
#define PILOT_EVENT  (UINT64_MAX - 1)
/* Combined with a counter's descriptor, which is dropped when its task has ended. */
#define TASK_EVENT (1ull << 63)

/* ---- set-up ---- */

static bool is_backward(const struct recorder *r, const struct counter *c)
{
	return r->events->at[c->event].attr.flags & ATTR_WRITE_BACKWARD;
}

/*
 * The ring of a counter's CPU, or of its thread. Counters were opened in the order of the rings:
 * the search starts at *hint, which is then set behind the result.
 */
static struct recorder_ring *ring_of(struct recorder *r, const struct counter *c, size_t *hint)
{
	for (size_t k = 0; k < r->rings.n; k++) {
		size_t i = (*hint + k) % r->rings.n;
		struct recorder_ring *ring = &r->rings.at[i];

		if (ring->cpu != c->cpu || (c->cpu < 0 && ring->tid != c->tid) ||
			ring->is_backward != is_backward(r, c))
			continue;
		*hint = i + 1;
		return ring;
	}
	return NULL;
}

/* Assigns each counter to the ring of its CPU, or of its thread if it follows that. */
static void assign_counters(struct recorder *r)
{
	size_t hint = 0;

	vec_each(c, r->counters) {
		struct recorder_ring *ring;

		if (c->is_idle)
			continue;
		ring = ring_of(r, c, &hint);
		if (!ring) {
			ring = vec_push(&r->rings);
			memset(ring, 0, sizeof(*ring));
			ring->cpu = c->cpu;
			ring->tid = c->tid;
			ring->is_backward = is_backward(r, c);
			r->has_backward |= ring->is_backward;
		}
		vec_add(&ring->counters, (size_t)(c - r->counters->at));
	}
}

/* Maps the rings, r->pages each. On failure none is left. */
static int map_rings(struct recorder *r, struct err *err)
{
	vec_each(ring, &r->rings) {
		int fd = r->counters->at[ring->counters.at[0]].fd;

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

static bool is_of_all_tasks(const struct recorder *r)
{
	vec_each(c, r->counters)
		if (c->tid >= 0)
			return false;
	return true;
}

static u64 default_pages(const struct recorder *r)
{
	u64 page_size = (u64)sysconf(_SC_PAGESIZE), bytes = DEFAULT_RING_BYTES;
	u64 most = is_of_all_tasks(r) ? DUMPS_CPU_RING_BYTES : DUMPS_RING_BYTES;

	while (have_dumps(r->events) && bytes < most && 2 * bytes * r->rings.n <= DUMPS_ALL_BYTES)
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
					  "mapping %zu rings of %llu pages: the limit of locked memory is reached; use smaller rings (-m), or raise 'ulimit -l' or kernel.perf_event_mlock_kb ('sudo sysctl kernel.perf_event_mlock_kb=NUMBER')",
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
		int to = r->counters->at[ring->counters.at[0]].fd;

		for (size_t i = 1; i < ring->counters.n; i++)
			if (ioctl(r->counters->at[ring->counters.at[i]].fd,
				    PERF_EVENT_IOC_SET_OUTPUT, to))
				return err_sys(err, errno, "sharing the ring of CPU %d", ring->cpu);
	}
	return 0;
}

/* A ring that is not emptied is always full: only its end wakes us. */
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
		if (watch(r, counters->at[ring->counters.at[0]].fd, ring - r->rings.at, err))
			return err->code;
	return 0;
}

int recorder_watch(struct recorder *r, int fd, struct err *err)
{
	return watch(r, fd, PILOT_EVENT, err);
}

int recorder_watch_task(struct recorder *r, int fd, struct err *err)
{
	return watch(r, fd, TASK_EVENT | (unsigned)fd, err);
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
	return !is_leader || is_off || c->is_idle || !ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static bool open_ring_again(struct recorder *r, struct recorder_ring *ring)
{
	int first = r->counters->at[ring->counters.at[0]].fd;
	struct err ignored;

	if (ring->is_backward ? ring_open_backward(&ring->ring, first, r->pages, &ignored)
			      : ring_open(&ring->ring, first, r->pages, &ignored))
		return false;
	ring->seen_to = ring->due_to = 0;
	ring->watched = 0;
	for (size_t i = 1; i < ring->counters.n; i++)
		ioctl(r->counters->at[ring->counters.at[i]].fd, PERF_EVENT_IOC_SET_OUTPUT, first);
	return !watch(r, first, ring - r->rings.at, &ignored);
}

size_t recorder_reopen_cpu(struct recorder *r, s32 cpu, bool is_off)
{
	size_t n_failed = 0;

	vec_each(ring, &r->rings) {
		if (ring->cpu != cpu)
			continue;
		/* Its mapping keeps the old counter alive, and the counter keeps its place in epoll. */
		if (ring->watched < ring->counters.n)
			recorder_unwatch(r, r->counters->at[ring->counters.at[ring->watched]].fd);
		ring_close(&ring->ring);
		for (size_t i = 0; i < ring->counters.n; i++)
			n_failed += !open_counter_again(r, ring->counters.at[i], is_off);
		if (n_failed || !open_ring_again(r, ring)) {
			ring->watched = ring->counters.n;
			n_failed += !n_failed;
		}
	}
	return n_failed;
}

/* ---- larger copies of stacks ---- */

/*
 * Assigns the idle counters to new rings, which are not mapped yet. Returns the index of the first
 * one.
 */
static size_t assign_idle(struct recorder *r)
{
	size_t first = r->rings.n;

	vec_each(c, r->counters) {
		struct recorder_ring *ring = NULL;

		if (!c->is_idle)
			continue;
		for (size_t i = first; i < r->rings.n && !ring; i++)
			if (r->rings.at[i].cpu == c->cpu &&
				(c->cpu >= 0 || r->rings.at[i].tid == c->tid))
				ring = &r->rings.at[i];
		if (!ring) {
			ring = vec_push(&r->rings);
			memset(ring, 0, sizeof(*ring));
			ring->cpu = c->cpu;
			ring->tid = c->tid;
			ring->is_deeper = true;
		}
		vec_add(&ring->counters, (size_t)(c - r->counters->at));
	}
	return first;
}

static void drop_rings(struct recorder *r, size_t first)
{
	for (size_t i = first; i < r->rings.n; i++) {
		ring_close(&r->rings.at[i].ring);
		vec_fini(&r->rings.at[i].counters);
	}
	r->rings.n = first;
}

/* Maps all of the new rings, or none. */
static bool map_deeper(struct recorder *r, size_t first, u64 pages)
{
	struct err ignored;

	for (size_t i = first; i < r->rings.n; i++) {
		struct recorder_ring *ring = &r->rings.at[i];

		if (!ring_open(&ring->ring, r->counters->at[ring->counters.at[0]].fd, pages,
			    &ignored))
			continue;
		while (i-- > first)
			ring_close(&r->rings.at[i].ring);
		return false;
	}
	return true;
}

static bool share(struct recorder *r, const struct recorder_ring *ring, int to, size_t from)
{
	for (size_t i = from; i < ring->counters.n; i++)
		if (ioctl(r->counters->at[ring->counters.at[i]].fd, PERF_EVENT_IOC_SET_OUTPUT, to))
			return false;
	return true;
}

/* Gives the new counters rings of their own. False: there is no memory for them. */
static bool open_own_rings(struct recorder *r, size_t first)
{
	u64 page_size = (u64)sysconf(_SC_PAGESIZE), pages = DEEPER_RING_BYTES / page_size;
	struct err ignored;

	while (pages > r->pages && pages * page_size * (r->rings.n - first) > DUMPS_ALL_BYTES)
		pages /= 2;
	for (pages = MAX(pages, r->pages); !map_deeper(r, first, pages); pages /= 2)
		if (pages / 2 < r->pages)
			return false;
	for (size_t i = first; i < r->rings.n; i++) {
		int to = r->counters->at[r->rings.at[i].counters.at[0]].fd;

		if (!share(r, &r->rings.at[i], to, 1) || watch(r, to, i, &ignored))
			return false;
	}
	return true;
}

/* Lets the new counters write into the existing rings, if these have room for several samples. */
static bool join_rings(struct recorder *r, size_t first)
{
	enum { SAMPLES_LEAST = 16 };
	const struct counter *any = &r->counters->at[r->rings.at[first].counters.at[0]];

	if (r->pages * (u64)sysconf(_SC_PAGESIZE) < SAMPLES_LEAST * (u64)any->stack_bytes)
		return false;
	for (size_t i = first; i < r->rings.n; i++) {
		const struct recorder_ring *own = &r->rings.at[i];
		struct counter *c = &r->counters->at[own->counters.at[0]];
		size_t hint = 0;
		struct recorder_ring *ring = ring_of(r, c, &hint);

		if (!ring || ring->is_deeper || !ring->ring.page ||
			!share(r, own, r->counters->at[ring->counters.at[0]].fd, 0))
			return false;
		vec_each(position, &own->counters)
			vec_add(&ring->counters, *position);
	}
	drop_rings(r, first);
	return true;
}

int recorder_go_deeper(struct recorder *r, bool is_off, struct err *err)
{
	size_t first = assign_idle(r);
	bool has_own = open_own_rings(r, first);

	if (!has_own)
		for (size_t i = first; i < r->rings.n; i++)
			ring_close(&r->rings.at[i].ring);
	if ((!has_own && !join_rings(r, first)) || deeper_take_over(r->counters, is_off, err)) {
		drop_rings(r, first);
		return err_set(err, ERR_SYS, "no rings for larger copies of the stack");
	}
	return 0;
}

void recorder_close(struct recorder *r)
{
	vec_each(ring, &r->rings) {
		ring_close(&ring->ring);
		vec_fini(&ring->counters);
	}
	vec_fini(&r->rings);
	vec_fini(&r->runs);
	str_fini(&r->filtered);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	stop_close(&r->stop);
}

/* Chooses the CPUs near a ring's memory. */
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

/* ---- priority ---- */

/*
 * Raises our priority: stack copies fill a ring in less time than ten busy programs may make us
 * wait for a CPU. A user without that right has to wait.
 */
static void go_ahead(struct recorder *r)
{
	r->own_nice = getpriority(PRIO_PROCESS, 0);
	r->is_ahead =
		r->filter && r->own_nice > AHEAD_NICE && !setpriority(PRIO_PROCESS, 0, AHEAD_NICE);
}

void recorder_fall_back(struct recorder *r)
{
	if (r->is_ahead)
		(void)setpriority(PRIO_PROCESS, 0, r->own_nice);
	r->is_ahead = false;
}

/* ---- the loop ---- */

/* The task behind a ring's watched descriptor has ended: watches the ring's next counter. */
static void watch_next(struct recorder *r, size_t i)
{
	struct recorder_ring *ring = &r->rings.at[i];
	struct err ignored;

	epoll_ctl(r->epoll_fd, EPOLL_CTL_DEL, r->counters->at[ring->counters.at[ring->watched]].fd,
		NULL);
	while (++ring->watched < ring->counters.n)
		if (!watch(r, r->counters->at[ring->counters.at[ring->watched]].fd, i, &ignored))
			return;
}

static bool have_all_ended(const struct recorder *r)
{
	vec_each(ring, &r->rings)
		if (ring->watched < ring->counters.n)
			return false;
	return true;
}

/* Stops watching a counter for the pilot if its task has ended: it would be ready forever. */
static void drop_ended(struct recorder *r, const struct epoll_event *e)
{
	if (e->data.u64 != PILOT_EVENT && e->events & (EPOLLHUP | EPOLLERR))
		recorder_unwatch(r, (int)(e->data.u64 & ~TASK_EVENT));
}

/* How long to wait, in ms: until there is something to write, to look at or to decide. */
static int patience(const struct recorder *r, u64 now_ns, u64 synced_ms)
{
	u64 sync = synced_ms + SYNC_MS, now_ms = now_ns / MS, due;
	bool is_urgent = now_ns - r->start_ns < (u64)FIRST_MS * MS || r->round_pct >= FILLING_PCT;
	u64 most = !r->filter ? SYNC_MS : is_urgent ? FILTER_FIRST_MS : FILTER_MS;
	u64 left = MIN(sync > now_ms ? sync - now_ms : 0, most);

	if (!r->pilot || r->pilot->due_ns == UINT64_MAX)
		return (int)left;
	due = r->pilot->due_ns > now_ns ? (r->pilot->due_ns - now_ns + MS - 1) / MS : 0;
	return (int)MIN(left, due);
}

/* Waits and drains until something ends the loop. False: writing failed. */
static bool loop(struct recorder *r, bool *ret_is_enough, struct err *err)
{
	u64 now = clock_now_ns(), synced = now / MS, told = synced;

	r->start_ns = now;
	for (;;) {
		struct epoll_event events[64];
		int n = epoll_wait(r->epoll_fd, events, ARRAY_SIZE(events),
			patience(r, now, synced));
		bool is_end = false, is_due;

		r->n_wakeups += n > 0;
		for (int i = 0; i < n; i++) {
			if (events[i].data.u64 == SIGNAL_EVENT)
				is_end |= stop_take(&r->stop, r->workload);
			else if (events[i].data.u64 & TASK_EVENT)
				drop_ended(r, &events[i]);
			else if (events[i].events & (EPOLLHUP | EPOLLERR))
				watch_next(r, events[i].data.u64);
		}
		now = clock_now_ns();
		is_due = now / MS - synced >= SYNC_MS;
		if (drain_rings(r, is_end || is_due, err))
			return false;
		if (is_end || have_all_ended(r))
			return true;
		if (r->pilot && r->pilot->look(r->pilot->ctx, ret_is_enough, err))
			return false;
		if (*ret_is_enough)
			return true;
		if (now / MS - told >= TELL_MS) {
			if (sink_sync(r->sink, err))
				return false;
			told = now / MS;
		}
		if (is_due)
			synced = now / MS;
		now = clock_now_ns();
	}
}

enum recorder_end recorder_run(struct recorder *r, struct workload *workload, struct err *err)
{
	bool is_written, is_enough = false;
	struct err ignored;

	r->workload = workload;
	sched_getaffinity(0, sizeof(r->own_cpus), &r->own_cpus);
	if (r->affinity != RECORDER_ANY_CPU)
		vec_each(ring, &r->rings)
			choose_cpus(r, ring);
	go_ahead(r);
	is_written = loop(r, &is_enough, err);
	counters_disable(r->counters, &ignored);
	/* What came between the last look and the stop. */
	if (is_written)
		is_written = !drain_rings(r, true, err) && !drain_newest(r, err) &&
			!drain_losses(r, err);
	recorder_fall_back(r);
	if (r->affinity != RECORDER_ANY_CPU)
		(void)sched_setaffinity(0, sizeof(r->own_cpus), &r->own_cpus);
	if (!is_written) {
		sink_sync(r->sink, &ignored);
		return RECORDER_FAILED;
	}
	if (sink_sync(r->sink, err))
		return RECORDER_FAILED;
	if (r->stop.signal)
		return RECORDER_SIGNAL;
	return is_enough ? RECORDER_ENOUGH : RECORDER_TARGET_ENDED;
}
