#include "collect/record/drain.h"

#include <sched.h>
#include <sys/ioctl.h>

#include "event/abi.h"
#include "record/record.h"
#include "record/sample.h"

enum {
	RUNS_MAX = 512,
	FILTERED_BYTES = 64 << 10, /* written at a time */
	LOOK_RECORDS = 8,          /* between two checks for lateness */
	FILTERED_RECORDS = 64,     /* after which their space in the ring is given back */
};

static int flush_runs(struct recorder *r, struct err *err)
{
	int n = (int)r->runs.n;
	int result = n ? r->sink->append(r->sink->ctx, r->runs.at, n, err) : 0;

	r->runs.n = 0;
	return result;
}

/*
 * Whether this reads the ring: not one that keeps the newest, nor that of a CPU that did not come
 * back.
 */
static bool is_drained(const struct recorder_ring *ring)
{
	return !ring->is_backward && ring->ring.page;
}

/* Releases the rings that the runs came from: only now may the kernel overwrite the records. */
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

/* Moves to a CPU near the ring. If that fails, any CPU will do. */
static void go_to(const struct recorder *r, const struct recorder_ring *ring)
{
	if (r->affinity != RECORDER_ANY_CPU && ring->cpu >= 0)
		(void)sched_setaffinity(0, sizeof(ring->cpus), &ring->cpus);
}

static void note_fill(struct recorder *r, const struct recorder_ring *ring, u64 bytes)
{
	unsigned pct = (unsigned)(100 * bytes / ring->ring.size);

	r->fullest_pct = MAX(r->fullest_pct, pct);
	r->round_pct = MAX(r->round_pct, pct);
}

/* Acquires what has come to a ring. Returns its size in bytes. */
static u64 acquire(struct recorder *r, struct recorder_ring *ring)
{
	u64 bytes = ring_acquire(&ring->ring);

	note_fill(r, ring, bytes);
	return bytes;
}

/* Moves everything in the rings to the sink, and adds its size to *ret_bytes. */
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
		bytes = acquire(r, ring);
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

static int flush_filtered(struct recorder *r, struct err *err)
{
	int result = sink_append(r->sink, r->filtered.at, r->filtered.n, err);

	str_clear(&r->filtered);
	return result;
}

/* The same with periods corrected, in a copy: the rings belong to the kernel. */
static int drain_reweighed(struct recorder *r, u64 *ret_bytes, struct err *err)
{
	vec_each(ring, &r->rings) {
		struct iovec runs[2];
		size_t start = r->filtered.n;
		int n;

		if (!is_drained(ring))
			continue;
		go_to(r, ring);
		*ret_bytes += acquire(r, ring);
		n = ring_runs(&ring->ring, runs);
		for (int i = 0; i < n; i++)
			str_addn(&r->filtered, runs[i].iov_base, runs[i].iov_len);
		reweigh_records(r->reweigh, (u8 *)r->filtered.at + start, r->filtered.n - start);
		note_broken(r, ring);
		ring_release(&ring->ring);
		if (r->filtered.n >= FILTERED_BYTES && flush_filtered(r, err))
			return err->code;
	}
	return flush_filtered(r, err);
}

/* ---- with a filter ---- */

