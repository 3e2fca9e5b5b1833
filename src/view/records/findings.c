#include "view/records/findings.h"

#include "event/abi.h"
#include "file/feature.h"
#include "view/text/words.h"

/* Lines under a heading that is printed only if there are lines. */
struct paragraph {
	struct str *text;
	const char *heading;
	size_t n_lines;
};

static struct str *begin_line(struct paragraph *p)
{
	if (p->n_lines++)
		str_addf(p->text, "%*s", WORDS_LABEL, "");
	else {
		str_addc(p->text, '\n');
		words_add_label(p->text, p->heading);
	}
	return p->text;
}

static void add_found(struct paragraph *p, const struct inspection_finding *f, const char *is_what)
{
	struct str *text;

	if (!f->n)
		return;
	text = begin_line(p);
	words_add_count(text, f->n, "record");
	str_addf(text, " %s; the first at 0x%llx", is_what, (unsigned long long)f->offset);
	if (f->what) {
		str_add(text, ": ");
		words_add_safe(text, f->what);
	}
	str_addc(text, '\n');
}

static void add_behind(struct paragraph *p, const struct inspection_finding *f, const char *what)
{
	struct str *text;

	if (!f->n)
		return;
	text = begin_line(p);
	words_add_count(text, f->n, "record");
	str_addf(text, " %s, at most by ", what);
	words_add_ns(text, f->worst_ns);
	str_addf(text, " (at 0x%llx)\n", (unsigned long long)f->worst_offset);
}

static void add_unordered(struct paragraph *p, const struct inspection *s)
{
	struct str *text;

	if (!s->unordered.n)
		return;
	text = begin_line(p);
	words_add_count(text, s->unordered.n, "record");
	str_add(text, " out of time order, at most by ");
	words_add_ns(text, s->unordered.worst_ns);
	str_addf(text, " (at 0x%llx", (unsigned long long)s->unordered.worst_offset);
	if (s->unordered_bytes) {
		str_add(text, ", which belongs ");
		words_add_count(text, s->unordered_bytes, "byte");
		str_add(text, " earlier");
	}
	str_add(text, ")\n");
}

/* perf makes room in its table for all sections that it may write, before it knows which will be empty. */
static bool is_spare_room(const struct part *before, u64 n)
{
	return before && before->name && !strcmp(before->name, PARTS_TABLE) &&
		n % sizeof(struct layout_section) == 0;
}

/* Parts that overlap others or lie outside the file, and bytes between parts. */
static void add_part_faults(struct paragraph *p, const struct reader *r, const struct parts *parts)
{
	const struct part *before = NULL;
	u64 end = 0;

	vec_each(part, parts) {
		if (part->offset > end && !is_spare_room(before, part->offset - end))
			str_addf(begin_line(p), "%llu bytes at 0x%llx belong to no part\n",
				(unsigned long long)(part->offset - end), (unsigned long long)end);
		if (part->offset < end) {
			parts_add_name(part, begin_line(p));
			str_addf(p->text, " begins at 0x%llx, inside the part before it\n",
				(unsigned long long)part->offset);
		}
		if (parts_end_of(part) > r->file_size) {
			parts_add_name(part, begin_line(p));
			str_addf(p->text, ", %llu bytes at 0x%llx, ends outside the file\n",
				(unsigned long long)part->size, (unsigned long long)part->offset);
		}
		end = MAX(end, parts_end_of(part));
		before = part;
	}
}

/* Contradictions in the header, or between it and the file. */
static void add_layout_faults(struct paragraph *p, const struct lint *l, const struct parts *parts)
{
	const struct reader *r = l->reader;
	const struct layout_header *h = &r->header;

	if (r->is_pipe_mode)
		return;
	if (h->size != sizeof(*h))
		str_addf(begin_line(p), "the header says it has %llu bytes, not %zu\n",
			(unsigned long long)h->size, sizeof(*h));
	if (h->attr_size && h->attrs.size % h->attr_size)
		str_addf(begin_line(p),
			"the attrs have %llu bytes, which is not a multiple of %llu\n",
			(unsigned long long)h->attrs.size, (unsigned long long)h->attr_size);
	if (!r->is_directory)
		add_part_faults(p, r, parts);
}

static void add_header_oddities(struct paragraph *p, const struct lint *l)
{
	const struct reader *r = l->reader;
	const struct layout_header *h = &r->header;

	if (r->is_pipe_mode)
		return;
	if (h->event_types.size)
		str_addf(begin_line(p),
			"the header has a table of event types, %llu bytes, which is obsolete\n",
			(unsigned long long)h->event_types.size);
	if (r->info.events.n && r->info.events.n != r->events.n)
		str_addf(begin_line(p), "EVENT_DESC has %zu events, the header %zu\n",
			r->info.events.n, r->events.n);
}

/*
 * Bytes that were left by an earlier, longer version of the file, as by simpleperf, or by a mistake of the writer, as 4
 * bytes by perf 5.6. Nothing refers to them, so nothing is lost.
 */
static void add_rest(struct paragraph *p, const struct reader *r, const struct parts *parts)
{
	u64 end = 0;

	if (r->is_stream || r->is_directory)
		return;
	vec_each(part, parts)
		end = MAX(end, parts_end_of(part));
	if (r->file_size <= end)
		return;
	words_add_count(begin_line(p), r->file_size - end, "byte");
	str_addf(p->text, " at 0x%llx, after the last part, belong to nothing\n",
		(unsigned long long)end);
}

