#include "profile/check/inspection.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "event/abi.h"
#include "record/oddity.h"

enum {
	CLOCKS = 4096, /* threads on CPUs whose last time is kept; newer ones replace older */
	AUX_TRUNCATED = 1,
};

/* The last time a thread was seen on a CPU: within a ring, such records are always in order. */
struct thread_clock {
	u32 tid, cpu;
	u64 time;
};

struct walk {
	struct inspection *inspection;
	struct reader *reader;
	struct log *log;
	struct table type_index;
	struct sample sample;
	u64 latest;     /* the largest time so far */
	u64 next_flush; /* `latest` when the last round ended */
	u64 flushed;    /* `latest` when the round before ended: no older record may follow */
	u64 worst_time; /* of the record that is most out of order */
	struct thread_clock clocks[CLOCKS];
};

static void find(struct inspection *s, struct inspection_finding *f, const struct record *rec,
	const char *what)
{
	if (!f->n++) {
		f->offset = rec->offset;
		f->what = what ? arena_strdup(&s->arena, what, strlen(what)) : NULL;
	}
}

/* The same for a record whose time is too early by `behind`. True if it is the worst so far. */
static bool find_behind(struct inspection *s, struct inspection_finding *f,
	const struct record *rec, u64 behind)
{
	find(s, f, rec, NULL);
	if (behind <= f->worst_ns)
		return false;
	f->worst_ns = behind;
	f->worst_offset = rec->offset;
	return true;
}

static void count_type(struct walk *w, const struct record *rec, u64 payload)
{
	struct inspection *s = w->inspection;
	struct table_probe probe = table_probe(&w->type_index, hash_u64(rec->type));
	struct inspection_type *t = NULL;
	u32 i;

	while (!t && (i = table_next(&w->type_index, &probe)) != TABLE_NONE)
		if (s->types.at[i].type == rec->type)
			t = &s->types.at[i];
	if (!t) {
		table_add(&w->type_index, hash_u64(rec->type), s->types.n);
		t = vec_push(&s->types);
		*t = (struct inspection_type){.type = rec->type};
	}
	t->n++;
	t->bytes += rec->size + payload;
	s->n_payload_bytes += payload;
	s->n_records++;
	if (!record_type_name(rec->type))
		find(s, &s->unknown, rec, NULL);
	if (!record_is_size_sound(rec->type, rec->size))
		find(s, &s->unaligned, rec, NULL);
}

/* ---- times ---- */

static void check_clock(struct walk *w, const struct record *rec, const struct sample *sample)
{
	/* A lasting hash: which entry is replaced affects the findings, so it must be the same in every run. */
	u64 hash = hash_lasting(sample->tid, sample->cpu);
	struct thread_clock *c = &w->clocks[hash % CLOCKS];

	if (c->tid == sample->tid && c->cpu == sample->cpu && sample->time < c->time) {
		find_behind(w->inspection, &w->inspection->backwards, rec, c->time - sample->time);
		return;
	}
	*c = (struct thread_clock){sample->tid, sample->cpu, sample->time};
}

static void check_time(struct walk *w, const struct record *rec, const struct sample *sample,
	u64 fields)
{
	struct inspection *s = w->inspection;
	u64 time = fields & PERF_SAMPLE_TIME ? sample->time : 0;

	/* Records that the recorder itself made have no time. */
	if (!time)
		return;
	s->first_time = s->first_time ? MIN(s->first_time, time) : time;
	s->last_time = MAX(s->last_time, time);
	if (time < w->latest && find_behind(s, &s->unordered, rec, w->latest - time))
		w->worst_time = time;
	if (time < w->flushed)
		find_behind(s, &s->late, rec, w->flushed - time);
	w->latest = MAX(w->latest, time);
	if ((fields & PERF_SAMPLE_TID) && (fields & PERF_SAMPLE_CPU))
		check_clock(w, rec, sample);
}

static void end_round(struct walk *w)
{
	w->flushed = w->next_flush;
	w->next_flush = w->latest;
}

/*
 * Finds the first record that is later than the worst unordered one: that is where the latter belongs.
 */
static int measure_displacement(struct walk *w, struct err *err)
{
	const struct formats *f = &w->reader->formats;
	struct inspection *s = w->inspection;
	struct reader_cursor cursor;
	struct record rec;
	int r;

	reader_cursor_init(&cursor, w->reader, w->reader->data_start, w->reader->data_end);
	while ((r = reader_next(&cursor, &rec, err)) > 0 &&
		rec.offset < s->unordered.worst_offset) {
		if (formats_time(f, &rec, formats_event(f, &rec)) <= w->worst_time)
			continue;
		s->unordered_bytes = s->unordered.worst_offset - rec.offset;
		break;
	}
	reader_cursor_fini(&cursor);
	return MIN(r, 0);
}

/* ---- records ---- */

