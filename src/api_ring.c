/*
 * api_ring.c - the public functions that sample.
 */
#include "api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/ring.h"
#include "event/abi.h"

struct pace_ring {
	struct ring ring;
	struct sample_format format;
	const struct pace_counter *counter;
	VEC(u64) positions; /* of a backward ring's records, the latest first */
};

struct ring_opening {
	struct pace_counter *counter;
	unsigned pages;
	struct pace_ring *ring; /* NULL: not there yet */
	struct err err;
};

/* ---- opening ---- */

static int check_counter(const struct pace_counter *c, struct err *err)
{
	if (c->attr.flags & ATTR_INHERIT && c->counter.cpu < 0)
		return err_set(err, ERR_INVAL,
			"'%s' is inherited: children on other CPUs cannot write to one ring, open a counter "
			"for each CPU",
			c->name);
	if (c->user.page)
		return err_set(err, ERR_INVAL,
			"'%s' is read in user space, its page cannot have a ring: open another counter",
			c->name);
	if (!c->attr.sample_period)
		return err_set(err, ERR_INVAL,
			"'%s' was opened without a period or a frequency: it takes no samples",
			c->name);
	return 0;
}

static int open_ring(struct pace_ring *r, const struct pace_counter *c, unsigned pages,
	struct err *err)
{
	bool is_backward = c->attr.flags & ATTR_WRITE_BACKWARD;

	if (check_counter(c, err))
		return err->code;
	if (!(is_backward ? ring_open_backward : ring_open)(&r->ring, c->counter.fd, pages, err))
		return 0;
	if (err->sys == EPERM)
		return err_set(err, ERR_PERM,
			"mapping a ring of %u pages: more than this user may pin: raise "
			"kernel.perf_event_mlock_kb or 'ulimit -l', or have fewer pages or CAP_IPC_LOCK",
			pages);
	return err->code;
}

static void make_ring(void *opening)
{
	struct ring_opening *o = opening;

	o->ring = mem_zalloc(sizeof(*o->ring));
	if (open_ring(o->ring, o->counter, o->pages, &o->err))
		return;
	o->ring->counter = o->counter;
	sample_format_init(&o->ring->format, &o->counter->attr);
}

PUBLIC struct pace_ring *pace_ring_open(struct pace_counter *c, unsigned pages,
	struct pace_error *ret_err)
{
	struct ring_opening o = {.counter = c, .pages = pages};
	size_t size;

	if (!mem_try(make_ring, &o, &size))
		api_exhausted(size, &o.err, "opening a ring of %u pages", pages);
	if (!o.err.code)
		return o.ring;
	api_give_error(&o.err, ret_err);
	pace_ring_close(o.ring);
	return NULL;
}

PUBLIC void pace_ring_close(struct pace_ring *r)
{
	if (!r)
		return;
	ring_close(&r->ring);
	vec_fini(&r->positions);
	mem_free(r);
}

/* ---- handing out ---- */

static void tell(const struct pace_slots *slots, const char *fmt, ...) PRINTF(2, 3);

static void tell(const struct pace_slots *slots, const char *fmt, ...)
{
	char sentence[200];
	va_list ap;

	if (!slots->loss)
		return;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	slots->loss(slots->context, sentence);
}

static void tell_of_loss(const struct pace_ring *r, const struct pace_slots *slots,
	const struct record *rec)
{
	union record_body body;
	struct err err;

	if (rec->type == PERF_RECORD_THROTTLE)
		tell(slots,
			"the kernel stopped sampling for a moment: there were too many samples");
	if (rec->type != PERF_RECORD_LOST ||
		record_decode(rec, r->format.trailer, &body, &err) <= 0)
		return;
	tell(slots, "%llu records were lost: the ring was full",
		(unsigned long long)body.lost.lost);
}

static int hand_out_sample(const struct pace_ring *r, const struct pace_slots *slots,
	struct pace_record *record, const struct record *rec)
{
	struct sample s = {0};
	struct pace_sample out;
	struct err err;

	if (sample_decode(&r->format, rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE,
		    slots->wanted ? slots->wanted : UINT64_MAX, &s, &err)) {
		tell(slots, "a sample could not be read: %s", err.msg);
		return 0;
	}
	if (!(r->format.type & PERF_SAMPLE_PERIOD) && !(r->counter->attr.flags & ATTR_FREQ))
		s.period = r->counter->attr.sample_period;
	record->time = s.time;
	out = api_public_sample(&r->format, &s, record);
	return slots->sample(slots->context, &out);
}

static int hand_out(const struct pace_ring *r, const struct pace_slots *slots,
	const struct record *rec, u64 offset)
{
	struct pace_record record = {.type = rec->type,
		.misc = rec->misc,
		.size = rec->size,
		.bytes = rec->at,
		.offset = offset};
	struct sample trailer;

	if (rec->type == PERF_RECORD_SAMPLE)
		return slots->sample ? hand_out_sample(r, slots, &record, rec) : 0;
	tell_of_loss(r, slots, rec);
	if (!slots->record)
		return 0;
	if (sample_decode_trailer(&r->format, rec, &trailer))
		record.time = trailer.time;
	return slots->record(slots->context, &record);
}

static int read_forward(struct pace_ring *r, const struct pace_slots *slots)
{
	struct ring *ring = &r->ring;
	struct record rec;
	int said = 0;

	ring_acquire(ring);
	while (!said) {
		u64 offset = ring->tail;

		if (!ring_next(ring, &rec))
			break;
		said = hand_out(r, slots, &rec, offset);
	}
	ring_release_read(ring);
	return said;
}

static void find_records(void *pace_ring)
{
	struct pace_ring *r = pace_ring;
	struct ring *ring = &r->ring;
	struct record rec;
	u64 at;

	r->positions.n = 0;
	ring_acquire_backward(ring);
	for (at = ring->tail; ring_next(ring, &rec); at = ring->tail)
		vec_add(&r->positions, at);
}

/* The kernel's order is from the latest to the oldest; ours is that of time. */
static int read_backward(struct pace_ring *r, const struct pace_slots *slots)
{
	struct ring *ring = &r->ring;
	struct record rec;
	int said = 0;

	for (size_t i = r->positions.n; i-- && !said;) {
		ring->tail = r->positions.at[i];
		ring->head = ring->tail + ring->size;
		if (ring_next(ring, &rec))
			said = hand_out(r, slots, &rec, -ring->tail);
	}
	return said;
}

static int pause_output(const struct pace_ring *r, u32 is_paused, struct err *err)
{
	if (ioctl(r->counter->counter.fd, PERF_EVENT_IOC_PAUSE_OUTPUT, is_paused) == 0)
		return 0;
	return err_sys(err, errno, "%s a ring", is_paused ? "pausing" : "resuming");
}

PUBLIC int pace_ring_read(struct pace_ring *r, const struct pace_slots *slots,
	struct pace_error *ret_err)
{
	struct err err = {0};
	int said = 0;
	size_t size;

	if (r->ring.is_backward) {
		if (pause_output(r, 1, &err))
			return api_give_error(&err, ret_err);
		if (mem_try(find_records, r, &size))
			said = read_backward(r, slots);
		else
			api_exhausted(size, &err, "reading a ring");
		if (pause_output(r, 0, &err) || err.code)
			return api_give_error(&err, ret_err);
		return said;
	}
	said = read_forward(r, slots);
	if (r->ring.is_broken)
		tell(slots, "the ring made no sense: records were skipped");
	r->ring.is_broken = false;
	return said;
}
