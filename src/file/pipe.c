#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fd.h"
#include "base/folder.h"
#include "event/abi.h"
#include "event/names.h"
#include "file/reader.h"

enum {
	TRACING_LIMIT = 256 << 20,
	EVENTS_LIMIT = 1 << 20,
};

/* ---- records that say what sections would ---- */

/* perf's numbers for the kinds of EVENT_UPDATE records. */
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
		r->n_named > READER_NAMING_LIMIT)
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

/* Reads a section from a record, in the byte order of the file; b->offset is the section's place. */
static void take_section(struct reader *r, u64 id, struct bytes *b, struct log *log)
{
	u64 offset = b->offset - RECORD_HEADER_SIZE;
	struct err err;

	b->swap = r->is_foreign;
	if (id >= LAYOUT_FEATURE_BITS) {
		log_warn(log, "'%s': the section at offset 0x%llx has the impossible number %llu",
			r->path, (unsigned long long)offset, (unsigned long long)id);
		return;
	}
	/* A repeated section is not read again: its entries would be added twice. */
	if (layout_has_feature(&r->header, (unsigned)id)) {
		/* A file repeats this one in case its end is never written: see writer_pack(). */
		if (id == FEATURE_COMPRESSED && !r->is_pipe_mode)
			return;
		log_warn(log, "'%s': the section at offset 0x%llx repeats %s and is ignored",
			r->path, (unsigned long long)offset,
			feature_name((unsigned)id) ? feature_name((unsigned)id) : "(unknown)");
		return;
	}
	layout_set_feature(&r->header, (unsigned)id);
	r->sections[id] = (struct layout_section){b->offset, bytes_left(b)};
	if (feature_read((unsigned)id, b, &r->info, &err) < 0)
		log_warn(log, "'%s': %s", r->path, err.msg);
	if (id == FEATURE_EVENT_DESC)
		reader_name_events(r);
}

static void take_feature(struct reader *r, const struct record *rec, struct log *log)
{
	struct bytes b = body_of(rec);
	u64 id;

	if (bytes_u64(&b, &id))
		take_section(r, id, &b, log);
}

/*
 * Before pipe mode had HEADER_FEATURE, Google's perf had a record type for each section. perf later
 * gave the same numbers to other records. Google's come first in a stream, starting with the host
 * name.
 */
static unsigned typed_section(u32 type)
{
	enum { FIRST = 69, PMU_MAPPINGS = 81 };

	if (type == PMU_MAPPINGS)
		return FEATURE_PMU_MAPPINGS;
	return type >= FIRST && type < PMU_MAPPINGS ? FEATURE_HOSTNAME + type - FIRST : 0;
}

/*
 * Whether a record's body is a string {u32 room, char text[room]}, as in the old records for host
 * name and kernel release. Today's records of these types have zeros where the text would start:
 * the upper half of a number of entries, or reserved room.
 */
static bool is_string(const struct record *rec)
{
	struct bytes b = body_of(rec);
	const u8 *text;
	u32 room;

	if (!bytes_u32(&b, &room) || !room || room > bytes_left(&b) || bytes_left(&b) - room >= 8)
		return false;
	text = b.at;
	return *text && memchr(text, 0, room);
}

static bool is_typed_section(struct reader *r, const struct record *rec)
{
	if (!r->is_pipe_mode || !typed_section(rec->type))
		return false;
	if ((rec->type == PERF_RECORD_ID_INDEX || rec->type == PERF_RECORD_AUXTRACE_INFO) &&
		is_string(rec))
		r->has_typed_sections = true;
	return r->has_typed_sections;
}

/* Reads a record of the kind that the section of build-ids consists of. */
static void take_build_id(struct reader *r, const struct record *rec, struct log *log)
{
	struct bytes b = bytes_of(rec->at, rec->size);
	struct err err;

	b.offset = rec->offset;
	layout_set_feature(&r->header, FEATURE_BUILD_ID);
	if (feature_read(FEATURE_BUILD_ID, &b, &r->info, &err) < 0)
		log_warn(log, "'%s': %s", r->path, err.msg);
}

/*
 * Reads the tracepoint formats: behind the record in perf's files; in the record, and behind it if
 * there are more, in simpleperf's.
 */
static void take_tracing(struct reader_cursor *c, const struct record *rec, struct log *log)
{
	struct reader *r = c->reader;
	struct str *data = &r->info.tracing_data;
	struct bytes b = body_of(rec);
	struct err err;
	u32 n;

	str_clear(data);
	if (!bytes_u32(&b, &n))
		return;
	/* In file mode the bit would promise an entry in the table of sections. */
	if (r->is_pipe_mode)
		layout_set_feature(&r->header, FEATURE_TRACING_DATA);
	str_addn(data, b.at, MIN(bytes_left(&b), (size_t)n));
	if (reader_payload(c, TRACING_LIMIT, data, &err))
		log_warn(log, "'%s': the formats of the tracepoints: %s", r->path, err.msg);
	if (data->n > n)
		str_cut(data, n);
}

