#include "view/records/dump.h"

#include "arch/arch.h"
#include "base/num.h"
#include "event/abi.h"
#include "record/sample.h"

enum { BYTES_A_LINE = 16 };

static const char hex[] = "0123456789abcdef";

static void add_digits(struct str *text, u64 v, unsigned digits)
{
	for (unsigned i = digits; i--;)
		str_addc(text, hex[v >> (4 * i) & 15]);
}

/* ".  0010:  00 01 ..  ...": sixteen bytes as numbers and as letters. */
static void add_bytes(const u8 *p, size_t n, struct str *text)
{
	str_addf(text, ".\n. ... raw event: size %zu bytes\n", n);
	for (size_t at = 0; at < n; at += BYTES_A_LINE) {
		size_t here = MIN(n - at, (size_t)BYTES_A_LINE);

		str_add(text, ".  ");
		add_digits(text, at, 4);
		str_add(text, ": ");
		for (size_t i = 0; i < BYTES_A_LINE; i++) {
			str_addc(text, ' ');
			if (i < here)
				add_digits(text, p[at + i], 2);
			else
				str_add(text, "  ");
		}
		str_add(text, "  ");
		for (size_t i = 0; i < here; i++)
			str_addc(text, p[at + i] >= ' ' && p[at + i] < 127 ? (char)p[at + i] : '.');
		str_addc(text, '\n');
	}
	str_addc(text, '\n');
}

/* What each record's line begins with: CPU and time, if the record has them. */
static void add_place(const struct sample_format *format, const struct sample *s,
	const struct record *rec, struct str *text)
{
	if (format && format->type & PERF_SAMPLE_CPU)
		str_addf(text, "%d ", (s32)s->cpu);
	if (format && format->type & PERF_SAMPLE_TIME)
		str_addf(text, "%llu ", (unsigned long long)s->time);
	str_addf(text, "0x%llx [0x%x]: ", (unsigned long long)rec->offset, rec->size);
}

static void add_name(const struct record *rec, struct str *text)
{
	const char *name = record_type_name(rec->type);

	if (name)
		str_addf(text, "PERF_RECORD_%s", name);
	else
		str_addf(text, "record of type %u, which this version of pace does not know",
			rec->type);
}

/* A line for each field. */
static void add_fields(const struct sample_format *format, const struct sample *sample,
	const struct arch *arch, struct str *text)
{
	struct str lines = {0};

	sample_add_text(format, sample, arch, &lines);
	for (const char *p = str_text(&lines); *p;) {
		size_t n = strcspn(p, "\n");

		str_add(text, " ... ");
		str_addn(text, p, n + (p[n] == '\n'));
		p += n + (p[n] == '\n');
	}
	str_fini(&lines);
}

static void add_sample(const struct sample_format *format, const struct record *rec,
	const struct arch *arch, struct str *text)
{
	struct sample sample = {0};
	struct err err;
	bool is_whole = !sample_decode(format, rec->at + RECORD_HEADER_SIZE,
		rec->size - RECORD_HEADER_SIZE, UINT64_MAX, &sample, &err);

	add_place(format, &sample, rec, text);
	add_name(rec, text);
	str_addf(text, "(IP, 0x%x): %d/%d: 0x%llx\n", rec->misc, (s32)sample.pid, (s32)sample.tid,
		(unsigned long long)sample.ip);
	if (is_whole)
		add_fields(format, &sample, arch, text);
	else
		str_addf(text, " ... %s\n", err.msg);
}

static void add_other(const struct sample_format *format, const struct record *rec,
	struct str *text)
{
	bool has_trailer = format && record_has_trailer(rec->type);
	union record_body body;
	struct sample who = {0};
	struct err err;
	int r;

	has_trailer = has_trailer && sample_decode_trailer(format, rec, &who);
	add_place(has_trailer ? format : NULL, &who, rec, text);
	add_name(rec, text);
	r = record_decode(rec, has_trailer ? format->trailer : 0, &body, &err);
	if (r > 0) {
		str_addc(text, ' ');
		record_add_text(rec->type, rec->misc, &body, text);
	} else if (r < 0) {
		str_addf(text, ": %s", err.msg);
	}
	str_addc(text, '\n');
}

static void add_record(const struct reader *reader, const struct record *rec, struct str *text)
{
	const struct formats *formats = &reader->formats;
	u32 event = formats->n ? formats_event(formats, rec) : TABLE_NONE;
	const struct sample_format *format = event == TABLE_NONE ? NULL : &formats->at[event];

	str_addf(text, "\n0x%llx@", (unsigned long long)rec->offset);
	str_add_safe(text, reader->path, strlen(reader->path));
	str_addf(text, " [0x%x]: event: %u\n", rec->size, rec->type);
	add_bytes(rec->at, rec->size, text);
	if (rec->type != PERF_RECORD_SAMPLE) {
		add_other(format ? format : formats->n ? &formats->at[0] : NULL, rec, text);
	} else if (format) {
		add_sample(format, rec, arch_of_name(reader->info.host.arch), text);
	} else {
		add_place(NULL, NULL, rec, text);
		add_name(rec, text);
		str_add(text, ": belongs to an event that the file does not describe\n");
	}
}

int dump_all(struct session *s, struct out *out, struct err *err)
{
	struct reader *reader = &s->reader;
	struct reader_cursor cursor;
	struct record rec;
	int result;

	/* A pipe's first records have been read already, to learn about the events. */
	reader_cursor_init(&cursor, reader, reader->preface, reader->data_end);
	while ((result = reader_next(&cursor, &rec, err)) > 0) {
		session_take(s, &cursor, &rec);
		add_record(reader, &rec, &out->text);
		out_flush_some(out);
		if (out->sys)
			break;
	}
	session_note_end(s, &cursor);
	reader_cursor_fini(&cursor);
	return MIN(result, 0);
}
