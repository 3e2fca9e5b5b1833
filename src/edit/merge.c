#include "edit/merge.h"

#include <stdlib.h>

#include "event/abi.h"
#include "file/copier.h"
#include "file/nametag.h"
#include "machine/machine.h"
#include "session/stream.h"
#include "symbol/embed/embedunion.h"

/* One of the recordings to merge. */
struct source {
	const char *path;
	struct session session;
	struct machine machine;
	struct stream stream;
	struct stream_event head;
	bool is_open, has_stream, has_head;
	u64 begins;  /* the time of its first record that has one */
	u32 *events; /* for each of its events the index in the merged ones */
};

struct merging {
	struct source *sources;
	size_t n;
	struct event_list events;
	struct copier copier;
	struct str tagged;
	bool has_tags; /* some events' samples lack an id: it is added to all */
	struct merge_tally tally;
};

/* ---- whether they belong together ---- */

static int refuse(const struct merging *m, const struct source *s, struct err *err,
	const char *reason)
{
	return err_set(err, ERR_INVAL, "'%s' and '%s' cannot be merged: %s", m->sources[0].path,
		s->path, reason);
}

static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b);
}

static int check_host(const struct merging *m, const struct source *s, struct err *err)
{
	const struct host *a = &m->sources[0].session.reader.info.host,
			  *b = &s->session.reader.info.host;
	u64 text_a = m->sources[0].machine.kernel_text, text_b = s->machine.kernel_text;

	if (differ(a->hostname, b->hostname) || differ(a->arch, b->arch))
		return refuse(m, s, err,
			"they were recorded on different machines, whose processes and addresses are unrelated");
	if (differ(a->release, b->release) || (text_a && text_b && text_a != text_b))
		return refuse(m, s, err,
			"the machine was rebooted between them, so times and kernel addresses start over");
	return 0;
}

static int check_clock(const struct merging *m, const struct source *s, struct err *err)
{
	if (!s->session.has_times || !m->sources[0].session.has_times)
		return refuse(m, s, err, "one of them has no times");
	vec_each(a, &m->sources[0].session.reader.events)
		vec_each(b, &s->session.reader.events)
			if ((a->attr.flags & ATTR_USE_CLOCKID) !=
					(b->attr.flags & ATTR_USE_CLOCKID) ||
				(a->attr.flags & ATTR_USE_CLOCKID &&
					a->attr.clockid != b->attr.clockid))
				return refuse(m, s, err, "their clocks differ (record -k)");
	return 0;
}

static const struct file_build_id *find_build_id(const struct file_info *info, const char *path)
{
	vec_each(id, &info->build_ids)
		if (!strcmp(id->path, path))
			return id;
	return NULL;
}

/* A rebuilt file has other functions at the same addresses. */
static int check_build_ids(const struct merging *m, const struct source *s, struct err *err)
{
	for (const struct source *older = m->sources; older < s; older++)
		vec_each(id, &s->session.reader.info.build_ids) {
			const struct file_build_id *known =
				find_build_id(&older->session.reader.info, id->path);

			if (known && known->id_size == id->id_size &&
				memcmp(known->id, id->id, id->id_size))
				return err_set(err, ERR_INVAL,
					"'%s' and '%s' cannot be merged: '%.200s' was rebuilt between them",
					older->path, s->path, id->path);
		}
	return 0;
}

/* All recordings that have tracepoint formats must have the same ones. */
static int check_tracing(const struct merging *m, const struct source *s, struct err *err)
{
	const struct str *b = &s->session.reader.info.tracing_data;

	for (const struct source *older = m->sources; older < s && b->n; older++) {
		const struct str *a = &older->session.reader.info.tracing_data;

		if (a->n && (a->n != b->n || memcmp(a->at, b->at, a->n)))
			return err_set(err, ERR_INVAL,
				"'%s' and '%s' cannot be merged: they have different sets of tracepoints; record the same tracepoints in both",
				older->path, s->path);
	}
	return 0;
}

/* ---- events ---- */

/*
 * Whether two events give the same samples. How a counter is started and which side-band it reports
 * make no difference.
 */
