#include "edit/cut.h"

#include "base/num.h"
#include "event/abi.h"
#include "event/cpus.h"
#include "session/decoder.h"
#include "trace/visit.h"
#include "trace/where.h"

struct cutting {
	const struct cut_wish *wish;
	struct trace trace;
	struct visits visits;
	struct decoder decoder;
	struct spans spans;
	struct cpus cpus;
	struct num_list pids, tids;
	struct trace_where where; /* refers to the lists above */
	struct copier copier;
	struct cut_tally tally;
};

static bool is_wanted(struct cutting *c, const struct sample *s, const struct stream_event *e)
{
	struct visit v = {.visits = &c->visits,
		.sample = s,
		.format = formats_format(&c->trace.session.reader.formats, e->event),
		.time = e->time};

	return trace_where_has(&c->where, &v);
}

/*
 * Whether a record is about its own moment only, not about state that holds from then on. It is
 * kept only inside the wanted time.
 */
static bool is_of_a_moment(const struct stream_event *e)
{
	return e->time && e->rec.type < PERF_RECORD_USER_TYPE_START &&
		!record_is_state(e->rec.type);
}

static int take(struct cutting *c, struct stream_event *e, struct err *err)
{
	const struct sample *s;

	if (e->rec.type != PERF_RECORD_SAMPLE)
		return is_of_a_moment(e) && !spans_have(&c->spans, e->time)
			? 0
			: copier_add(&c->copier, &e->rec, err);
	c->tally.n_samples++;
	if (e->event == TABLE_NONE)
		return 0;
	s = decoder_next(&c->decoder, &e->rec, e->event);
	if (!s || !is_wanted(c, s, e))
		return 0;
	c->tally.n_kept++;
	return copier_add_sample(&c->copier, &e->rec, e->time, err);
}

/* Copies the records in the file's order, with its rounds. */
static int copy_file(struct cutting *c, struct err *err)
{
	struct reader *r = &c->trace.session.reader;
	struct reader_cursor cursor;
	struct stream_event e = {0};
	int result;

	reader_cursor_init(&cursor, r, r->data_start, r->data_end);
	while ((result = reader_next(&cursor, &e.rec, err)) > 0) {
		stream_place(&c->trace.session, &e);
		result = take(c, &e, err);
		if (result)
			break;
	}
	reader_cursor_fini(&cursor);
	return result;
}

/* The files of a directory have rounds of their own: their records are merged by time. */
static int copy_directory(struct cutting *c, struct err *err)
{
	struct stream stream;
	struct stream_event e;
	int result;

	stream_init(&stream, &c->trace.session);
	while ((result = stream_next(&stream, &e, err)) > 0) {
		if (e.rec.type == PERF_RECORD_FINISHED_ROUND)
			continue;
		result = take(c, &e, err);
		if (result)
			break;
	}
	stream_fini(&stream);
	return result;
}

static int write_all(struct cutting *c, struct fresh *to, struct err *err)
{
	struct reader *r = &c->trace.session.reader;

	if (copier_open(&c->copier, to, &r->events, err))
		return err->code;
	if (r->is_directory ? copy_directory(c, err) : copy_file(c, err)) {
		copier_abandon(&c->copier);
		return err->code;
	}
	return copier_finish(&c->copier, r, err);
}

static int prepare(struct cutting *c, struct err *err)
{
	/* Names are not needed. */
	const struct trace_options names = {.ignores_embedded = true, .ignores_jit = true};
	const struct cut_wish *w = c->wish;
	struct session_tally *tally = &c->trace.session.tally;
	const struct file_info *info = &c->trace.session.reader.info;

	if (num_list_parse(&c->pids, "--pid", w->pids, err) ||
		num_list_parse(&c->tids, "--tid", w->tids, err))
		return err->code;
	if (w->cpus && cpus_parse(&c->cpus, w->cpus, err))
		return err_prefix(err, "--cpu");
	if (trace_scan(&c->trace, &names, err))
		return err->code;
	visits_init(&c->visits, &c->trace);
	c->where = (struct trace_where){.cpus = &c->cpus,
		.spans = &c->spans,
		.pids = &c->pids,
		.tids = &c->tids,
		.comms = w->comms};
	if (w->time && !c->trace.session.has_times)
		return err_set(err, ERR_INVAL, "--time: the recording has no times");
	if (w->time &&
		spans_parse(&c->spans, w->time, info->first_time,
			info->has_times ? info->last_time : 0, err))
		return err->code;
	decoder_init(&c->decoder, &c->trace.session,
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, tally);
	return 0;
}

int cut_write(const char *path, const struct cut_wish *wish, struct fresh *to, struct log *log,
	struct cut_tally *ret_tally, struct err *err)
{
	struct cutting c = {.wish = wish};
	int r;

	if (trace_open(&c.trace, path, log, err))
		return err->code;
	r = prepare(&c, err);
	if (!r)
		r = write_all(&c, to, err);
	if (!r)
		*ret_tally = c.tally;
	visits_fini(&c.visits);
	trace_close(&c.trace);
	spans_fini(&c.spans);
	cpus_fini(&c.cpus);
	vec_fini(&c.pids);
	vec_fini(&c.tids);
	return r;
}
