#include "session/stream.h"

/*
 * Without rounds, so much is held back, all that is kept for it included; when it is full, half of it is
 * handed out. What waits is charged to the recording each time it has grown by so much.
 */
enum { QUEUE_BYTES = 27 << 20, CHARGED_EACH = 1 << 20 };

/* The records of one file. */
struct stream_part {
	struct reader_cursor cursor;
	struct queue queue;
	u64 n_charged;             /* bytes that waited when they were charged last */
	u64 safe;                  /* up to here nothing can come any more at the next round */
	u64 furthest;              /* offset of all that were handed out */
	struct stream_event head;  /* what comes next, if has_head */
	struct stream_event round; /* the mark behind what the queue has let go, if has_round */
	bool has_head, has_round, has_ended, has_stayed;
};

void stream_init(struct stream *st, struct session *session)
{
	struct reader *r = &session->reader;

	memset(st, 0, sizeof(*st));
	st->session = session;
	st->parts = mem_zalloc(r->parts.n * sizeof(*st->parts));
	st->n_parts = r->parts.n;
	for (size_t i = 0; i < st->n_parts; i++) {
		const struct reader_part *p = &r->parts.at[i];

		reader_cursor_init(&st->parts[i].cursor, r, i ? p->base : r->data_start,
			r->is_stream ? UINT64_MAX : p->base + p->end);
	}
}

void stream_fini(struct stream *st)
{
	for (size_t i = 0; i < st->n_parts; i++) {
		struct stream_part *p = &st->parts[i];

		reader_cursor_fini(&p->cursor);
		queue_fini(&p->queue);
	}
	mem_free(st->parts);
	memset(st, 0, sizeof(*st));
}

/* ---- the queue ---- */

static void enqueue(struct stream *st, struct stream_part *p, const struct stream_event *e)
{
	struct stream_disorder *d = &st->disorder;
	bool stays = reader_stays(&st->session->reader, &e->rec);

	if (e->time < p->queue.newest) {
		d->n_backwards++;
		d->most_ns = MAX(d->most_ns, p->queue.newest - e->time);
		d->n_late += e->time < p->queue.handed_out;
	}
	queue_add(&p->queue, &e->rec, e->nr, e->event, e->time, stays);
	p->has_stayed |= stays;
	d->most_queued = MAX(d->most_queued, p->queue.n_bytes);
}

static void hand_out(struct stream *st, struct stream_part *p, const struct queued *q)
{
	p->head = (struct stream_event){q->rec, q->nr, q->event, q->time};
	p->has_head = true;
	if (q->rec.offset < p->furthest)
		st->disorder.most_bytes = MAX(st->disorder.most_bytes, p->furthest - q->rec.offset);
	p->furthest = MAX(p->furthest, q->rec.offset);
}

/* ---- reading ---- */

/* Whose record it is, and when; 0: it has no time, and holds from the beginning or at once. */
void stream_place(const struct session *s, struct stream_event *e)
{
	const struct formats *f = &s->reader.formats;

	e->event = 0;
	e->time = 0;
	if (e->rec.type >= PERF_RECORD_USER_TYPE_START)
		return;
	e->event = formats_event(f, &e->rec);
	e->time = s->has_times ? formats_time(f, &e->rec, e->event) : e->rec.offset;
}

/*
 * At the end once more, as what stayed in the file was looked at behind it: that the file was cut
 * meanwhile shows now.
 */
static int look_again(struct session *s, struct stream_part *p, struct err *err)
{
	struct record none;
	int r = reader_next(&p->cursor, &none, err);

	p->has_stayed = false;
	if (!s->tally.damage.reason)
		s->tally.damage = p->cursor.damage;
	return MIN(r, 0);
}

static u64 made(const struct stream *st)
{
	return st->session->n_held + (st->held ? st->held(st->holder) : 0);
}

/* What was made of records, and those that wait; what a stream may take grows with it. */
static int charge(struct stream *st, struct err *err)
{
	const struct reader *r = &st->session->reader;
	u64 taken = st->n_charged = made(st), at = st->n_parts ? st->parts[0].cursor.at : 0;

	for (size_t i = 0; i < st->n_parts; i++)
		taken += st->parts[i].queue.n_bytes;
	if (LIKELY(taken <= st->n_allowed))
		return 0;
	st->n_allowed = reader_allows(r, at);
	return taken <= st->n_allowed ? 0
				      : allowance_exceeded(&r->allowance, st->n_allowed, at,
						"what it tells of, and records that wait,", err);
}

/* Reads until there is something to hand out, or the end. */
static int advance(struct stream *st, struct stream_part *p, struct err *err)
{
	struct session *s = st->session;

	while (!p->has_head) {
		const struct queued *q = queue_next(&p->queue);
		struct stream_event e;
		int r;

		if (q) {
			hand_out(st, p, q);
			return 1;
		}
		if (p->has_round) {
			p->has_round = false;
			p->head = p->round;
			p->has_head = true;
			return 1;
		}
		if (p->has_ended)
			return p->has_stayed ? look_again(s, p, err) : 0;
		r = reader_next(&p->cursor, &e.rec, err);
		if (r < 0)
			return r;
		if (!r) {
			p->has_ended = true;
			session_note_end(s, &p->cursor);
			queue_release(&p->queue, UINT64_MAX);
			continue;
		}
		e.nr = st->n_read++;
		session_take(s, &p->cursor, &e.rec);
		stream_place(s, &e);
		if (e.rec.type == PERF_RECORD_FINISHED_ROUND) {
			st->disorder.n_rounds++;
			queue_release(&p->queue, p->safe);
			p->safe = p->queue.newest;
			p->round = e;
			p->has_round = true;
			continue;
		} else if (e.time) {
			enqueue(st, p, &e);
			if (p->queue.n_bytes > QUEUE_BYTES)
				queue_release_half(&p->queue);
			p->n_charged = MIN(p->n_charged, p->queue.n_bytes);
			if (p->queue.n_bytes < p->n_charged + CHARGED_EACH)
				continue;
			p->n_charged = p->queue.n_bytes;
			if (charge(st, err))
				return err->code;
			continue;
		}
		p->head = e;
		p->has_head = true;
	}
	return 1;
}

int stream_next(struct stream *st, struct stream_event *ret, struct err *err)
{
	struct stream_part *first = NULL;

	if (UNLIKELY(st->n_charged != made(st)) && charge(st, err))
		return err->code;
	for (size_t i = 0; i < st->n_parts; i++) {
		struct stream_part *p = &st->parts[i];
		int r = advance(st, p, err);

		if (r < 0)
			return r;
		if (r && (!first || p->head.time < first->head.time))
			first = p;
	}
	if (!first)
		return 0;
	*ret = first->head;
	first->has_head = false;
	/* Attrs may have come while it waited: there is a format for each event then. */
	if (UNLIKELY(st->session->reader.has_new_events) &&
		ret->rec.type != PERF_RECORD_HEADER_ATTR)
		reader_settle(&st->session->reader);
	return 1;
}

void stream_note_disorder(const struct stream *st)
{
	const struct stream_disorder *d = &st->disorder;

	if (d->n_late)
		log_note(st->session->log,
			"%llu records came too late to be put in order, by up to %llu ns: they stand where they came",
			(unsigned long long)d->n_late, (unsigned long long)d->most_ns);
}