static bool is_same_event(const struct event *a, const struct event *b)
{
	const u64 aside = ATTR_DISABLED | ATTR_INHERIT | ATTR_MMAP | ATTR_COMM |
		ATTR_ENABLE_ON_EXEC | ATTR_TASK | ATTR_WATERMARK | ATTR_MMAP_DATA | ATTR_MMAP2 |
		ATTR_COMM_EXEC | ATTR_CONTEXT_SWITCH | ATTR_NAMESPACES | ATTR_KSYMBOL |
		ATTR_BPF_EVENT | ATTR_CGROUP | ATTR_TEXT_POKE | ATTR_BUILD_ID;
	struct event_attr x = a->attr, y = b->attr;

	x.flags &= ~aside;
	y.flags &= ~aside;
	x.size = y.size;
	x.wakeup_events = y.wakeup_events;
	return !memcmp(&x, &y, sizeof(x)) && !strcmp(a->name, b->name);
}

static struct event *find_event(struct event_list *events, const struct event *e)
{
	vec_each(known, events)
		if (is_same_event(known, e))
			return known;
	return NULL;
}

static bool has_id(const struct event *e, u64 id)
{
	for (u32 i = 0; i < e->n_ids; i++)
		if (e->ids[i] == id)
			return true;
	return false;
}

static void add_ids(struct event_list *events, struct event *to, const struct event *from)
{
	u64 *ids = arena_alloc(&events->arena, (size_t)(to->n_ids + from->n_ids) * 8);

	if (to->n_ids)
		memcpy(ids, to->ids, (size_t)to->n_ids * 8);
	to->ids = ids;
	for (u32 i = 0; i < from->n_ids; i++)
		if (!has_id(to, from->ids[i]))
			ids[to->n_ids++] = from->ids[i];
}

static int add_events(struct merging *m, struct source *s, struct err *err)
{
	const struct event_list *events = &s->session.reader.events;

	s->events = mem_alloc(MAX(events->n, (size_t)1) * sizeof(*s->events));
	vec_each(e, events) {
		struct event *known = find_event(&m->events, e);

		vec_each(other, &m->events)
			for (u32 i = 0; i < e->n_ids && other != known; i++)
				if (has_id(other, e->ids[i]))
					return refuse(m, s, err,
						"the same event id means different events in them, so the machine was rebooted between them");
		if (!known) {
			known = event_add(&m->events, &e->attr, e->name);
			known->ids = NULL;
			known->n_ids = 0;
		}
		add_ids(&m->events, known, e);
		s->events[e - events->at] = (u32)(known - m->events.at);
	}
	return 0;
}

/* With several events each sample must say which one it belongs to, all in the same way. */
static int prepare_tags(struct merging *m, struct err *err)
{
	const struct event *first = m->events.at;
	bool is_same = true, has_ids = true;

	if (m->events.n < 2)
		return 0;
	vec_each(e, &m->events) {
		if ((e->attr.flags ^ first->attr.flags) & ATTR_SAMPLE_ID_ALL)
			return err_set(err, ERR_INVAL,
				"they cannot be merged: only one of the events '%s' and '%s' was recorded with times in side-band records (sample_id_all)",
				first->name, e->name);
		is_same &= e->attr.sample_type == first->attr.sample_type;
		has_ids &= (e->attr.sample_type & PERF_SAMPLE_IDENTIFIER) != 0;
	}
	m->has_tags = !has_ids && !(is_same && first->attr.sample_type & PERF_SAMPLE_ID);
	for (size_t i = 0; i < m->events.n && m->has_tags; i++) {
		struct event *e = &m->events.at[i];

		e->attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
		if (!e->n_ids) {
			/* The kernel counts ids up from 1, and never gets this far. */
			e->ids = arena_alloc(&m->events.arena, sizeof(*e->ids));
			e->ids[0] = (1ULL << 63) + i;
			e->n_ids = 1;
		}
	}
	return 0;
}

/* ---- records ---- */