/* Attrs whose size is not that of their places; unknown sample fields. */
static void add_attr_oddities(struct paragraph *p, const struct lint *l)
{
	const struct reader *r = l->reader;
	u64 room = r->header.attr_size - sizeof(struct layout_attr_ids), n = 0, n_unknown = 0;
	u64 unknown = 0;

	for (size_t i = 0; i < r->events.n; i++) {
		n += !r->is_pipe_mode && r->events.at[i].attr.size != room;
		if (i < r->formats.n && r->formats.at[i].unknown) {
			n_unknown++;
			unknown |= r->formats.at[i].unknown;
		}
	}
	if (n) {
		words_add_count(begin_line(p), n, "event");
		str_addf(p->text, " with attrs of a size other than the header's %llu bytes\n",
			(unsigned long long)room);
	}
	if (n_unknown) {
		words_add_count(begin_line(p), n_unknown, "event");
		str_addf(p->text, " with sample fields that pace does not know (0x%llx)\n",
			(unsigned long long)unknown);
	}
}

static void add_unknown_sections(struct paragraph *p, const struct reader *r)
{
	unsigned n = 0;

	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++) {
		if (!layout_has_feature(&r->header, id) || feature_name(id))
			continue;
		str_addf(n ? p->text : begin_line(p), n ? ", %u" : "unknown sections: %u", id);
		n++;
	}
	if (n)
		str_add(p->text, "; they were skipped\n");
}

static void add_sample_time(struct paragraph *p, const struct lint *l)
{
	const struct file_info *info = &l->reader->info;
	const struct inspection *s = l->inspection;
	struct str *text;

	/* In pipe mode perf writes the section before there are samples. */
	if (!info->has_times || !info->last_time || !s->first_time ||
		(info->first_time >= s->first_time && info->last_time <= s->last_time))
		return;
	text = begin_line(p);
	str_add(text, "SAMPLE_TIME says from ");
	words_add_seconds(text, info->first_time);
	str_add(text, " to ");
	words_add_seconds(text, info->last_time);
	str_add(text, ", which does not match the records\n");
}

void findings_add_odd(const struct lint *l, const struct parts *parts, struct str *text)
{
	const struct inspection *s = l->inspection;
	struct paragraph p = {text, "Odd", 0};

	add_header_oddities(&p, l);
	add_rest(&p, l->reader, parts);
	add_attr_oddities(&p, l);
	add_unknown_sections(&p, l->reader);
	vec_each(note, &l->notes) {
		words_add_safe(begin_line(&p), *note);
		str_addc(text, '\n');
	}
	add_found(&p, &s->unknown, "of unknown types, skipped by their size (perf stops at them)");
	add_found(&p, &s->unaligned, "with a size that is not a multiple of 8");
	add_unordered(&p, s);
	add_behind(&p, &s->late,
		"older than a preceding FINISHED_ROUND allows: perf shows them out of order");
	add_behind(&p, &s->backwards, "after a later one of the same thread and CPU");
	if (s->unordered.n && !inspection_count(s, PERF_RECORD_FINISHED_ROUND))
		str_add(begin_line(&p),
			"no FINISHED_ROUND among them: readers that sort must hold all records at once\n");
	if (s->n_records && !s->n_samples)
		str_add(begin_line(&p), "no samples\n");
	add_sample_time(&p, l);
}

void findings_add_lost(const struct inspection *s, struct str *text)
{
	static const char full[] =
		"dropped by the kernel because a ring was full: record with larger rings (-m) or less often (-F)";
	const struct {
		u64 n;
		const char *unit, *what;
	} lost[] = {
		{s->n_lost_samples, "sample", full},
		{s->n_lost_records - MIN(s->n_lost_records, s->n_lost_samples), "record", full},
		{s->n_filtered, "sample", "dropped by the recording's own filter"},
		{s->n_throttled, "time",
			"the kernel stopped sampling for a moment because it took too long"},
		{s->n_aux_truncated, "time", "a part of the trace was dropped (AUX, truncated)"},
	};
	struct paragraph p = {text, "Lost", 0};

	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		if (!lost[i].n)
			continue;
		words_add_count(begin_line(&p), lost[i].n, lost[i].unit);
		str_addf(text, " %s\n", lost[i].what);
	}
}

size_t findings_add_damage(const struct lint *l, const struct parts *parts, struct str *text)
{
	const struct inspection *s = l->inspection;
	struct paragraph p = {text, "Damage", 0};
	size_t before;

	vec_each(warning, &l->warnings) {
		words_add_safe(begin_line(&p), *warning);
		str_addc(text, '\n');
	}
	if (s->damage.reason) {
		words_add_count(begin_line(&p), s->damage.bytes, "byte");
		str_addf(text, " from 0x%llx on were not read: %s\n",
			(unsigned long long)s->damage.offset, s->damage.reason);
	}
	add_found(&p, &s->undecoded, "without the fields their event says they have");
	add_found(&p, &s->odd, "with impossible values");
	add_found(&p, &s->foreign, "(samples) of events that the file does not describe");
	if (s->n_not_native) {
		words_add_count(begin_line(&p), s->n_not_native, "record");
		str_add(text, " that are not valid in the file's byte order\n");
	}
	before = p.n_lines;
	add_layout_faults(&p, l, parts);
	return p.n_lines - before;
}