static void take_loss(struct inspection *s, const struct record *rec, const union record_body *body,
	u32 event)
{
	switch (rec->type) {
	case PERF_RECORD_LOST:
		s->n_lost_records += body->lost.lost;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		if (rec->misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF) {
			s->n_filtered += body->lost.lost;
			break;
		}
		s->n_lost_samples += body->lost.lost;
		if (event < s->events.n)
			s->events.at[event].n_dropped += body->lost.lost;
		break;
	case PERF_RECORD_AUX:
		s->n_aux_truncated += body->aux.flags & AUX_TRUNCATED;
		break;
	case PERF_RECORD_THROTTLE:
		s->n_throttled++;
		break;
	}
}

static void check_sample(struct walk *w, const struct record *rec, u32 event)
{
	u64 fields = w->reader->formats.at[event].type;
	struct oddity_limits limits = reader_limits(w->reader, event);
	enum oddity oddity = oddity_of(&w->sample, rec->misc, fields, &limits);

	if (oddity)
		find(w->inspection, &w->inspection->odd, rec, oddity_text(oddity));
	check_time(w, rec, &w->sample, fields);
}

static void take_sample(struct walk *w, const struct record *rec)
{
	struct inspection *s = w->inspection;
	u32 event = formats_event(&w->reader->formats, rec);
	struct err err;

	s->n_samples++;
	if (event >= s->events.n) {
		find(s, &s->foreign, rec, NULL);
		return;
	}
	s->events.at[event].n_samples++;
	memset(&w->sample, 0, sizeof(w->sample));
	if (sample_decode(&w->reader->formats.at[event], rec->at + RECORD_HEADER_SIZE,
		    rec->size - RECORD_HEADER_SIZE, UINT64_MAX, &w->sample, &err))
		find(s, &s->undecoded, rec, err.msg);
	else
		check_sample(w, rec, event);
}

static void take_other(struct walk *w, const struct record *rec)
{
	struct inspection *s = w->inspection;
	const struct formats *formats = &w->reader->formats;
	u32 event = formats_event(formats, rec);
	const struct sample_format *format = formats_format(formats, event);
	u32 trailer = record_has_trailer(rec->type) ? format->trailer : 0;
	union record_body body;
	struct err err;
	int r = record_decode(rec, trailer, &body, &err);

	if (r < 0) {
		find(s, &s->undecoded, rec, err.msg);
		return;
	}
	if (r) {
		enum oddity oddity = oddity_of_state(rec->type, &body);

		if (oddity)
			find(s, &s->odd, rec, oddity_text(oddity));
		take_loss(s, rec, &body, event);
	}
	if (trailer && sample_decode_trailer(format, rec, &w->sample))
		check_time(w, rec, &w->sample, format->type);
}

/* Adds an entry for each event that the reader has learned since. */
static void follow_events(struct walk *w)
{
	while (w->inspection->events.n < w->reader->events.n)
		vec_add(&w->inspection->events, (struct inspection_event){0});
}

static void take_record(struct walk *w, struct reader_cursor *cursor, const struct record *rec)
{
	/* Records of the kernel have no payload: the cursor still has that of an earlier record. */
	count_type(w, rec, rec->type >= PERF_RECORD_USER_TYPE_START ? cursor->payload : 0);
	if (UNLIKELY(rec->type >= PERF_RECORD_USER_TYPE_START || w->reader->has_new_events)) {
		reader_take(cursor, rec, w->log);
		/* Attrs come in a row; they are applied after the last one. */
		if (rec->type != PERF_RECORD_HEADER_ATTR) {
			reader_settle(w->reader);
			follow_events(w);
		}
	}
	if (rec->type == PERF_RECORD_SAMPLE)
		take_sample(w, rec);
	else if (rec->type == PERF_RECORD_FINISHED_ROUND)
		end_round(w);
	else if (rec->type < PERF_RECORD_USER_TYPE_START)
		take_other(w, rec);
}

SORT_BY(by_type, struct inspection_type, type)

int inspection_take(struct inspection *s, struct reader *r, struct log *log, struct err *err)
{
	struct walk *w = mem_zalloc(sizeof(*w));
	struct reader_cursor cursor;
	struct record rec;
	int result;

	memset(s, 0, sizeof(*s));
	w->inspection = s;
	w->reader = r;
	w->log = log;
	result = reader_spool(r, err);
	if (result) {
		mem_free(w);
		return result;
	}
	follow_events(w);
	reader_cursor_init(&cursor, r, r->data_start, r->data_end);
	while ((result = reader_next(&cursor, &rec, err)) > 0)
		take_record(w, &cursor, &rec);
	s->damage = cursor.damage;
	s->n_not_native = cursor.n_not_native;
	reader_cursor_fini(&cursor);
	reader_settle(r);
	follow_events(w);
	if (s->types.n)
		qsort(s->types.at, s->types.n, sizeof(*s->types.at), by_type);
	if (!result && s->unordered.n)
		result = measure_displacement(w, err);
	table_fini(&w->type_index);
	mem_free(w);
	return result;
}

void inspection_fini(struct inspection *s)
{
	vec_fini(&s->types);
	vec_fini(&s->events);
	arena_fini(&s->arena);
}

u64 inspection_count(const struct inspection *s, u32 type)
{
	vec_each(t, &s->types)
		if (t->type == type)
			return t->n;
	return 0;
}