static int open_source(struct merging *m, struct source *s, struct log *log, struct err *err)
{
	if (session_open(&s->session, s->path, log, err))
		return err->code;
	s->is_open = true;
	if (machine_scan(&s->machine, &s->session, err))
		return err->code;
	if (s->session.tally.damage.reason)
		return err_set(err, ERR_FORMAT, "'%s' is damaged: %s", s->path,
			s->session.tally.damage.reason);
	if (s == m->sources)
		return 0;
	return check_host(m, s, err) || check_clock(m, s, err) || check_build_ids(m, s, err) ||
			check_tracing(m, s, err)
		? err->code
		: 0;
}

/* Finds the earliest time in a recording. */
static int find_beginning(struct source *s, struct err *err)
{
	struct reader *r = &s->session.reader;
	struct reader_cursor cursor;
	struct stream_event e = {0};
	int result;

	s->begins = UINT64_MAX;
	reader_cursor_init(&cursor, r, r->data_start, r->data_end);
	while ((result = reader_next(&cursor, &e.rec, err)) > 0) {
		stream_place(&s->session, &e);
		if (e.time)
			s->begins = MIN(s->begins, e.time);
	}
	reader_cursor_fini(&cursor);
	if (s->begins == UINT64_MAX)
		s->begins = 0;
	return result;
}

/* Writes a record, tagged with its event's id if needed. */
static int add_record(struct merging *m, const struct source *s, const struct stream_event *e,
	struct err *err)
{
	bool is_sample = e->rec.type == PERF_RECORD_SAMPLE;
	u32 event = e->event == TABLE_NONE ? 0 : e->event;
	struct record rec = e->rec;

	if (m->has_tags &&
		nametag_put(formats_format(&s->session.reader.formats, event), &e->rec,
			m->events.at[s->events[event]].ids[0], &m->tagged, &rec, err))
		return err_prefix(err, "'%s'", s->path);
	return is_sample ? copier_add_sample(&m->copier, &rec, e->time, err)
			 : copier_add(&m->copier, &rec, err);
}

/* Writes a record of the initial state, which holds from the recording's first sample on. */
static int add_state_of_old(struct merging *m, struct source *s, const struct stream_event *e,
	struct err *err)
{
	const struct sample_format *format = formats_format(&s->session.reader.formats, e->event);
	struct stream_event copy = *e;
	struct str room = {0};
	struct sample who;
	int r;

	if (s == m->sources || e->rec.type >= PERF_RECORD_USER_TYPE_START || !format->trailer ||
		!sample_decode_trailer(format, &e->rec, &who))
		return add_record(m, s, e, err);
	who.time = s->begins;
	str_addn(&room, e->rec.at, e->rec.size - format->trailer);
	sample_encode_trailer(format, &who, &room);
	copy.rec.at = (const u8 *)room.at;
	r = add_record(m, s, &copy, err);
	str_fini(&room);
	return r;
}

static int advance(struct merging *m, struct source *s, struct err *err)
{
	int r;

	while ((r = stream_next(&s->stream, &s->head, err)) > 0) {
		/* Rounds are promises about one file; the attrs already say the ids. */
		if (s->head.rec.type == PERF_RECORD_FINISHED_ROUND ||
			s->head.rec.type == PERF_RECORD_ID_INDEX ||
			s->head.rec.type == PERF_RECORD_THREAD_MAP ||
			s->head.rec.type == PERF_RECORD_CPU_MAP)
			continue;
		if (s->head.time)
			break;
		if (add_state_of_old(m, s, &s->head, err))
			return err->code;
	}
	s->has_head = r > 0;
	return MIN(r, 0);
}

static int copy_records(struct merging *m, struct err *err)
{
	for (size_t i = 0; i < m->n; i++) {
		struct source *s = &m->sources[i];

		if (find_beginning(s, err))
			return err->code;
		stream_init(&s->stream, &s->session);
		s->has_stream = true;
		/* Its initial state is written when its first sample's turn comes. */
		s->head = (struct stream_event){.time = s->begins};
		s->has_head = true;
	}
	for (;;) {
		struct source *first = NULL;
		int r;

		for (size_t i = 0; i < m->n; i++)
			if (m->sources[i].has_head &&
				(!first || m->sources[i].head.time < first->head.time))
				first = &m->sources[i];
		if (!first)
			return 0;
		r = first->head.rec.size ? add_record(m, first, &first->head, err) : 0;
		if (r || advance(m, first, err))
			return err->code;
	}
}