/* Shows the filter what has come to a ring since the last call. */
static void show_ring(struct recorder *r, struct recorder_ring *ring)
{
	struct ring view = ring->ring; /* with a reader's position of its own */
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

/*
 * Tells the filter whether a quarter of the ring is full again: at the present pace the rest may
 * overflow.
 */
static void look_if_late(const struct recorder *r, const struct recorder_ring *ring)
{
	struct ring view = ring->ring;

	if (r->filter->hurry)
		r->filter->hurry(r->filter->ctx, ring_acquire(&view) > view.size / 4);
}

/* Takes this round's records of a ring. Gives space back early: samples keep coming meanwhile. */
static int take_ring(struct recorder *r, struct recorder_ring *ring, struct err *err)
{
	struct record rec;
	struct str own = {0};
	unsigned n = 0;
	int result = 0;

	ring->ring.head = ring->due_to;
	while (!result && ring_next(&ring->ring, &rec)) {
		if (r->reweigh && rec.type == PERF_RECORD_SAMPLE) {
			str_clear(&own);
			str_addn(&own, rec.at, rec.size);
			reweigh_records(r->reweigh, (u8 *)own.at, own.n);
			rec.at = (const u8 *)own.at;
		}
		if (n % LOOK_RECORDS == 0)
			look_if_late(r, ring);
		r->filter->take(r->filter->ctx, &rec, &r->filtered);
		if (r->filtered.n >= FILTERED_BYTES)
			result = flush_filtered(r, err);
		if (result || ++n % FILTERED_RECORDS)
			continue;
		ring_release_read(&ring->ring);
		ring->ring.head = ring->due_to;
	}
	str_fini(&own);
	if (result)
		return result;
	note_broken(r, ring);
	ring_release_read(&ring->ring);
	return 0;
}

/*
 * Why no sample is taken before the filter has seen the map that it runs in: the kernel moves the
 * head of the map's ring before mmap(2) returns, so before any thread can know the address and be
 * sampled there. If the first pass (acquire) finds the sample in its ring, the second pass, which
 * looks at all rings again, finds the map in the map's ring. The same holds for fork and exec.
 */
static int drain_filtered(struct recorder *r, u64 *ret_bytes, struct err *err)
{
	vec_each(ring, &r->rings) {
		u64 bytes;

		if (!is_drained(ring))
			continue;
		bytes = acquire(r, ring);
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

int drain_rings(struct recorder *r, bool is_whole, struct err *err)
{
	static const struct record_header round = {PERF_RECORD_FINISHED_ROUND, 0, sizeof(round)};
	u64 bytes = 0;

	r->round_pct = 0;
	if (r->filter                ? drain_filtered(r, &bytes, err)
			: r->reweigh ? drain_reweighed(r, &bytes, err)
				     : drain_as_it_is(r, is_whole, &bytes, err))
		return err->code;
	/* A snapshot's records are older than the rounds before it, so there are no rounds. */
	if (!bytes || r->has_backward)
		return 0;
	r->n_rounds++;
	return sink_append(r->sink, &round, sizeof(round), err);
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
		record_in(records.at, records.n, starts.at[i], &rec);
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

int drain_newest(struct recorder *r, struct err *err)
{
	int result = 0;

	vec_each(ring, &r->rings) {
		int fd = ring->is_backward && ring->ring.page
			? r->counters->at[ring->counters.at[0]].fd
			: -1;

		if (fd < 0 || result)
			continue;
		ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
		result = snap_ring(r, ring, err);
		ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	}
	return result;
}

/* ---- what was lost ---- */

/*
 * The LOST records in the rings are not complete: the kernel writes one only when there is room
 * again and something to write, which never happens after a target's end.
 */
int drain_losses(struct recorder *r, struct err *err)
{
	struct str out = {0};
	int result;

	vec_each(c, r->counters) {
		const struct event_attr *attr = &r->events->at[c->event].attr;
		struct counter_value v;
		struct sample_format format;
		union record_body body = {0};
		struct err ignored;
		size_t n;

		/* A counter that cannot be read lost its place on the PMU: it had nothing to drop. */
		if (attr->read_format & PERF_FORMAT_GROUP ||
			counter_read(c, attr, &v, 1, &n, &ignored) || v.lost == c->n_told_lost)
			continue;
		/* A counter that was opened again started from 0. */
		body.lost.lost = v.lost > c->n_told_lost ? v.lost - c->n_told_lost : v.lost;
		c->n_told_lost = v.lost;
		sample_format_init(&format, attr);
		record_encode(PERF_RECORD_LOST_SAMPLES, 0, &body, format.trailer, &out);
		str_cut(&out, out.n - format.trailer);
		sample_encode_trailer(&format,
			&(struct sample){.id = c->id, .stream_id = c->id, .cpu = c->cpu}, &out);
	}
	result = sink_append(r->sink, out.at, out.n, err);
	str_fini(&out);
	return result;
}