void reader_take(struct reader_cursor *c, const struct record *rec, struct log *log)
{
	struct reader *r = c->reader;

	if (r->is_pipe_mode && rec->offset < r->taken_to)
		return;
	if (UNLIKELY(is_typed_section(r, rec))) {
		struct bytes b = body_of(rec);

		take_section(r, typed_section(rec->type), &b, log);
		r->taken_to = MAX(r->taken_to, c->at);
		return;
	}
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
	case SIMPLEPERF_RECORD_TRACING_DATA:
		take_tracing(c, rec, log);
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

/* ---- pipe mode ---- */

/* Whether a record is one of the first, which replace the header in pipe mode. */
static bool is_preface(struct reader *r, const struct record *rec)
{
	u32 type = rec->type;

	return is_typed_section(r, rec) ||
		(type >= PERF_RECORD_HEADER_ATTR && type <= PERF_RECORD_HEADER_BUILD_ID) ||
		type == PERF_RECORD_HEADER_FEATURE || type == PERF_RECORD_EVENT_UPDATE ||
		type == PERF_RECORD_ID_INDEX || type == PERF_RECORD_TIME_CONV;
}

/* Reads the preface. What the cursor has read beyond it from a stream is kept for the next cursor. */
static int read_preface(struct reader *r, struct log *log, struct err *err)
{
	struct reader_cursor c;
	struct record rec;
	u64 end = r->data_start;
	bool is_over;
	int result;

	reader_cursor_init(&c, r, r->data_start, r->data_end);
	while ((result = reader_next(&c, &rec, err)) > 0 && is_preface(r, &rec)) {
		reader_take(&c, &rec, log);
		end = c.at;
	}
	reader_name_events(r);
	if (result >= 0 && r->is_stream) {
		u64 behind = c.buf_at + c.buf_n;

		/* Nothing before the end of the preface is needed any more. */
		str_clear(&r->ahead);
		r->ahead_from = end;
		if (behind > end && end >= c.buf_at)
			str_addn(&r->ahead, c.buf + (end - c.buf_at), behind - end);
	}
	if (result >= 0)
		r->data_start = end;
	is_over = !result && !c.damage.reason;
	reader_cursor_fini(&c);
	if (result < 0)
		return err->code;
	if (!r->events.n)
		return err_set(err, ERR_FORMAT,
			"'%s' was written to a pipe, but no event is described at its beginning",
			r->path);
	/* A recorder always writes more than a preface. */
	if (is_over) {
		r->is_cut = true;
		log_warn(log, "'%s' ends at offset 0x%llx, before its first record of what ran",
			r->path, (unsigned long long)end);
	}
	return 0;
}

int reader_open_pipe_mode(struct reader *r, struct log *log, struct err *err)
{
	r->data_start = LAYOUT_PIPE_HEADER;
	r->data_end = r->is_stream ? UINT64_MAX : r->file_size;
	r->parts.at[0].from = r->data_start;
	r->parts.at[0].end = r->data_end;
	return read_preface(r, log, err);
}

/* ---- files of simpleperf ---- */

/* The record types that only simpleperf's data begin with. */
static bool is_front(u32 type)
{
	return type == PERF_RECORD_HEADER_TRACING_DATA || type == SIMPLEPERF_RECORD_TRACING_DATA ||
		type == SIMPLEPERF_RECORD_KERNEL_SYMBOL;
}

int reader_take_front(struct reader *r, struct log *log, struct err *err)
{
	struct record_header first;
	struct reader_cursor c;
	struct record rec;
	int result, sys;

	if (r->is_foreign || r->file_size - r->data_start < sizeof(first))
		return 0;
	sys = fd_read_at(r->parts.at[0].fd, &first, sizeof(first), r->data_start);
	if (sys)
		return err_sys(err, sys, "reading the first record of '%s'", r->path);
	if (!is_front(first.type))
		return 0;
	reader_cursor_init(&c, r, r->data_start, r->data_end);
	while ((result = reader_next(&c, &rec, err)) > 0 && is_front(rec.type))
		reader_take(&c, &rec, log);
	reader_cursor_fini(&c);
	return MIN(result, 0);
}

/* ---- streams ---- */

int reader_read_ahead(struct reader *r, size_t n, struct err *err)
{
	while (r->ahead.n < n) {
		ssize_t got;

		str_reserve(&r->ahead, n - r->ahead.n);
		got = fd_read(r->parts.at[0].fd, r->ahead.at + r->ahead.n, n - r->ahead.n);
		if (got < 0)
			return err_sys(err, errno, "reading '%s'", r->path);
		if (!got)
			break;
		r->ahead.n += got;
	}
	return 0;
}

static int open_temporary(struct err *err)
{
	const char *folder = folder_of_temporaries();
	char path[4096];
	int fd;

	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/pace-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		err_sys(err, errno, "creating a temporary file in '%s'", folder);
	else
		unlink(path);
	return fd;
}

/* Copies the rest of the stream, to the same offsets in the file. */
static int copy_stream(struct reader *r, int to, u64 *ret_end, struct err *err)
{
	enum { STEP = 256 << 10 };
	u64 end = r->ahead_from + r->ahead.n;
	int sys = fd_write_at(to, r->ahead.at, r->ahead.n, r->ahead_from);

	str_reserve(&r->ahead, STEP);
	while (!sys) {
		ssize_t n = fd_read(r->parts.at[0].fd, r->ahead.at, STEP);

		if (n < 0)
			return err_sys(err, errno, "reading '%s'", r->path);
		if (!n) {
			*ret_end = end;
			return 0;
		}
		sys = fd_write_at(to, r->ahead.at, (size_t)n, end);
		end += (u64)n;
	}
	return err_sys(err, sys, "copying the pipe to a temporary file (TMPDIR sets its folder)");
}

int reader_spool(struct reader *r, struct err *err)
{
	u64 end = 0;
	int fd;

	if (!r->is_stream)
		return 0;
	fd = open_temporary(err);
	if (fd < 0)
		return err->code;
	if (copy_stream(r, fd, &end, err)) {
		close(fd);
		return err->code;
	}
	close(r->parts.at[0].fd);
	r->parts.at[0].fd = fd;
	r->parts.at[0].end = r->data_end = r->file_size = end;
	r->is_stream = false;
	str_fini(&r->ahead);
	return 0;
}
