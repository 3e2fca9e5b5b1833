#include "trace/follow.h"

void follow_init(struct follow *f, struct trace *t, enum follow_order order, u64 wanted)
{
	struct session *s = &t->session;

	memset(f, 0, sizeof(*f));
	f->trace = t;
	f->order = order;
	decoder_init(&f->decoder, s, wanted | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ,
		&s->tally);
	visits_init(&f->visits, t);
	f->visit.visits = &f->visits;
	f->visit.rec = &f->at.rec;
	if (order != FOLLOW_IN_FILE)
		stream_init(&f->stream, s);
	else
		reader_cursor_init(&f->cursor, &s->reader, s->reader.data_start,
			s->reader.data_end);
}

void follow_fini(struct follow *f)
{
	/* follow_init() was never called. */
	if (!f->trace)
		return;
	visits_fini(&f->visits);
	periods_fini(&f->periods);
	if (f->order != FOLLOW_IN_FILE)
		stream_fini(&f->stream);
	else
		reader_cursor_fini(&f->cursor);
}

static int take_runs(void *follow, const struct iovec *runs, int n, struct err *err)
{
	(void)err;
	stream_push(&((struct follow *)follow)->stream, runs, n);
	return 0;
}

struct sink follow_sink(struct follow *f)
{
	return (struct sink){f, take_runs, NULL};
}

void follow_end(struct follow *f)
{
	stream_end(&f->stream);
}

/* Between two rounds: has the memory of programs read again, and forgets what has ended. */
static void rest(struct follow *f)
{
	struct trace *t = f->trace;
	struct machine *m = &t->machine;

	if (f->visits.has_walk)
		livecode_next_round(&f->visits.walk.live);
	if (!t->session.has_times || !machine_should_forget(m, m->followed_to))
		return;
	if (f->let_go)
		f->let_go(f->borrower);
	machine_forget_ended(m, m->followed_to);
	liveproc_forget(&t->files.liveproc);
	if (f->visits.has_walk)
		callers_forget(&t->callers, &f->visits.walk);
}

static int next_in_time(struct follow *f, struct err *err)
{
	struct machine *m = &f->trace->machine;
	int r = stream_next(&f->stream, &f->at, err);

	if (!r && f->order == FOLLOW_LIVE && !f->stream.is_over) {
		rest(f);
		return 0;
	}
	if (r <= 0) {
		machine_advance(m, UINT64_MAX);
		resolver_settle(&f->trace->resolver);
		callers_settle(&f->trace->callers);
		if (!r)
			stream_note_disorder(&f->stream);
		return r;
	}
	if (f->at.rec.type == PERF_RECORD_SAMPLE || !f->trace->session.reader.formats.n)
		machine_advance(m, MAX(f->at.time, m->followed_to));
	else if (machine_follow(m, &f->trace->session, &f->at, &f->body) > 0)
		f->visit.body = &f->body;
	return 1;
}

static int next_in_file(struct follow *f, struct err *err)
{
	struct session *s = &f->trace->session;
	struct reader_cursor *c = &f->cursor;
	struct record *rec = &f->at.rec;
	int r = reader_next(c, rec, err);

	if (r <= 0) {
		if (!r)
			session_note_end(s, c);
		return r;
	}
	session_take(s, c, rec);
	stream_place(s, &f->at);
	f->at.nr = f->n_read++;
	if (rec->type != PERF_RECORD_SAMPLE && record_is_state(rec->type) && s->reader.formats.n) {
		const struct sample_format *format =
			formats_format(&s->reader.formats, f->at.event);
		struct err why;

		if (record_decode(rec, format->trailer, &f->body, &why) > 0) {
			session_note_odd(&s->tally, rec, oddity_of_state(rec->type, &f->body));
			f->visit.body = &f->body;
		}
	}
	return 1;
}

/* The next counter that has counted something, as a sample of its event; false: there is none. */
static bool take_value(struct follow *f)
{
	const struct reader *r = &f->trace->session.reader;

	while (f->n_taken < f->reading->read.n_values) {
		struct periods_value v = periods_take(&f->periods, &r->formats, &r->events,
			f->visit.taken_by, f->reading, f->n_taken++, f->at.time);

		if (v.event == TABLE_NONE || !v.period)
			continue;
		f->visit.event = v.event;
		f->reading->period = v.period;
		return true;
	}
	f->reading->period = f->period;
	f->reading = NULL;
	return false;
}

static void take_sample(struct follow *f)
{
	struct sample *sample = decoder_next(&f->decoder, &f->at.rec, f->at.event);

	f->visit.sample = sample;
	if (!sample)
		return;
	f->visit.mode = f->at.rec.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (!periods_has(f->visit.format))
		return;
	f->reading = sample;
	f->n_taken = 0;
	f->period = sample->period;
	f->visit.is_idle = !take_value(f);
}

/* Tells the session's progress how far the file is read, now and then. True: the user wants no more of it. */
static bool is_enough(struct follow *f)
{
	enum { TOLD_EACH = 1024 }; /* visits */
	struct session *s = &f->trace->session;
	const u64 from = s->reader.data_start, end = s->reader.data_end;
	const u64 at = MIN(f->at.rec.offset, end);

	if (f->order == FOLLOW_LIVE || s->reader.is_stream || f->n_visits++ % TOLD_EACH)
		return false;
	progress_expect(s->progress, end - from);
	progress_set(s->progress, MAX(at, from) - from);
	if (LIKELY(!progress_is_stopped(s->progress)))
		return false;
	progress_heed(s->progress);
	s->tally.n_stopped_bytes = end - at;
	return true;
}

int follow_next(struct follow *f, struct visit **ret, struct err *err)
{
	/* For a pipe that has not described its events yet. */
	static const struct sample_format unknown;
	const struct formats *formats = &f->trace->session.reader.formats;
	int r;

	*ret = &f->visit;
	if (f->reading) {
		f->visit.is_next = true;
		if (take_value(f))
			return 1;
	}
	f->visit.sample = NULL;
	f->visit.body = NULL;
	f->visit.state = NULL;
	f->visit.mode = 0;
	f->visit.is_next = f->visit.is_idle = f->visit.has_callers = false;
	r = f->order == FOLLOW_IN_FILE ? next_in_file(f, err) : next_in_time(f, err);
	if (r <= 0)
		return r;
	if (UNLIKELY(f->trace->session.progress) && is_enough(f))
		return 0;
	visits_follow(&f->visits);
	f->visit.nr = f->at.nr;
	f->visit.time = f->at.time;
	f->visit.event = f->visit.taken_by = f->at.event;
	f->visit.format = formats->n ? formats_format(formats, f->at.event) : &unknown;
	if (f->at.rec.type == PERF_RECORD_SAMPLE)
		take_sample(f);
	else if (f->visit.body && f->at.rec.type == PERF_RECORD_FORK && formats->has_reads)
		periods_begin_thread(&f->periods, f->body.task.tid);
	return 1;
}
