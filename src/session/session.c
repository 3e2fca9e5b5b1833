#include "session/session.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/workers.h"
#include "event/abi.h"
#include "session/decoder.h"
#include "session/periods.h"

enum {
	PIECE_BYTES = 1 << 20,
	/* What a byte takes: to be hopped over in the first pass, to be decoded and counted in the second. */
	SCAN_WORK = 1,
	SAMPLE_WORK = 4,
};

int session_open(struct session *s, const char *path, struct log *log, struct err *err)
{
	return session_open_fd(s, strcmp(path, "-") ? -1 : STDIN_FILENO, path, log, err);
}

int session_open_fd(struct session *s, int fd, const char *name, struct log *log, struct err *err)
{
	memset(s, 0, sizeof(*s));
	if (reader_open_fd(&s->reader, fd, name, log, err))
		return err->code;
	s->log = log;
	s->has_times = s->reader.formats.time_in_all;
	return 0;
}

void session_begin_live(struct session *s, const struct event_list *events, struct log *log)
{
	memset(s, 0, sizeof(*s));
	s->log = log;
	s->is_live = true;
	s->reader.events = *events;
	formats_init(&s->reader.formats, events);
	s->has_times = s->reader.formats.time_in_all;
}

void session_change_ids(struct session *s)
{
	formats_fini(&s->reader.formats);
	formats_init(&s->reader.formats, &s->reader.events);
}

void session_close(struct session *s)
{
	if (s->is_live)
		memset(&s->reader.events, 0, sizeof(s->reader.events));
	vec_fini(&s->pieces);
	vec_fini(&s->readings);
	vec_fini(&s->values);
	reader_close(&s->reader);
}

/* ---- pass 1 ---- */

/* A record that says who ran where, kept until all of them can be put in order. */
struct side_record {
	struct record rec; /* in the scan's arena */
	u32 event;
};

struct scan {
	struct session *session;
	VEC(struct side_record) records;
	VEC(struct sort_item) order; /* key: time */
	struct arena arena;
	u64 last_time;
	/* Samples that read counters, and threads that begin: they have to be put in order too. */
	struct periods periods;
	VEC(struct sort_item) moments; /* the position of a reading, or BEGINS and a tid */
	VEC(u32) counters;             /* of session.values */
};

static const u64 BEGINS = 1ULL << 63;

static const struct sample_format *format_of(const struct session *s, const struct record *rec)
{
	const struct formats *f = &s->reader.formats;

	return formats_format(f, formats_event(f, rec));
}

static u64 time_of(const struct session *s, const struct record *rec)
{
	const struct formats *f = &s->reader.formats;

	return s->has_times ? formats_time(f, rec, formats_event(f, rec)) : rec->offset;
}

static void keep_side_record(struct scan *scan, const struct record *rec)
{
	struct side_record *kept = vec_push(&scan->records);
	u64 time = time_of(scan->session, rec);

	kept->rec = *rec;
	kept->rec.at = arena_copy(&scan->arena, rec->at, rec->size);
	vec_add(&scan->order, ((struct sort_item){time, scan->records.n - 1}));
	scan->session->tally.n_out_of_order += time && time < scan->last_time;
	scan->last_time = MAX(scan->last_time, time);
}

/* How many bytes are kept until all records are read. */
static u64 bytes_kept(const struct scan *scan)
{
	const struct session *s = scan->session;

	return scan->arena.total + scan->records.cap * sizeof(*scan->records.at) +
		scan->order.cap * sizeof(*scan->order.at) +
		scan->moments.cap * sizeof(*scan->moments.at) +
		scan->counters.cap * sizeof(*scan->counters.at) +
		s->readings.cap * sizeof(*s->readings.at) + s->values.cap * sizeof(*s->values.at);
}

static int charge_kept(const struct scan *scan, const struct record *rec, struct err *err)
{
	const struct reader *r = &scan->session->reader;

	if (LIKELY(bytes_kept(scan) <= reader_allows(r, rec->offset)))
		return 0;
	return allowance_exceeded(&r->allowance, reader_allows(r, rec->offset), rec->offset,
		"records of who ran where, and values of counters,", err);
}