/* ---- sections ---- */

static void merge_build_ids(struct merging *m)
{
	struct file_info all;

	file_info_init(&all);
	for (size_t i = 0; i < m->n; i++)
		vec_each(id, &m->sources[i].session.reader.info.build_ids)
			if (!find_build_id(&all, id->path))
				vec_add(&all.build_ids, *id);
	feature_write(FEATURE_BUILD_ID, &all, copier_replace(&m->copier, FEATURE_BUILD_ID));
	file_info_fini(&all);
}

static void merge_tracing(struct merging *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct str *data = &m->sources[i].session.reader.info.tracing_data;

		if (!data->n)
			continue;
		str_addn(copier_replace(&m->copier, FEATURE_TRACING_DATA), data->at, data->n);
		return;
	}
}

static void merge_events(struct merging *m)
{
	struct file_info all = {.events = m->events};

	feature_write(FEATURE_EVENT_DESC, &all, copier_replace(&m->copier, FEATURE_EVENT_DESC));
	/* Groups are ranges of event numbers, which may have changed. */
	if (m->events.n != m->sources[0].session.reader.events.n)
		copier_replace(&m->copier, FEATURE_GROUP_DESC);
}

static int merge_embedded(struct merging *m, struct err *err)
{
	struct embedded all[MERGE_MAX] = {{0}};
	struct embedder out;
	int r = 0;

	embedder_init(&out);
	for (size_t i = 0; i < m->n && r >= 0; i++)
		r = embedded_open(&all[i], &m->sources[i].session.reader, err);
	if (r >= 0)
		embedunion_add(&out, all, m->n);
	if (r >= 0 && !embedder_is_empty(&out))
		r = embedder_finish(&out, copier_replace(&m->copier, FEATURE_EMBEDDED), err);
	embedder_fini(&out);
	for (size_t i = 0; i < m->n; i++)
		embedded_close(&all[i]);
	return MIN(r, 0);
}

/* ---- all of it ---- */

static int write_all(struct merging *m, struct fresh *to, struct log *log, struct err *err)
{
	for (size_t i = 0; i < m->n; i++)
		if (open_source(m, &m->sources[i], log, err) || add_events(m, &m->sources[i], err))
			return err->code;
	if (prepare_tags(m, err) || copier_open(&m->copier, to, &m->events, err))
		return err->code;
	if (copy_records(m, err) || merge_embedded(m, err)) {
		copier_abandon(&m->copier);
		return err->code;
	}
	merge_build_ids(m);
	merge_tracing(m);
	merge_events(m);
	m->tally = (struct merge_tally){m->copier.n_samples, m->events.n};
	return copier_finish(&m->copier, &m->sources[0].session.reader, err);
}

int merge_write(const char *const *paths, size_t n, struct fresh *to, struct log *log,
	struct merge_tally *ret_tally, struct err *err)
{
	struct merging m = {.n = n};
	int r;

	if (n < 2 || n > MERGE_MAX)
		return err_set(err, ERR_INVAL, "2 to %d recordings can be merged, not %zu",
			MERGE_MAX, n);
	m.sources = mem_zalloc(n * sizeof(*m.sources));
	for (size_t i = 0; i < n; i++)
		m.sources[i].path = paths[i];
	r = write_all(&m, to, log, err);
	*ret_tally = m.tally;
	for (size_t i = 0; i < n; i++) {
		struct source *s = &m.sources[i];

		if (s->has_stream)
			stream_fini(&s->stream);
		if (s->is_open) {
			machine_fini(&s->machine);
			session_close(&s->session);
		}
		mem_free(s->events);
	}
	str_fini(&m.tagged);
	mem_free(m.sources);
	event_list_fini(&m.events);
	return r;
}
