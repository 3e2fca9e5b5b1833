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
#include "collect/counter/ring.h"
#include "event/abi.h"

struct pace_ring {
	struct ring ring;
	struct sample_format format;
	const struct pace_counter *counter;
	VEC(u64) positions; /* of a backward ring's records, newest first */
	struct pace_value *values;
	bool has_names; /* it records side-band events */
	struct pace_source source;
	struct event_list events; /* the counter's, for the source */
};

struct ring_opening {
	struct pace_counter *counter;
	unsigned pages;
	struct pace_ring *ring; /* NULL: not created yet */
	struct err err;
};

/* ---- opening ---- */

static int check_counter(const struct pace_counter *c, struct err *err)
{
	if (c->attr.flags & ATTR_INHERIT && c->counter.cpu < 0)
		return err_set(err, ERR_INVAL,
			"'%s' is inherited: children on other CPUs cannot write to one ring: open a counter "
			"for each CPU",
			c->name);
	if (c->user.page)
		return err_set(err, ERR_INVAL,
			"'%s' is read in user space, so its page cannot have a ring: open another counter",
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
			"mapping a ring of %u pages: this user may not pin so much memory: raise "
			"kernel.perf_event_mlock_kb or 'ulimit -l', use fewer pages, or grant CAP_IPC_LOCK",
			pages);
	return err->code;
}

static void open_source(struct pace_source *s, void *ring)
{
	struct pace_ring *r = ring;
	const struct pace_counter *c = r->counter;

	api_source_open_live(s, &r->events);
	api_source_begin(s, c->counter.tid, !(c->attr.flags & ATTR_EXCLUDE_KERNEL));
}

static void make_ring(void *opening)
{
	struct ring_opening *o = opening;
	struct pace_counter *c = o->counter;
	struct pace_ring *r = o->ring = mem_zalloc(sizeof(*o->ring));

	if (open_ring(r, c, o->pages, &o->err))
		return;
	r->counter = c;
	sample_format_init(&r->format, &c->attr);
	if (c->attr.sample_type & PERF_SAMPLE_READ)
		r->values = mem_zalloc((c->group ? c->group->n : 1) * sizeof(*r->values));
	r->has_names = c->attr.flags & ATTR_COMM;
	if (!r->has_names)
		return;
	event_add(&r->events, &c->attr, c->name);
	r->source.owner = mem_strdup(c->name);
	if (!r->ring.is_backward) {
		open_source(&r->source, r);
		return;
	}
	/* Its records do not tell all that has changed: the state is read when a name is first asked for. */
	r->source.open = open_source;
	r->source.open_owner = r;
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
	api_source_close(&r->source);
	intern_fini(&r->source.strings);
	mem_free(r->source.owner);
	event_list_fini(&r->events);
	mem_free(r->values);
	mem_free(r);
}

/* ---- handing out ---- */

void api_tell(const struct pace_slots *slots, const char *fmt, ...)
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

static void tell_of_loss(const struct api_handing *h, const struct record *rec)
{
	union record_body body;
	struct err err;

	if (rec->type == PERF_RECORD_THROTTLE)
		api_tell(h->slots,
			"the kernel stopped sampling for a moment: there were too many samples");
	if (rec->type != PERF_RECORD_LOST ||
		record_decode(rec, h->format->trailer, &body, &err) <= 0)
		return;
	api_tell(h->slots, "%llu records were lost: the ring was full",
		(unsigned long long)body.lost.lost);
}

static int hand_out_sample(const struct api_handing *h, struct pace_record *record,
	const struct record *rec)
{
	const struct pace_slots *slots = h->slots;
	u64 needed = h->source ? CALLERS_FIELDS : 0;
	struct sample s = {0};
	struct api_lists lists;
	struct pace_sample out;
	struct err err;
	int said;

	if (sample_decode(h->format, rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE,
		    slots->wanted ? slots->wanted | needed : UINT64_MAX, &s, &err)) {
		api_tell(slots, "a sample could not be read: %s", err.msg);
		return 0;
	}
	if (!(h->format->type & PERF_SAMPLE_PERIOD))
		s.period = h->period;
	record->time = s.time;
	/* The kernel aligns the words of its records. */
	lists = (struct api_lists){.chain = s.chain.at,
		.branches = s.branches.entries,
		.user_regs = s.user_regs.values.at,
		.intr_regs = s.intr_regs.values.at,
		.values = s.read.n_values <= h->n_values ? h->values : NULL};
	out = api_public_sample(h->format, &s, record, &lists);
	out.source = h->source;
	if (!h->source)
		return slots->sample(slots->context, &out);
	api_source_point(h->source, &s, h->format, s.time, rec->misc);
	said = slots->sample(slots->context, &out);
	api_source_point(h->source, NULL, h->format, 0, 0);
	return said;
}

/* A record for a ring's source, and its time. */
struct telling {
	const struct api_handing *h;
	const struct record *rec;
	u64 time;
};

static void tell_source(void *telling)
{
	struct telling *t = telling;

	api_source_take(t->h->source, t->h->format, t->rec, t->time);
}

static void follow(const struct api_handing *h, const struct record *rec, u64 time)
{
	struct telling telling = {h, rec, time};
	struct pace_source *s = h->source;
	size_t size;

	if (!s || s->is_spent || !s->is_open || s->open || !record_is_state(rec->type))
		return;
	if (mem_try(tell_source, &telling, &size))
		return;
	s->is_spent = true;
	api_exhausted(size, &s->exhaustion, "naming samples of '%s'", s->owner);
}

int api_hand_out(const struct api_handing *h, struct pace_record *record, const struct record *rec)
{
	const struct pace_slots *slots = h->slots;
	struct sample trailer;

	if (rec->type == PERF_RECORD_SAMPLE)
		return slots->sample ? hand_out_sample(h, record, rec) : 0;
	tell_of_loss(h, rec);
	if (sample_decode_trailer(h->format, rec, &trailer))
		record->time = trailer.time;
	follow(h, rec, record->time);
	return slots->record ? slots->record(slots->context, record) : 0;
}

static int hand_out(struct pace_ring *r, const struct pace_slots *slots, const struct record *rec,
	u64 offset)
{
	const struct pace_counter *c = r->counter;
	struct api_handing h = {.slots = slots,
		.format = &r->format,
		.period = c->attr.flags & ATTR_FREQ ? 0 : c->attr.sample_period,
		.values = r->values,
		.n_values = c->group ? c->group->n : 1,
		.source = r->has_names ? &r->source : NULL};
	struct pace_record record = {.type = rec->type,
		.misc = rec->misc,
		.size = rec->size,
		.bytes = rec->at,
		.offset = offset};

	return api_hand_out(&h, &record, rec);
}

static int read_forward(struct pace_ring *r, const struct pace_slots *slots)
{
	struct ring *ring = &r->ring;
	struct record rec;
	int said = 0;

	api_source_next_round(&r->source);
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

/* The kernel's order is newest first; ours is time order. */
static int read_backward(struct pace_ring *r, const struct pace_slots *slots)
{
	struct ring *ring = &r->ring;
	struct record rec;
	int said = 0;

	api_source_close(&r->source);
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
		api_tell(slots, "the ring was corrupt: records were skipped");
	r->ring.is_broken = false;
	return said;
}
