#include "base/bytes.h"
#include "event/abi.h"
#include "event/names.h"
#include "file/reader.h"

enum {
	TRACING_LIMIT = 256 << 20,
	EVENTS_LIMIT = 1 << 20,
	/* Records that name events are compared with all of them: many with many must end. */
	NAMING_LIMIT = 1 << 28,
};

/* perf's enum of what an EVENT_UPDATE record says. */
enum { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS };

static struct bytes body_of(const struct record *rec)
{
	struct bytes b = bytes_of(rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE);

	b.offset = rec->offset + RECORD_HEADER_SIZE;
	return b;
}

static void take_attr(struct reader *r, const struct record *rec, struct log *log)
{
	struct bytes b = body_of(rec);
	struct event_attr attr;
	struct event *e;
	struct err err;
	char name[128];
	bool dropped;
	size_t n;

	if (r->events.n >= EVENTS_LIMIT || attr_read(&b, 0, &attr, &dropped, &err)) {
		log_warn(log, "'%s': the event at offset 0x%llx cannot be read", r->path,
			(unsigned long long)rec->offset);
		return;
	}
	if (dropped)
		log_note(log,
			"'%s': event %zu uses attr fields that this version of pace does not know",
			r->path, r->events.n);
	names_default(&attr, name, sizeof(name));
	e = event_add(&r->events, &attr, name);
	n = bytes_left(&b) / 8;
	e->ids = arena_copy(&r->events.arena, b.at, n * 8);
	e->n_ids = n;
	r->has_new_events = true;
}

void reader_name_event_type(struct reader *r, u64 id, const char *name, size_t room)
{
	size_t n = strnlen(name, room);
	const char *copy = NULL;

	if (!n || r->n_named > NAMING_LIMIT)
		return;
	r->n_named += r->events.n;
	vec_each(e, &r->events) {
		if (e->attr.config != id)
			continue;
		copy = copy ? copy : arena_strdup(&r->events.arena, name, n);
		e->name = copy;
	}
}

static void take_event_type(struct reader *r, const struct record *rec)
{
	struct bytes b = body_of(rec);
	u64 id;

	if (bytes_u64(&b, &id))
		reader_name_event_type(r, id, (const char *)b.at, bytes_left(&b));
}

static void take_update(struct reader *r, const struct record *rec)
{
	struct bytes b = body_of(rec);
	const char *copy = NULL;
	u64 what, id;

	if (!bytes_u64(&b, &what) || !bytes_u64(&b, &id) || what != UPDATE_NAME ||
		r->n_named > NAMING_LIMIT)
		return;
	vec_each(e, &r->events) {
		r->n_named += 1 + e->n_ids;
		for (u32 i = 0; i < e->n_ids; i++) {
			if (e->ids[i] != id)
				continue;
			copy = copy ? copy
				    : arena_strdup(&r->events.arena, (const char *)b.at,
					      strnlen((const char *)b.at, bytes_left(&b)));
			e->name = copy;
			break;
		}
	}
}

static void take_feature(struct reader *r, const struct record *rec, struct log *log)
{
	struct bytes b = body_of(rec);
	struct err err;
	u64 id;

	if (!bytes_u64(&b, &id))
		return;
	b.swap = r->is_foreign;
	if (id >= LAYOUT_FEATURE_BITS) {
		log_warn(log, "'%s': the section at offset 0x%llx has the number %llu", r->path,
			(unsigned long long)rec->offset, (unsigned long long)id);
		return;
	}
	/* What is said twice is not read twice: it would add up. */
	if (layout_has_feature(&r->header, (unsigned)id)) {
		log_warn(log, "'%s': the section at offset 0x%llx is the second %s: not used",
			r->path, (unsigned long long)rec->offset,
			feature_name((unsigned)id) ? feature_name((unsigned)id) : "(unknown)");
		return;
	}
	layout_set_feature(&r->header, (unsigned)id);
	r->sections[id] = (struct layout_section){b.offset, bytes_left(&b)};
	if (feature_read((unsigned)id, &b, &r->info, &err) < 0)
		log_warn(log, "'%s': %s", r->path, err.msg);
	if (id == FEATURE_EVENT_DESC)
		reader_name_events(r);
}

