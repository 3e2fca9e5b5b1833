#include "session/replay.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

enum {
	THREAD_ENTRY = 24,
	CELL_BYTES = 192, /* about what views keep for an event at a place */
};

/* Sums of 64-bit counts stay finite, and no unit is as small as that. */
#define SCALE_MAX 1e30

/* ---- what was counted ---- */

static void take_update(struct replay *r, const struct record_event_update *u)
{
	u32 event = formats_event_of_id(&r->session->reader.formats, u->id);
	struct event *e;

	if (event == TABLE_NONE)
		return;
	e = &r->session->reader.events.at[event];
	if (u->update_type == RECORD_UPDATE_SCALE) {
		bool is_sound = isfinite(u->scale) && fabs(u->scale) < SCALE_MAX;

		if (is_sound)
			e->scale = u->scale;
		r->n_undecoded += !is_sound;
	}
	if (u->update_type == RECORD_UPDATE_UNIT && u->text.n)
		e->unit = arena_strdup(&r->arena, (const char *)u->text.at, u->text.n);
}

static void take_threads(struct replay *r, const struct record_thread_map *m)
{
	for (u64 i = 0; i < m->nr && (i + 1) * THREAD_ENTRY <= m->threads.n; i++) {
		const u8 *entry = m->threads.at + i * THREAD_ENTRY;
		const char *comm = (const char *)entry + 8;

		vec_add(&r->tids, (s32)load_u64(entry));
		vec_add(&r->comms, arena_strdup(&r->arena, comm, strnlen(comm, 16)));
	}
}

static void take_config(struct replay *r, const struct record_stat_config *c)
{
	for (u64 i = 0; i < c->nr && (i + 1) * 16 <= c->config.n; i++) {
		u64 tag = load_u64(c->config.at + 16 * i), v = load_u64(c->config.at + 16 * i + 8);

		if (tag == STATFILE_AGGR_MODE)
			r->config.mode = v;
		else if (tag == STATFILE_INTERVAL)
			r->config.interval_ms = v;
		else if (tag == STATFILE_SCALE)
			r->config.is_scaled = v;
	}
}

/* ---- counters ---- */

/* The counter of a reading, or TABLE_NONE. */
static u32 find_counter(const struct replay *r, const struct record_stat *s)
{
	struct table_probe probe =
		table_probe(&r->index, hash_mix(s->id, (u64)(u32)s->cpu << 32 | (u32)s->thread));
	u32 i;

	while ((i = table_next(&r->index, &probe)) != TABLE_NONE) {
		const struct counter *c = &r->counting.counters.at[i];

		if (c->id == s->id && c->cpu == s->cpu && r->threads.at[i] == (u32)s->thread)
			return i;
	}
	return TABLE_NONE;
}

/* Whether an earlier counter was on the CPU and thread of counter `i`; if not, notes that place. */
static bool is_known_place(struct replay *r, u32 i)
{
	const struct counter *mine = &r->counting.counters.at[i];
	u64 hash = hash_mix((u32)mine->cpu, r->threads.at[i]);
	struct table_probe probe = table_probe(&r->places, hash);
	u32 k;

	while ((k = table_next(&r->places, &probe)) != TABLE_NONE)
		if (r->counting.counters.at[k].cpu == mine->cpu &&
			r->threads.at[k] == r->threads.at[i])
			return true;
	table_add(&r->places, hash, i);
	return false;
}

/* Views have a cell for each event at each place: few readings in a file can make very many cells. */
static int check_cells(const struct replay *r, u64 offset, struct err *err)
{
	const struct reader *reader = &r->session->reader;
	u64 limit = reader_allows(reader, offset);

	if ((u64)r->places.n * reader->events.n <= limit / CELL_BYTES)
		return 0;
	return allowance_exceeded(&reader->allowance, limit, offset,
		"counts of its events on its CPUs and threads", err);
}

static int add_counter(struct replay *r, const struct record_stat *s, u64 offset, struct err *err)
{
	struct counters *counters = &r->counting.counters;
	const struct formats *formats = &r->session->reader.formats;
	u32 event = formats_event_of_id(formats, s->id);

	if (event == TABLE_NONE || (!s->id && formats->has_ids)) {
		r->session->tally.n_foreign_id++;
		return 0;
	}
	if (find_counter(r, s) != TABLE_NONE)
		return 0;
	table_add(&r->index, hash_mix(s->id, (u64)(u32)s->cpu << 32 | (u32)s->thread), counters->n);
	vec_add(counters,
		((struct counter){.fd = -1,
			.event = event,
			.cpu = s->cpu,
			.tid = (u32)s->thread < r->tids.n ? r->tids.at[s->thread] : -1,
			.id = s->id}));
	vec_add(&r->threads, (u32)s->thread);
	return is_known_place(r, (u32)counters->n - 1) ? 0 : check_cells(r, offset, err);
}

