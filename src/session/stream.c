#include "session/stream.h"

/*
 * Without rounds, records wait until they take QUEUE_BYTES, overhead included; then the older half is handed
 * out. Waiting records are charged to the recording each time they have grown by CHARGED_EACH.
 */
enum { QUEUE_BYTES = 27 << 20, CHARGED_EACH = 1 << 20 };

/* The records of one file. */
struct stream_part {
	struct reader_cursor cursor;
	struct queue queue;
	u64 n_charged;             /* bytes that waited when they were charged last */
	u64 safe;                  /* the time up to which nothing can come after the next round */
	u64 furthest;              /* the largest offset that was handed out */
	struct stream_event head;  /* what comes next, if has_head */
	struct stream_event round; /* the mark after what the queue has released, if has_round */
	bool has_head, has_round, has_ended, has_stayed;
};

void stream_init(struct stream *st, struct session *session)
{
	struct reader *r = &session->reader;

	memset(st, 0, sizeof(*st));
	st->session = session;
	/* A live trace forgets what has ended: nothing grows with the length of the recording. */
	st->n_allowed = session->is_live ? UINT64_MAX : 0;
	st->n_parts = session->is_live ? 1 : r->parts.n;
	st->parts = mem_zalloc(st->n_parts * sizeof(*st->parts));
	for (size_t i = 0; i < r->parts.n; i++) {
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
	str_fini(&st->pushed);
	memset(st, 0, sizeof(*st));
}

/* ---- of a live session ---- */

void stream_push(struct stream *st, const struct iovec *runs, int n)
{
	for (int i = 0; i < n; i++)
		str_addn(&st->pushed, runs[i].iov_base, runs[i].iov_len);
}

void stream_end(struct stream *st)
{
	st->is_over = true;
}

/* All that was pushed has been read; a round of a machine that was busy may have been large. */
static void forget_pushed(struct stream *st)
{
	st->n_pushed += st->pushed_at;
	st->pushed_at = 0;
	str_clear(&st->pushed);
	str_shrink(&st->pushed);
}

/* The next record, read or pushed. 0: the end, or none until more is pushed. */
static int read_record(struct stream *st, struct stream_part *p, struct record *ret,
	struct err *err)
{
	if (LIKELY(!st->session->is_live))
		return reader_next(&p->cursor, ret, err);
	if (st->pushed.n && st->pushed_at == st->pushed.n)
		forget_pushed(st);
	if (!record_in(st->pushed.at, st->pushed.n, st->pushed_at, ret))
		return 0;
	ret->offset = st->n_pushed + st->pushed_at;
	st->pushed_at += ret->size;
	return 1;
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

u64 stream_put(struct stream *st, const struct record *rec)
{
	struct stream_event e = {.rec = *rec, .nr = st->n_read++};

	session_take(st->session, NULL, rec);
	stream_place(st->session, &e);
	enqueue(st, st->parts, &e);
	return e.time;
}

void stream_finish_round(struct stream *st, u64 until)
{
	st->disorder.n_rounds++;
	queue_release(&st->parts->queue, until);
}

/*
 * Reads at the end once more: records that stayed in the file were used after the cursor had passed them,
 * and only now does it show if the file was truncated meanwhile.
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

/* Charges what was made from records, and those that wait; the allowance grows with what a stream has read. */
static int charge(struct stream *st, struct err *err)
{
	const struct reader *r = &st->session->reader;
	u64 taken = st->n_charged = made(st), at = st->n_parts ? st->parts[0].cursor.at : 0;

	for (size_t i = 0; i < st->n_parts; i++)
		taken += st->parts[i].queue.n_bytes;
	if (LIKELY(taken <= st->n_allowed))
		return 0;
	st->n_allowed = reader_allows(r, at);
	return taken <= st->n_allowed
		? 0
		: allowance_exceeded(&r->allowance, st->n_allowed, at,
			  "the threads and maps in it, and records that wait,", err);
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
		r = read_record(st, p, &e.rec, err);
		if (r < 0 || (!r && s->is_live && !st->is_over))
			return r;
		if (!r) {
			p->has_ended = true;
			session_note_end(s, &p->cursor);
			queue_release(&p->queue, UINT64_MAX);
			continue;
		}
		e.nr = st->n_read++;
		session_take(s, s->is_live ? NULL : &p->cursor, &e.rec);
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
	/* Attrs may have come while it waited: every event needs a format then. */
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
			"%llu records came too late to be put in order, by up to %llu ns: they are left where they came",
			(unsigned long long)d->n_late, (unsigned long long)d->most_ns);
}