/* Keeps the counter values of a sample; the second pass counts samples that cannot be decoded. */
static void keep_reading(struct scan *scan, const struct record *rec, u64 nr)
{
	struct session *s = scan->session;
	const struct formats *f = &s->reader.formats;
	u32 event = formats_event(f, rec);
	struct sample sample = {0};
	struct err err;

	if (event >= f->n || !periods_has(&f->at[event]) ||
		sample_decode(&f->at[event], rec->at + RECORD_HEADER_SIZE,
			rec->size - RECORD_HEADER_SIZE,
			PERF_SAMPLE_READ | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, &sample, &err))
		return;
	vec_add(&scan->moments,
		((struct sort_item){s->has_times ? sample.time : rec->offset, s->readings.n}));
	vec_add(&s->readings, ((struct session_reading){nr, s->values.n}));
	for (u64 i = 0; i < sample.read.n_values; i++) {
		u64 value = sample_read_value(&f->at[event], &sample.read, i).value;

		vec_add(&scan->counters,
			periods_counter(&scan->periods, f, &s->reader.events, event, &sample, i));
		vec_add(&s->values, ((struct session_value){value, TABLE_NONE}));
	}
}

/* Keeps the start of a thread, because its counters start then too. */
static void keep_fork(struct scan *scan, const struct record *rec)
{
	union record_body body;
	struct err err;

	if (record_decode(rec, format_of(scan->session, rec)->trailer, &body, &err) > 0)
		vec_add(&scan->moments,
			((struct sort_item){time_of(scan->session, rec), BEGINS | body.task.tid}));
}

static void settle_reading(struct scan *scan, size_t reading, u64 time)
{
	struct session *s = scan->session;
	size_t end = reading + 1 < s->readings.n ? s->readings.at[reading + 1].first : s->values.n;

	s->tally.n_samples--;
	for (size_t i = s->readings.at[reading].first; i < end; i++) {
		struct session_value *v = &s->values.at[i];

		v->event = scan->periods.counters.at[scan->counters.at[i]].event;
		v->period = periods_advance(&scan->periods, scan->counters.at[i], v->period, time);
		s->tally.n_samples += v->period != 0;
	}
}

/* Turns the values of counters into their differences, in the order of time. */
static void settle_readings(struct scan *scan)
{
	sort_by_key(scan->moments.at, scan->moments.n);
	vec_each(m, &scan->moments)
		if (m->value & BEGINS)
			periods_begin_thread(&scan->periods, (u32)m->value);
		else
			settle_reading(scan, m->value, m->key);
}

/* Counts what the kernel says it dropped. */
static void count_loss(struct session *s, const struct record *rec)
{
	union record_body body;
	struct err err;

	if (record_decode(rec, format_of(s, rec)->trailer, &body, &err) <= 0) {
		session_note_undecoded(&s->tally, rec);
		return;
	}
	if (rec->type == PERF_RECORD_LOST)
		s->tally.n_lost_records += body.lost.lost;
	/* Samples that a filter dropped are not missing. */
	else if (!(rec->misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF))
		s->tally.n_lost_samples += body.lost.lost;
}

/* Takes in events that pipe mode describes after its beginning. */
static void take_events(struct session *s, struct reader_cursor *c, const struct record *rec)
{
	reader_take(c, rec, s->log);
	if (rec->type == PERF_RECORD_HEADER_ATTR)
		return;
	reader_settle(&s->reader);
	s->has_times = s->reader.formats.time_in_all;
}

