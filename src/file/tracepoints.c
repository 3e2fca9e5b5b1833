#include "file/tracepoints.h"

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "base/bytes.h"

enum { FORMAT_LIMIT = 1 << 20 };

/* "name\0", a u64 size, so many bytes. */
static bool take_part(struct bytes *b, const char *name, struct bytes *ret_part)
{
	const char *text;
	size_t n;
	u64 size;

	return bytes_cstr(b, &text, &n) && !strcmp(text, name) && bytes_u64(b, &size) &&
		bytes_sub(b, size, ret_part);
}

/* libtraceevent wants text that ends: a format is copied so that it does. */
static void parse_format(struct tep_handle *tep, const struct bytes *format, const char *system)
{
	struct str copy = {0};

	if (bytes_left(format) > FORMAT_LIMIT)
		return;
	str_addn(&copy, format->at, bytes_left(format));
	/* One that it does not understand is not printed; the others are. */
	tep_parse_event(tep, str_text(&copy), copy.n, system);
	str_fini(&copy);
}

static bool parse_formats(struct tep_handle *tep, struct bytes *b, const char *system)
{
	u32 n;

	if (!bytes_u32(b, &n))
		return false;
	for (u32 i = 0; i < n; i++) {
		struct bytes format;
		u64 size;

		if (!bytes_u64(b, &size) || !bytes_sub(b, size, &format))
			return false;
		parse_format(tep, &format, system);
	}
	return true;
}

static bool parse_section(struct tep_handle *tep, struct bytes *b)
{
	static const char magic[] = "\027\010\104tracing";
	struct bytes page, event;
	const char *version;
	const void *start;
	u32 page_size, n_systems;
	u8 is_big, long_size;
	u16 probe = 1;
	size_t n;

	if (!bytes_take(b, sizeof(magic) - 1, &start) || memcmp(start, magic, sizeof(magic) - 1) ||
		!bytes_cstr(b, &version, &n) || !bytes_u8(b, &is_big) || !bytes_u8(b, &long_size))
		return false;
	b->swap = (is_big != 0) != (*(const u8 *)&probe == 0);
	if (!bytes_u32(b, &page_size) || !take_part(b, "header_page", &page) ||
		!take_part(b, "header_event", &event))
		return false;
	tep_set_file_bigendian(tep, is_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, *(const u8 *)&probe ? TEP_LITTLE_ENDIAN : TEP_BIG_ENDIAN);
	tep_set_long_size(tep, long_size == 4 ? 4 : 8);
	tep_set_page_size(tep, (int)page_size);
	if (!parse_formats(tep, b, "ftrace") || !bytes_u32(b, &n_systems))
		return false;
	for (u32 i = 0; i < n_systems; i++) {
		const char *system;

		if (!bytes_cstr(b, &system, &n) || !parse_formats(tep, b, system))
			return false;
	}
	return true;
}

int tracepoints_open(struct tracepoints *t, const struct str *section, struct err *err)
{
	struct bytes b = bytes_of(section->at, section->n);

	memset(t, 0, sizeof(*t));
	if (!section->n)
		return 0;
	/* It would talk to stderr by itself. */
	tep_set_loglevel(TEP_LOG_NONE);
	t->handle = tep_alloc();
	if (!t->handle)
		return err_set(err, ERR_LIMIT, "no memory for the formats of tracepoints");
	if (parse_section(t->handle, &b))
		return 0;
	return err_set(err, ERR_FORMAT,
		"the formats of tracepoints are damaged at byte %llu of %zu",
		(unsigned long long)b.offset, section->n);
}

void tracepoints_close(struct tracepoints *t)
{
	if (t->handle)
		tep_free(t->handle);
	str_fini(&t->text);
	memset(t, 0, sizeof(*t));
}

/* The fields lie inside the raw bytes: a format that says otherwise must not be followed. */
static bool fits(const struct tep_event *event, u32 size)
{
	const struct tep_format_field *lists[] = {event->format.common_fields,
		event->format.fields};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (const struct tep_format_field *f = lists[i]; f; f = f->next)
			if (f->offset < 0 || f->size < 0 || (u64)f->offset + (u64)f->size > size)
				return false;
	return true;
}

bool tracepoints_add_text(struct tracepoints *t, u64 id, u32 cpu, const struct record_bytes *raw,
	struct str *text)
{
	struct tep_event *event = t->handle ? tep_find_event(t->handle, (int)id) : NULL;
	struct tep_record record = {0};
	struct trace_seq seq;

	if (!event || !fits(event, raw->n))
		return false;
	/* A text that is not ended in the sample ends in the copy. */
	str_clear(&t->text);
	str_addn(&t->text, raw->at, raw->n);
	str_fill(&t->text, '\0', 16);
	record.cpu = (int)cpu;
	record.data = t->text.at;
	record.size = (int)raw->n;
	trace_seq_init(&seq);
	tep_print_event(t->handle, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	if (seq.state == TRACE_SEQ__GOOD)
		str_add_safe(text, seq.buffer, seq.len);
	trace_seq_destroy(&seq);
	return true;
}