/* The section of build-ids is made of these records. */
static void take_build_id(struct reader *r, const struct record *rec, struct log *log)
{
	struct bytes b = bytes_of(rec->at, rec->size);
	struct err err;

	b.offset = rec->offset;
	layout_set_feature(&r->header, FEATURE_BUILD_ID);
	if (feature_read(FEATURE_BUILD_ID, &b, &r->info, &err) < 0)
		log_warn(log, "'%s': %s", r->path, err.msg);
}

static void take_tracing(struct reader_cursor *c, struct log *log)
{
	struct reader *r = c->reader;
	struct err err;

	str_clear(&r->info.tracing_data);
	layout_set_feature(&r->header, FEATURE_TRACING_DATA);
	if (reader_payload(c, TRACING_LIMIT, &r->info.tracing_data, &err))
		log_warn(log, "'%s': the formats of the tracepoints: %s", r->path, err.msg);
}

void reader_take(struct reader_cursor *c, const struct record *rec, struct log *log)
{
	struct reader *r = c->reader;

	if (r->is_pipe_mode && rec->offset < r->taken_to)
		return;
	switch (rec->type) {
	case PERF_RECORD_HEADER_ATTR:
		take_attr(r, rec, log);
		break;
	case PERF_RECORD_HEADER_EVENT_TYPE:
		take_event_type(r, rec);
		break;
	case PERF_RECORD_EVENT_UPDATE:
		take_update(r, rec);
		break;
	case PERF_RECORD_HEADER_FEATURE:
		take_feature(r, rec, log);
		break;
	case PERF_RECORD_HEADER_BUILD_ID:
		take_build_id(r, rec, log);
		break;
	case PERF_RECORD_HEADER_TRACING_DATA:
		take_tracing(c, log);
		break;
	default:
		return;
	}
	r->taken_to = MAX(r->taken_to, c->at);
}

void reader_settle(struct reader *r)
{
	if (!r->has_new_events)
		return;
	r->has_new_events = false;
	formats_add(&r->formats, &r->events);
}

/* ---- the other byte order ---- */

/* The event of a record whose body is not turned around yet. */
static u32 event_of_foreign(const struct formats *f, const u8 *bytes, const struct record_header *h)
{
	u8 copy[8];
	u32 at, event;

	if (!f->has_ids)
		return 0;
	if (h->type != PERF_RECORD_SAMPLE && (!f->at[0].trailer || f->id_from_end > h->size))
		return 0;
	at = h->type == PERF_RECORD_SAMPLE ? RECORD_HEADER_SIZE + f->id_from_start
					   : h->size - f->id_from_end;
	if (at + sizeof(copy) > h->size)
		return 0;
	memcpy(copy, bytes + at, sizeof(copy));
	event = formats_event_of_id(f, __builtin_bswap64(load_u64(copy)));
	return event == TABLE_NONE ? 0 : event;
}

bool reader_swap_record(const struct reader *r, u8 *bytes, u16 size)
{
	const struct sample_format *format;
	struct record_header h;

	memcpy(&h, bytes, sizeof(h));
	record_swap_header(&h);
	memcpy(bytes, &h, sizeof(h));
	if (h.size != size)
		return false;
	/* Until the events are known there are records about events only. */
	if (!r->formats.n)
		return h.type >= PERF_RECORD_USER_TYPE_START && record_swap(bytes, size, 0);
	format = &r->formats.at[event_of_foreign(&r->formats, bytes, &h)];
	if (h.type == PERF_RECORD_SAMPLE)
		return sample_swap(format, bytes + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE);
	if (!record_has_trailer(h.type))
		return record_swap(bytes, size, 0);
	return record_swap(bytes, size, format->trailer) &&
		sample_swap_trailer(format, bytes, size);
}