void session_take(struct session *s, struct reader_cursor *c, const struct record *rec)
{
	if (UNLIKELY(rec->type >= PERF_RECORD_USER_TYPE_START || s->reader.has_new_events) && c)
		take_events(s, c, rec);
	s->tally.n_by_type[rec->type < ARRAY_SIZE(s->tally.n_by_type) ? rec->type : 0]++;
	if (LIKELY(rec->type == PERF_RECORD_SAMPLE)) {
		s->tally.n_samples++;
		s->has_kernel_samples |=
			(rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	} else if (rec->type == PERF_RECORD_LOST || rec->type == PERF_RECORD_LOST_SAMPLES) {
		count_loss(s, rec);
	} else if (rec->type == PERF_RECORD_THROTTLE) {
		s->tally.n_throttled++;
	}
}

void session_note_end(struct session *s, const struct reader_cursor *c)
{
	const struct reader *r = &s->reader;
	const struct layout_section *data = &r->header.data;

	/* Events that no record follows need a format like the others. */
	reader_settle(&s->reader);
	if (!s->tally.damage.reason)
		s->tally.damage = c->damage;
	/* Records beyond the end of the file are missing, even if it ends with a whole record. */
	if (!s->tally.damage.reason && !r->is_pipe_mode && !r->is_unfinished &&
		data->size > r->file_size - MIN(r->file_size, data->offset)) {
		s->tally.damage.offset = r->file_size;
		s->tally.damage.bytes = data->size - (r->file_size - data->offset);
		s->tally.damage.reason = "the file ends before its records do";
	}
	s->tally.n_not_native += c->n_not_native;
	s->tally.n_packed += c->n_packed;
	s->tally.n_packed2 += c->n_packed2;
	if (c->n_text)
		log_note(s->log,
			"'%s': %llu bytes of text follow the last record: another program wrote them into the same pipe",
			s->reader.path, (unsigned long long)c->n_text);
}

void session_explain_content(const struct session *s)
{
	const char *path = s->reader.path;
	const u64 *n = s->tally.n_by_type;
	bool is_counted =
		n[PERF_RECORD_STAT] || layout_has_feature(&s->reader.header, FEATURE_STAT);
	bool is_traced = n[PERF_RECORD_AUXTRACE] || n[PERF_RECORD_AUXTRACE_INFO];

	if (is_traced)
		log_note(s->log,
			"'%s' holds an instruction trace%s, which pace does not decode: 'perf script --itrace=i10us -i %s' does",
			path, s->tally.n_samples ? " besides its samples" : " and no samples",
			path);
	else if (is_counted && !s->tally.n_samples)
		log_note(s->log,
			"'%s' holds counts and no samples: 'pace stat report -i %s' shows them",
			path, path);
}

void session_note_undecoded(struct session_tally *t, const struct record *rec)
{
	if (!t->n_undecoded++ || rec->offset < t->undecoded_offset) {
		t->undecoded_offset = rec->offset;
		t->undecoded_type = rec->type;
	}
}

void session_note_odd(struct session_tally *t, const struct record *rec, enum oddity oddity)
{
	if (!oddity)
		return;
	if (!t->n_odd++ || rec->offset < t->odd_offset) {
		t->odd_offset = rec->offset;
		t->oddity = oddity;
	}
}

/* Hands on the side-band records by time; those of one time in the order of the file. */
static int hand_on(struct scan *scan,
	u64 (*state)(void *ctx, const struct record *rec, const union record_body *body, u64 time),
	void *ctx, struct err *err)
{
	struct session *s = scan->session;
	u64 limit = reader_allows(&s->reader, s->reader.data_end);

	sort_by_key(scan->order.at, scan->order.n);
	vec_each(item, &scan->order) {
		const struct record *rec = &scan->records.at[item->value].rec;
		union record_body body;
		struct err why;

		if (record_decode(rec, format_of(s, rec)->trailer, &body, &why) <= 0) {
			session_note_undecoded(&s->tally, rec);
			continue;
		}
		session_note_odd(&s->tally, rec, oddity_of_state(rec->type, &body));
		s->n_held = state(ctx, rec, &body, item->key);
		if (UNLIKELY(s->n_held + bytes_kept(scan) > limit))
			return allowance_exceeded(&s->reader.allowance, limit, rec->offset,
				"the threads and maps in it", err);
	}
	return 0;
}

void session_watch(struct session *s, struct session_observer *observer)
{
	observer->next = s->observers;
	s->observers = observer;
}

/* The first pass ends before this record, and so does the recording for the second one. */
static void stop_scan(struct session *s, const struct record *rec)
{
	progress_heed(s->progress);
	progress_rename(s->progress, "reading the start of");
	s->tally.n_stopped_bytes = s->reader.data_end - MIN(rec->offset, s->reader.data_end);
	s->reader.data_end = rec->offset;
	progress_expect(s->progress,
		(SCAN_WORK + SAMPLE_WORK) * (rec->offset - s->reader.data_start));
}

int session_scan(struct session *s,
	u64 (*state)(void *ctx, const struct record *rec, const union record_body *body, u64 time),
	void *ctx, struct err *err)
{
	struct scan scan = {.session = s};
	struct reader_cursor cursor;
	struct record rec;
	u64 interval_end = 0;
	int r;

	if (reader_spool(&s->reader, err))
		return err->code;
	progress_expect(s->progress,
		(SCAN_WORK + SAMPLE_WORK) * (s->reader.data_end - s->reader.data_start));
	reader_cursor_init(&cursor, &s->reader, s->reader.data_start, s->reader.data_end);
	while ((r = reader_next(&cursor, &rec, err)) > 0) {
		if (rec.offset >= interval_end) {
			if (UNLIKELY(progress_is_stopped(s->progress))) {
				stop_scan(s, &rec);
				r = 0;
				break;
			}
			progress_set(s->progress, SCAN_WORK * (rec.offset - s->reader.data_start));
			vec_add(&s->pieces,
				((struct session_piece){rec.offset, s->tally.n_samples,
					s->readings.n}));
			interval_end = rec.offset + PIECE_BYTES;
		}
		session_take(s, &cursor, &rec);
		if (rec.type == PERF_RECORD_SAMPLE && UNLIKELY(s->reader.formats.has_reads))
			keep_reading(&scan, &rec, s->tally.n_samples - 1);
		else if (rec.type != PERF_RECORD_SAMPLE && record_is_state(rec.type))
			keep_side_record(&scan, &rec);
		if (rec.type == PERF_RECORD_FORK && s->reader.formats.has_reads)
			keep_fork(&scan, &rec);
		if (UNLIKELY(rec.type != PERF_RECORD_SAMPLE || s->reader.formats.has_reads) &&
			charge_kept(&scan, &rec, err)) {
			r = err->code;
			break;
		}
		for (const struct session_observer *o = s->observers; UNLIKELY(o != NULL);
			o = o->next)
			o->see(o->ctx, &rec);
	}
	/* Packed records can be read from their start only. */
	if (s->reader.is_packed)
		s->pieces.n = MIN(s->pieces.n, (size_t)1);
	session_note_end(s, &cursor);
	reader_cursor_fini(&cursor);
	if (!r) {
		settle_readings(&scan);
		r = hand_on(&scan, state, ctx, err);
	}
	periods_fini(&scan.periods);
	vec_fini(&scan.counters);
	vec_fini(&scan.moments);
	vec_fini(&scan.records);
	vec_fini(&scan.order);
	arena_fini(&scan.arena);
	return r;
}

/* ---- pass 2 ---- */

/*
 * All that one worker writes to. Each worker has an allocation of its own, and what it writes for every
 * record comes first: two workers must not share a cache line.
 */
struct pass_worker {
	u64 n_read;
	struct reader_cursor cursor;
	u64 nr, reading; /* of the next SAMPLE record, of the next one that has read counters */
	u64 told;        /* the offset up to which the progress knows of this piece */
	struct session_tally tally;
	struct decoder decoder;
	void *sink; /* the caller's */
	u64 n_pieces;
	u64 n_charged;
	struct reader_damage damage;
	struct err err;
};

struct pass {
	struct session *session;
	const struct session_sink *sink;
	struct pass_worker **workers;
	size_t every;       /* every so many-th piece is read */
	_Atomic u64 n_held; /* by all workers, and by what the first pass made */
	u64 n_allowed;
	atomic_bool has_failed, is_stopped;
};

enum { CHARGED_EACH = 1024 }; /* samples */

/* Charges what the worker made from its samples since the last charge; < 0: it is too much. */
static int charge(struct pass *pass, struct pass_worker *mine, u64 offset)
{
	u64 now, all;

	if (!pass->sink->held)
		return 0;
	now = pass->sink->held(mine->sink);
	all = atomic_fetch_add(&pass->n_held, now - mine->n_charged) + now - mine->n_charged;
	mine->n_charged = now;
	if (LIKELY(all <= pass->n_allowed))
		return 0;
	return allowance_exceeded(&pass->session->reader.allowance, pass->n_allowed, offset,
		"its samples and their callers", &mine->err);
}

/* per sample: the values that it stands for; false: it holds none */
static bool take_reading(const struct session *s, struct pass_worker *mine,
	const struct session_value **ret_from, const struct session_value **ret_to)
{
	u64 nr = mine->nr++;
	const struct session_reading *r;

	if (LIKELY(mine->reading >= s->readings.n || s->readings.at[mine->reading].nr != nr))
		return false;
	r = &s->readings.at[mine->reading++];
	*ret_from = s->values.at + r->first;
	*ret_to = s->values.at + (mine->reading < s->readings.n ? r[1].first : s->values.n);
	return true;
}

/* Hands out a sample of its own event for each counter that has counted since the previous sample. */
static void hand_out_values(struct pass *pass, struct pass_worker *mine, struct sample *sample,
	struct session_sample *out, const struct session_value *v, const struct session_value *end)
{
	for (; v < end; v++) {
		if (!v->period)
			continue;
		if (v->event == TABLE_NONE) {
			mine->tally.n_foreign_id++;
			continue;
		}
		out->event = v->event;
		sample->period = v->period;
		pass->sink->sample(mine->sink, out);
		out->is_next = true;
	}
}

static u64 count_periods(const struct session_value *v, const struct session_value *end)
{
	u64 n = 0;

	for (; v < end; v++)
		n += v->period != 0;
	return n;
}

static void read_sample(struct pass *pass, struct pass_worker *mine, const struct record *rec)
{
	struct session *s = pass->session;
	struct session_tally *tally = &mine->tally;
	struct session_sample out = {.rec = rec};
	const struct session_value *from, *to;
	bool has_values = take_reading(s, mine, &from, &to);
	struct sample *sample;

	out.event = out.taken_by = formats_event(&s->reader.formats, rec);
	sample = decoder_next(&mine->decoder, rec, out.event);
	if (UNLIKELY(!sample)) {
		/* All values that it stands for are lost with it. */
		if (has_values)
			tally->n_unread_samples += count_periods(from, to) - 1;
		return;
	}
	out.sample = sample;
	out.time = s->has_times ? sample->time : rec->offset;
	if (sample->time) {
		tally->first_time =
			tally->first_time ? MIN(tally->first_time, sample->time) : sample->time;
		tally->last_time = MAX(tally->last_time, sample->time);
	}
	if (UNLIKELY(has_values))
		hand_out_values(pass, mine, sample, &out, from, to);
	else
		pass->sink->sample(mine->sink, &out);
}

/* Every CHARGED_EACH samples: tells how far the piece is read; true: the user wants no more. */
static bool is_enough(struct pass *pass, struct pass_worker *mine, u64 offset)
{
	struct progress *p = pass->session->progress;

	if (LIKELY(!p))
		return false;
	progress_add(p, SAMPLE_WORK * (offset - MIN(mine->told, offset)));
	mine->told = offset;
	if (progress_is_stopped(p))
		atomic_store(&pass->is_stopped, true);
	return atomic_load(&pass->is_stopped);
}

/* Counts the samples from the worker's place up to the piece's end, which nobody reads any more. */
static void pass_over(const struct session *s, struct pass_worker *mine, size_t piece)
{
	const bool is_last = piece + 1 == s->pieces.n;
	u64 to = is_last ? s->tally.n_by_type[PERF_RECORD_SAMPLE] : s->pieces.at[piece + 1].nr;
	const struct session_value *first, *end;

	for (; mine->nr < to;)
		mine->tally.n_stopped_samples +=
			take_reading(s, mine, &first, &end) ? count_periods(first, end) : 1;
}

static void read_piece(void *ctx, size_t number, unsigned worker)
{
	struct pass *pass = ctx;
	struct session *s = pass->session;
	u64 left = s->reader.is_packed && s->read_most ? s->read_most : UINT64_MAX;
	size_t i = number * pass->every;
	struct pass_worker *mine = pass->workers[worker];
	struct reader_cursor *cursor = &mine->cursor;
	struct record rec = {0};
	struct err err;
	u64 n = 0, end = i + 1 < s->pieces.n ? s->pieces.at[i + 1].offset : s->reader.data_end;
	int r;

	if (atomic_load(&pass->has_failed))
		return;
	mine->n_pieces++;
	mine->nr = s->pieces.at[i].nr;
	mine->reading = s->pieces.at[i].reading;
	mine->told = s->pieces.at[i].offset;
	if (UNLIKELY(atomic_load(&pass->is_stopped))) {
		pass_over(s, mine, i);
		return;
	}
	reader_cursor_aim(cursor, s->pieces.at[i].offset, end);
	while ((r = reader_next(cursor, &rec, &err)) > 0) {
		if (rec.type == PERF_RECORD_SAMPLE) {
			read_sample(pass, mine, &rec);
			if (UNLIKELY(++n % CHARGED_EACH == 0) &&
				(charge(pass, mine, rec.offset) ||
					is_enough(pass, mine, rec.offset)))
				break;
		}
		if (UNLIKELY(left <= rec.size))
			break;
		left -= rec.size;
	}
	mine->n_read += n;
	if (UNLIKELY(is_enough(pass, mine, MIN(end, s->reader.data_end))) && r > 0)
		pass_over(s, mine, i);
	if (cursor->damage.reason && !mine->damage.reason)
		mine->damage = cursor->damage;
	if (r < 0)
		mine->err = err;
	if (mine->err.code || charge(pass, mine, rec.offset))
		atomic_store(&pass->has_failed, true);
}

static void add_tally(struct session_tally *sum, const struct session_tally *t)
{
	if (t->n_undecoded && (!sum->n_undecoded || t->undecoded_offset < sum->undecoded_offset)) {
		sum->undecoded_offset = t->undecoded_offset;
		sum->undecoded_type = t->undecoded_type;
	}
	sum->n_undecoded += t->n_undecoded;
	sum->n_unread_samples += t->n_unread_samples;
	sum->n_stopped_samples += t->n_stopped_samples;
	sum->n_foreign_id += t->n_foreign_id;
	if (t->n_odd && (!sum->n_odd || t->odd_offset < sum->odd_offset)) {
		sum->odd_offset = t->odd_offset;
		sum->oddity = t->oddity;
	}
	sum->n_odd += t->n_odd;
	if (t->first_time && (!sum->first_time || t->first_time < sum->first_time))
		sum->first_time = t->first_time;
	sum->last_time = MAX(sum->last_time, t->last_time);
}

/* Every how many-th piece is read. */
static size_t every_of(const struct session *s)
{
	u64 all = s->reader.data_end - s->reader.data_start;

	if (!s->read_most || s->reader.is_packed || s->pieces.n < 2)
		return 1;
	return (size_t)MIN((all + s->read_most - 1) / s->read_most, (u64)s->pieces.n);
}

int session_samples(struct session *s, unsigned n_workers, const struct session_sink *sink,
	struct err *err)
{
	struct pass pass = {.session = s,
		.sink = sink,
		.every = MAX(every_of(s), (size_t)1),
		.n_held = s->n_held,
		.n_allowed = reader_allows(&s->reader, s->reader.data_end)};
	int r = 0;

	s->n_readers = 0;
	pass.workers = mem_zalloc(n_workers * sizeof(*pass.workers));
	for (unsigned i = 0; i < n_workers; i++) {
		pass.workers[i] = mem_zalloc(sizeof(*pass.workers[i]));
		pass.workers[i]->sink = sink->workers[i];
		decoder_init(&pass.workers[i]->decoder, s, sink->wanted | PERF_SAMPLE_TIME,
			&pass.workers[i]->tally);
		reader_cursor_init(&pass.workers[i]->cursor, &s->reader, 0, 0);
	}
	workers_run(n_workers, (s->pieces.n + pass.every - 1) / pass.every, read_piece, &pass);
	for (unsigned i = 0; i < n_workers; i++) {
		struct pass_worker *w = pass.workers[i];

		reader_cursor_fini(&w->cursor);
		add_tally(&s->tally, &w->tally);
		s->n_read += w->n_read;
		s->n_readers += w->n_pieces != 0;
		/* New damage: the file changed since the first pass. A stopped one may have ended inside a record. */
		if (!s->tally.damage.reason && !s->tally.n_stopped_bytes)
			s->tally.damage = w->damage;
		if (w->err.code && !r) {
			*err = w->err;
			r = err->code;
		}
		mem_free(w);
	}
	if (pass.is_stopped)
		progress_heed(s->progress);
	mem_free(pass.workers);
	return r;
}