static int take_record(struct replay *r, const struct record *rec, const union record_body *body,
	struct err *err)
{
	switch (rec->type) {
	case PERF_RECORD_EVENT_UPDATE:
		take_update(r, &body->event_update);
		return 0;
	case PERF_RECORD_THREAD_MAP:
		take_threads(r, &body->thread_map);
		return 0;
	case PERF_RECORD_STAT_CONFIG:
		take_config(r, &body->stat_config);
		return 0;
	case PERF_RECORD_STAT:
		return add_counter(r, &body->stat, rec->offset, err);
	case PERF_RECORD_STAT_ROUND:
		r->n_unknown += body->stat_round.round_type > STATFILE_ROUND_FINAL;
		return 0;
	}
	return 0;
}

/* ---- walking ---- */

static void aim(struct replay *r)
{
	struct reader *reader = &r->session->reader;

	if (r->is_open)
		reader_cursor_fini(&r->cursor);
	reader_cursor_init(&r->cursor, reader, reader->data_start, reader->data_end);
	r->is_open = true;
}

/* The next record that has a body here; 0 at the end. */
static int next_body(struct replay *r, struct record *rec, union record_body *body, struct err *err)
{
	int result;

	while ((result = reader_next(&r->cursor, rec, err)) > 0) {
		struct err why;

		if (rec->type < PERF_RECORD_USER_TYPE_START)
			continue;
		result = record_decode(rec, 0, body, &why);
		if (result > 0)
			return 1;
		r->n_undecoded += result < 0;
		r->n_unknown += !r->is_found && !result && !record_type_name(rec->type);
	}
	return result;
}

static int find_counters(struct replay *r, struct err *err)
{
	union record_body body;
	struct record rec;
	int result;

	aim(r);
	while ((result = next_body(r, &rec, &body, err)) > 0) {
		reader_take(&r->cursor, &rec, r->session->log);
		if (rec.type != PERF_RECORD_HEADER_ATTR)
			reader_settle(&r->session->reader);
		if (take_record(r, &rec, &body, err))
			return err->code;
	}
	r->is_found = true;
	session_note_end(r->session, &r->cursor);
	r->session->tally.n_undecoded += r->n_undecoded;
	/* A pipe may have described more events meanwhile. */
	return result < 0 ? result : check_cells(r, r->session->reader.data_end, err);
}

static void explain_absent(struct counting *c)
{
	bool *is_there = mem_zalloc(c->events->n);

	vec_each(counter, &c->counters)
		is_there[counter->event] = true;
	for (size_t i = 0; i < c->events->n; i++)
		if (!is_there[i])
			err_set(&c->why[i], ERR_UNSUPPORTED,
				"the event could not be opened when this was recorded");
	mem_free(is_there);
}

int replay_open(struct replay *r, struct session *session, struct err *err)
{
	struct counting *c = &r->counting;
	size_t n_events;

	memset(r, 0, sizeof(*r));
	r->session = session;
	r->config = (struct statfile_config){STATFILE_MODE_GLOBAL, 0, true};
	c->events = &session->reader.events;
	if (reader_spool(&session->reader, err) || find_counters(r, err)) {
		replay_close(r);
		return err->code;
	}
	if (!c->counters.n) {
		replay_close(r);
		return err_set(err, ERR_FORMAT,
			"'%s' holds no counts: 'stat report' shows what 'stat record' wrote",
			session->reader.path);
	}
	n_events = c->events->n;
	c->readings = mem_zalloc(c->counters.n * sizeof(*c->readings));
	c->why = mem_zalloc(n_events * sizeof(*c->why));
	explain_absent(c);
	aim(r);
	return 0;
}

void replay_close(struct replay *r)
{
	if (r->is_open)
		reader_cursor_fini(&r->cursor);
	vec_fini(&r->counting.counters);
	mem_free(r->counting.readings);
	mem_free(r->counting.why);
	table_fini(&r->index);
	table_fini(&r->places);
	vec_fini(&r->threads);
	vec_fini(&r->tids);
	vec_fini(&r->comms);
	arena_fini(&r->arena);
	memset(r, 0, sizeof(*r));
}

int replay_next(struct replay *r, struct replay_moment *ret_moment, struct err *err)
{
	bool has_readings = false;
	union record_body body;
	struct record rec;
	int result;

	while ((result = next_body(r, &rec, &body, err)) > 0) {
		if (rec.type == PERF_RECORD_STAT) {
			u32 i = find_counter(r, &body.stat);

			has_readings = true;
			if (i != TABLE_NONE)
				r->counting.readings[i] = (struct reading){body.stat.val,
					body.stat.ena, body.stat.run, false};
		} else if (rec.type == PERF_RECORD_STAT_ROUND) {
			ret_moment->is_final = body.stat_round.round_type == STATFILE_ROUND_FINAL;
			ret_moment->time_ns = body.stat_round.time;
			return 1;
		}
	}
	if (result < 0 || !has_readings)
		return result;
	/* With intervals, perf does not mark the end: the last readings are the final ones. */
	ret_moment->is_final = true;
	return 1;
}
