#include "profile/cut.h"

#include "base/num.h"
#include "event/abi.h"
#include "event/cpus.h"
#include "machine/machine.h"
#include "session/decoder.h"

struct cutting {
	const struct cut_wish *wish;
	struct session session;
	struct machine machine;
	struct decoder decoder;
	struct spans spans;
	struct cpus cpus;
	VEC(u32) pids, tids;
	struct intern strings;
	struct copier copier;
	struct cut_tally tally;
};

typedef VEC(u32) number_list;

static int parse_numbers(const char *option, const char *text, void *ret_numbers, struct err *err)
{
	number_list *numbers = ret_numbers;
	const char *p = text;
	u64 n;

	while (p && *p) {
		if (!num_scan(&p, 10, &n) || n > UINT32_MAX || (*p && *p != ','))
			return err_set(err, ERR_INVAL, "%s '%s': expected numbers like 12,34",
				option, text);
		vec_add(numbers, (u32)n);
		p += *p == ',';
	}
	return 0;
}

static bool has_number(const u32 *at, size_t n, u32 number)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == number)
			return true;
	return !n;
}

static bool has_name(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strcspn(p, ",") == n && !memcmp(p, name, n))
			return true;
	return !list;
}

static bool is_wanted(struct cutting *c, const struct sample *s, u64 time)
{
	struct thread_state t;

	if (!spans_have(&c->spans, time) || !has_number(c->pids.at, c->pids.n, s->pid) ||
		!has_number(c->tids.at, c->tids.n, s->tid))
		return false;
	if (c->cpus.n) {
		bool is_there = false;

		vec_each(cpu, &c->cpus)
			is_there |= *cpu == s->cpu;
		if (!is_there)
			return false;
	}
	if (!c->wish->comms)
		return true;
	machine_state_at(&c->machine, s->pid, s->tid, time, &c->strings, &t);
	return has_name(c->wish->comms, t.comm);
}

/* Said of a moment, not of who is where from then on: only in the time that is wanted. */
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
	if (!s || !is_wanted(c, s, e->time))
		return 0;
	c->tally.n_kept++;
	return copier_add_sample(&c->copier, &e->rec, e->time, err);
}

/* In the order of the file, with its rounds. */
static int copy_file(struct cutting *c, struct err *err)
{
	struct reader *r = &c->session.reader;
	struct reader_cursor cursor;
	struct stream_event e = {0};
	int result;

	reader_cursor_init(&cursor, r, r->data_start, r->data_end);
	while ((result = reader_next(&cursor, &e.rec, err)) > 0) {
		stream_place(&c->session, &e);
		result = take(c, &e, err);
		if (result)
			break;
	}
	reader_cursor_fini(&cursor);
	return result;
}

/* The files of a directory have rounds of their own: what comes out of them is put into one order. */
static int copy_directory(struct cutting *c, struct err *err)
{
	struct stream stream;
	struct stream_event e;
	int result;

	stream_init(&stream, &c->session);
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
	struct reader *r = &c->session.reader;

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
	const struct cut_wish *w = c->wish;
	struct session_tally *tally = &c->session.tally;
	const struct file_info *info = &c->session.reader.info;

	if (parse_numbers("--pid", w->pids, &c->pids, err) ||
		parse_numbers("--tid", w->tids, &c->tids, err))
		return err->code;
	if (w->cpus && cpus_parse(&c->cpus, w->cpus, err))
		return err_prefix(err, "--cpu");
	if (machine_scan(&c->machine, &c->session, err))
		return err->code;
	if (w->time && !c->session.has_times)
		return err_set(err, ERR_INVAL, "--time: the recording has no times");
	if (w->time &&
		spans_parse(&c->spans, w->time, info->first_time,
			info->has_times ? info->last_time : 0, err))
		return err->code;
	decoder_init(&c->decoder, &c->session, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		tally);
	return 0;
}

int cut_write(const char *path, const struct cut_wish *wish, struct fresh *to, struct log *log,
	struct cut_tally *ret_tally, struct err *err)
{
	struct cutting c = {.wish = wish};
	int r;

	if (session_open(&c.session, path, log, err))
		return err->code;
	r = prepare(&c, err);
	if (!r)
		r = write_all(&c, to, err);
	if (!r)
		*ret_tally = c.tally;
	machine_fini(&c.machine);
	session_close(&c.session);
	spans_fini(&c.spans);
	cpus_fini(&c.cpus);
	vec_fini(&c.pids);
	vec_fini(&c.tids);
	intern_fini(&c.strings);
	return r;
}
