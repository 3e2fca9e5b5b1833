#include "view/lint.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "event/abi.h"
#include "file/feature.h"

enum {
	LABEL = 13,        /* columns of "Written by   " */
	NAME_COLUMNS = 32, /* of the first column of tables, at least */
	NAME_COLUMNS_MAX = 64,
	UNKNOWN_TYPES_SHOWN = 8,
	SIMPLEPERF_SECTIONS = 128, /* its own sections have these numbers and more */
	SIMPLEPERF_RECORDS = 32768,
};

/* Who reads attrs of a size: perf refuses files whose attrs are larger than its own. */
static const struct {
	u32 size;
	const char *perf;
} attr_readers[] = {
	{ATTR_SIZE_VER0, "2.6.31"},
	{ATTR_SIZE_VER1, "2.6.33"},
	{ATTR_SIZE_VER2, "3.4"},
	{ATTR_SIZE_VER3, "3.7"},
	{ATTR_SIZE_VER4, "3.19"},
	{ATTR_SIZE_VER5, "4.1"},
	{ATTR_SIZE_VER6, "5.5"},
	{ATTR_SIZE_VER7, "5.13"},
	{ATTR_SIZE_VER8, "6.5"},
	{ATTR_SIZE_VER9, "7.0"},
};

/* ---- pieces of text ---- */

static void add_safe(struct str *text, const char *s)
{
	str_add_safe(text, s, strlen(s));
}

static void add_label(struct str *text, const char *label)
{
	str_addf(text, "%-*s", LABEL, label);
}

/* Foreign text in a column, cut to fit. */
static void add_column(struct str *text, const char *s, unsigned width)
{
	struct str safe = {0};
	size_t columns = str_add_safe(&safe, s, strlen(s));

	str_addn(text, safe.at, safe.n);
	str_fill(text, ' ', columns < width ? width - columns : 0);
	str_fini(&safe);
}

/* A number, grouped, flush right. */
static void add_number(struct str *text, u64 v, unsigned width)
{
	struct str number = {0};

	num_add_grouped(&number, v);
	str_addf(text, "%*s", (int)width, str_text(&number));
	str_fini(&number);
}

/* "1 record", "2 records". */
static void add_count(struct str *text, u64 n, const char *what)
{
	num_add_grouped(text, n);
	str_addf(text, " %s%s", what, n == 1 ? "" : "s");
}

static void add_seconds(struct str *text, u64 ns)
{
	str_addf(text, "%llu.%09llu s", (unsigned long long)(ns / 1000000000),
		(unsigned long long)(ns % 1000000000));
}

static void add_ns(struct str *text, u64 ns)
{
	num_add_grouped(text, ns);
	str_add(text, " ns");
}

/* ---- what it is ---- */

static bool is_simpleperf(const struct lint *l)
{
	const host_names *cmdline = &l->reader->info.cmdline;

	for (unsigned id = SIMPLEPERF_SECTIONS; id < LAYOUT_FEATURE_BITS; id++)
		if (!feature_name(id) && l->reader->sections[id].size)
			return true;
	return cmdline->n && strstr(cmdline->at[0], "simpleperf");
}

static void add_writer(const struct lint *l, struct str *text)
{
	const struct file_info *info = &l->reader->info;
	const struct host *h = &info->host;

	add_label(text, "Written by");
	if (is_simpleperf(l))
		str_add(text, "simpleperf (by its sections or command)");
	else if (info->version && !strncmp(info->version, "pace ", 5))
		add_safe(text, info->version);
	else if (info->version) {
		str_add(text, *info->version ? "perf " : "perf (it does not say which)");
		add_safe(text, info->version);
	} else
		str_add(text, "unknown: it does not say");
	if (h->release) {
		str_add(text, ", on Linux ");
		add_safe(text, h->release);
	}
	if (h->arch) {
		str_add(text, ", ");
		add_safe(text, h->arch);
	}
	if (h->cpus_online)
		str_addf(text, ", %u CPU%s", h->cpus_online, h->cpus_online == 1 ? "" : "s");
	str_addc(text, '\n');
}

static void add_command(const struct file_info *info, struct str *text)
{
	if (!info->cmdline.n)
		return;
	add_label(text, "Command");
	vec_each(word, &info->cmdline) {
		if (word != info->cmdline.at)
			str_addc(text, ' ');
		add_safe(text, *word);
	}
	str_addc(text, '\n');
}

static void add_dialect(const struct reader *r, struct str *text)
{
	add_label(text, "Dialect");
	str_add(text,
		r->is_directory           ? "directory, a file for each thread of the recorder"
			: r->is_pipe_mode ? "pipe mode: no sections, records say it all"
					  : "file");
	str_add(text, r->is_version_1 ? ", version 1" : ", version 2");
	str_add(text, r->is_foreign ? ", the other byte order" : ", this machine's byte order");
	if (r->is_packed)
		str_add(text,
			", with compressed records (perf 5.2 and later, built with zstd, reads them)");
	str_addc(text, '\n');
}

static void add_attr_size(const struct reader *r, struct str *text)
{
	const char *perf = NULL;
	u32 size = 0;

	vec_each(e, &r->events)
		size = MAX(size, e->attr.size);
	if (!size)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(attr_readers) && !perf; i++)
		if (attr_readers[i].size >= size)
			perf = attr_readers[i].perf;
	add_label(text, "Attr size");
	str_addf(text, "%u bytes: ", size);
	if (perf)
		str_addf(text, "perf %s and later can read it\n", perf);
	else
		str_add(text, "more than any perf that this version of pace knows\n");
}

static void add_sampling(const struct event_attr *a, struct str *text)
{
	if (!a->sample_period)
		str_add(text, "  counted, not sampled");
	else if (a->flags & ATTR_FREQ)
		str_addf(text, "  %llu Hz", (unsigned long long)a->sample_period);
	else
		str_addf(text, "  every %llu", (unsigned long long)a->sample_period);
}

/* Columns that the longest name needs, within reason. */
static unsigned name_columns(const struct event_list *events)
{
	size_t n = NAME_COLUMNS;

	vec_each(e, events)
		n = MAX(n, strlen(e->name) + 2);
	return MIN(n, (size_t)NAME_COLUMNS_MAX);
}

static void add_events(const struct lint *l, struct str *text)
{
	const struct event_list *events = &l->reader->events;
	unsigned columns = name_columns(events);

	str_addf(text, "\n%-*s %12s %12s %6s\n", columns, "Events", "samples", "lost", "ids");
	for (size_t i = 0; i < events->n; i++) {
		const struct event *e = &events->at[i];

		str_add(text, "  ");
		add_column(text, e->name, columns - 2);
		str_addc(text, ' ');
		add_number(text, l->survey->events.at[i].n_samples, 12);
		str_addc(text, ' ');
		add_number(text, l->survey->events.at[i].n_dropped, 12);
		str_addf(text, " %6u", e->n_ids);
		add_sampling(&e->attr, text);
		str_addc(text, '\n');
	}
}

/* ---- where its parts are ---- */

struct part {
	const char *name; /* NULL: a section by its number */
	unsigned id;
	u64 offset, size;
};

typedef VEC(struct part) part_list;

static const char table_name[] = "table of sections";

static int by_offset(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

static u64 end_of(const struct part *p)
{
	return p->size > UINT64_MAX - p->offset ? UINT64_MAX : p->offset + p->size;
}

static void add_part(part_list *parts, const char *name, u64 offset, u64 size)
{
	if (size)
		vec_add(parts, ((struct part){name, 0, offset, size}));
}

/* In the order of the file. */
static void list_parts(const struct lint *l, part_list *parts)
{
	const struct reader *r = l->reader;
	const struct layout_header *h = &r->header;
	u64 n_sections = 0;

	add_part(parts, "header", 0, r->is_pipe_mode ? LAYOUT_PIPE_HEADER : h->size);
	if (r->is_pipe_mode)
		add_part(parts, "events and facts", LAYOUT_PIPE_HEADER,
			r->data_start - MIN(r->data_start, (u64)LAYOUT_PIPE_HEADER));
	if (r->is_directory)
		vec_each(file, &r->parts)
			add_part(parts, file == r->parts.at ? "data" : "data of one more file",
				file->base + file->from, file->end - file->from);
	else
		add_part(parts, "data", r->data_start, r->data_end - r->data_start);
	if (!r->is_pipe_mode) {
		add_part(parts, "attrs", h->attrs.offset, h->attrs.size);
		add_part(parts, "ids", r->ids.offset, r->ids.size);
		add_part(parts, "event types", h->event_types.offset, h->event_types.size);
		for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++) {
			n_sections += layout_has_feature(h, id);
			if (r->sections[id].size)
				vec_add(parts,
					((struct part){NULL, id, r->sections[id].offset,
						r->sections[id].size}));
		}
		if (!r->is_cut && !r->is_unfinished)
			add_part(parts, table_name, h->data.offset + h->data.size,
				n_sections * sizeof(struct layout_section));
	}
	qsort(parts->at, parts->n, sizeof(*parts->at), by_offset);
}

static void add_part_name(const struct part *p, struct str *text)
{
	const char *name = p->name ? p->name : feature_name(p->id);

	if (name)
		str_add(text, name);
	else if (p->id >= SIMPLEPERF_SECTIONS)
		str_addf(text, "section %u (simpleperf's?)", p->id);
	else
		str_addf(text, "section %u (unknown)", p->id);
}

static void add_parts(const struct lint *l, const part_list *parts, struct str *text)
{
	str_addf(text, "\n%-*s %12s %12s\n", NAME_COLUMNS, "Parts", "offset", "bytes");
	vec_each(p, parts) {
		struct str name = {0};
		char offset[24];

		add_part_name(p, &name);
		snprintf(offset, sizeof(offset), "0x%llx", (unsigned long long)p->offset);
		str_addf(text, "  %-*s %12s ", NAME_COLUMNS - 2, str_text(&name), offset);
		add_number(text, p->size, 12);
		str_addc(text, '\n');
		str_fini(&name);
	}
	if (l->reader->file_size == UINT64_MAX)
		return;
	str_addf(text, "  %-*s %12s ", NAME_COLUMNS - 2, "the file", "");
	add_number(text, l->reader->file_size, 12);
	str_addc(text, '\n');
}

/* ---- what is in it ---- */

static void add_type_name(u32 type, struct str *text)
{
	const char *name = record_type_name(type);

	if (name)
		str_add(text, name);
	else if (type >= SIMPLEPERF_RECORDS)
		str_addf(text, "type %u (simpleperf's?)", type);
	else
		str_addf(text, "type %u (unknown)", type);
}

static void add_records(const struct survey *s, struct str *text)
{
	u64 bytes = 0, unknown = 0;

	str_addf(text, "\n%-*s %12s %12s\n", NAME_COLUMNS, "Records", "count", "bytes");
	vec_each(t, &s->types) {
		struct str name = {0};

		bytes += t->bytes;
		/* What is no recording can seem to have thousands of types. */
		if (!record_type_name(t->type) && unknown++ >= UNKNOWN_TYPES_SHOWN)
			continue;
		add_type_name(t->type, &name);
		str_addf(text, "  %-*s ", NAME_COLUMNS - 2, str_text(&name));
		add_number(text, t->n, 12);
		str_addc(text, ' ');
		add_number(text, t->bytes, 12);
		str_addc(text, '\n');
		str_fini(&name);
	}
	if (unknown > UNKNOWN_TYPES_SHOWN)
		str_addf(text, "  and %llu more types that are unknown\n",
			(unsigned long long)(unknown - UNKNOWN_TYPES_SHOWN));
	str_addf(text, "  %-*s ", NAME_COLUMNS - 2, "all");
	add_number(text, s->n_records, 12);
	str_addc(text, ' ');
	add_number(text, bytes, 12);
	str_addc(text, '\n');
}

static void add_times(const struct survey *s, struct str *text)
{
	str_addc(text, '\n');
	add_label(text, "Time");
	if (!s->first_time) {
		str_add(text, "records carry none\n");
		return;
	}
	str_add(text, "from ");
	add_seconds(text, s->first_time);
	str_add(text, " to ");
	add_seconds(text, s->last_time);
	str_add(text, ": ");
	add_seconds(text, s->last_time - s->first_time);
	str_addc(text, '\n');
}

/* ---- paragraphs of findings ---- */

/* Lines under a heading, which is there only if they are. */
struct paragraph {
	struct str *text;
	const char *heading;
	size_t n_lines;
};

static struct str *begin_line(struct paragraph *p)
{
	if (p->n_lines++)
		str_addf(p->text, "%*s", LABEL, "");
	else {
		str_addc(p->text, '\n');
		add_label(p->text, p->heading);
	}
	return p->text;
}

static void add_found(struct paragraph *p, const struct survey_finding *f, const char *is_what)
{
	struct str *text;

	if (!f->n)
		return;
	text = begin_line(p);
	add_count(text, f->n, "record");
	str_addf(text, " %s; the first at 0x%llx", is_what, (unsigned long long)f->offset);
	if (f->what) {
		str_add(text, ": ");
		add_safe(text, f->what);
	}
	str_addc(text, '\n');
}

static void add_behind(struct paragraph *p, const struct survey_finding *f, const char *what)
{
	struct str *text;

	if (!f->n)
		return;
	text = begin_line(p);
	add_count(text, f->n, "record");
	str_addf(text, " %s, at most by ", what);
	add_ns(text, f->worst_ns);
	str_addf(text, " (at 0x%llx)\n", (unsigned long long)f->worst_offset);
}

static void add_unordered(struct paragraph *p, const struct survey *s)
{
	struct str *text;

	if (!s->unordered.n)
		return;
	text = begin_line(p);
	add_count(text, s->unordered.n, "record");
	str_add(text, " out of the order of time, at most by ");
	add_ns(text, s->unordered.worst_ns);
	str_addf(text, " (at 0x%llx", (unsigned long long)s->unordered.worst_offset);
	if (s->unordered_bytes) {
		str_add(text, ", which belongs ");
		add_count(text, s->unordered_bytes, "byte");
		str_add(text, " earlier");
	}
	str_add(text, ")\n");
}

/*
 * perf makes room in its table for all sections it may write, before it knows which have nothing to
 * say.
 */
static bool is_spare_room(const struct part *before, u64 n)
{
	return before && before->name == table_name && n % sizeof(struct layout_section) == 0;
}

/* What the last section may be longer than it says: perf 5.6 does it by 4. */
static bool is_slack(u64 n)
{
	return n < sizeof(struct layout_section);
}

/* Parts that lie where others do or outside the file, and bytes that are in none. */
static void add_part_faults(struct paragraph *p, const struct reader *r, const part_list *parts)
{
	const struct part *before = NULL;
	u64 end = 0;

	vec_each(part, parts) {
		if (part->offset > end && !is_spare_room(before, part->offset - end))
			str_addf(begin_line(p), "%llu bytes at 0x%llx belong to no part\n",
				(unsigned long long)(part->offset - end), (unsigned long long)end);
		if (part->offset < end) {
			add_part_name(part, begin_line(p));
			str_addf(p->text, " begins at 0x%llx, inside the part before it\n",
				(unsigned long long)part->offset);
		}
		if (end_of(part) > r->file_size) {
			add_part_name(part, begin_line(p));
			str_addf(p->text, ", %llu bytes at 0x%llx, ends outside the file\n",
				(unsigned long long)part->size, (unsigned long long)part->offset);
		}
		end = MAX(end, end_of(part));
		before = part;
	}
	if (r->file_size > end && !is_slack(r->file_size - end))
		str_addf(begin_line(p), "%llu bytes at 0x%llx, behind the last part\n",
			(unsigned long long)(r->file_size - end), (unsigned long long)end);
}

/* Where the header contradicts itself or the file. */
static void add_layout_faults(struct paragraph *p, const struct lint *l, const part_list *parts)
{
	const struct reader *r = l->reader;
	const struct layout_header *h = &r->header;

	if (r->is_pipe_mode)
		return;
	if (h->size != sizeof(*h))
		str_addf(begin_line(p), "the header says it has %llu bytes, not %zu\n",
			(unsigned long long)h->size, sizeof(*h));
	if (h->attr_size && h->attrs.size % h->attr_size)
		str_addf(begin_line(p), "the attrs have %llu bytes, no multiple of %llu\n",
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
			"the header has a table of event types, %llu bytes, which nobody needs any more\n",
			(unsigned long long)h->event_types.size);
	if (r->info.events.n && r->info.events.n != r->events.n)
		str_addf(begin_line(p), "EVENT_DESC has %zu events, the header %zu\n",
			r->info.events.n, r->events.n);
}

/* Sizes of attrs that are not those of their places; sample fields that nobody knows. */
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
		add_count(begin_line(p), n, "event");
		str_addf(p->text, " with attrs of another size than the header's %llu bytes\n",
			(unsigned long long)room);
	}
	if (n_unknown) {
		add_count(begin_line(p), n_unknown, "event");
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
	const struct survey *s = l->survey;
	struct str *text;

	/* In pipe mode perf writes it before there are any. */
	if (!info->has_times || !info->last_time || !s->first_time ||
		(info->first_time >= s->first_time && info->last_time <= s->last_time))
		return;
	text = begin_line(p);
	str_add(text, "SAMPLE_TIME says from ");
	add_seconds(text, info->first_time);
	str_add(text, " to ");
	add_seconds(text, info->last_time);
	str_add(text, ", which records do not bear out\n");
}

static void add_odd(const struct lint *l, struct str *text)
{
	const struct survey *s = l->survey;
	struct paragraph p = {text, "Odd", 0};

	add_header_oddities(&p, l);
	add_attr_oddities(&p, l);
	add_unknown_sections(&p, l->reader);
	vec_each(note, &l->notes) {
		add_safe(begin_line(&p), *note);
		str_addc(text, '\n');
	}
	add_found(&p, &s->unknown, "of unknown types, skipped by their size (perf stops at them)");
	add_found(&p, &s->unaligned, "with a size that is no multiple of 8");
	add_unordered(&p, s);
	add_behind(&p, &s->late,
		"older than a FINISHED_ROUND before them allows: perf shows them out of order");
	add_behind(&p, &s->backwards, "behind a later one of the same thread and CPU");
	if (s->unordered.n && !survey_count(s, PERF_RECORD_FINISHED_ROUND))
		str_add(begin_line(&p),
			"no FINISHED_ROUND among them: readers that sort must hold all records at once\n");
	if (s->n_records && !s->n_samples)
		str_add(begin_line(&p), "no samples\n");
	add_sample_time(&p, l);
}

static void add_lost(const struct survey *s, struct str *text)
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
		add_count(begin_line(&p), lost[i].n, lost[i].unit);
		str_addf(text, " %s\n", lost[i].what);
	}
}

/* Returns how many contradictions are in the header. */
static size_t add_damage(const struct lint *l, const part_list *parts, struct str *text)
{
	const struct survey *s = l->survey;
	struct paragraph p = {text, "Damage", 0};
	size_t before;

	vec_each(warning, &l->warnings) {
		add_safe(begin_line(&p), *warning);
		str_addc(text, '\n');
	}
	if (s->damage.reason) {
		add_count(begin_line(&p), s->damage.bytes, "byte");
		str_addf(text, " from 0x%llx on were not read: %s\n",
			(unsigned long long)s->damage.offset, s->damage.reason);
	}
	add_found(&p, &s->undecoded, "without the fields their event says they have");
	add_found(&p, &s->foreign, "(samples) of events that the file does not describe");
	if (s->n_not_native) {
		add_count(begin_line(&p), s->n_not_native, "record");
		str_add(text, " that make no sense in the file's byte order\n");
	}
	before = p.n_lines;
	add_layout_faults(&p, l, parts);
	return p.n_lines - before;
}

/* ---- the verdict ---- */

static bool add_verdict(const struct lint *l, size_t n_contradictions, struct str *text)
{
	const struct reader *r = l->reader;
	const struct survey *s = l->survey;
	struct {
		u64 n; /* 0: not so; 1 without a unit: so */
		const char *unit, *what;
	} faults[] = {
		{r->is_unfinished, NULL, "its recorder never finished it"},
		{r->is_cut, NULL, "it is cut off"},
		{s->damage.reason ? s->damage.bytes : 0, "byte", "could not be read"},
		{s->damage.reason && !s->damage.bytes, NULL, s->damage.reason},
		{s->undecoded.n, "record", "do not decode"},
		{s->foreign.n, "sample", "belong to no event of it"},
		{s->n_not_native, "record", "make no sense"},
		{l->warnings.n && !r->is_unfinished && !r->is_cut ? l->warnings.n : 0, "fault",
			"outside its records"},
		{n_contradictions, "contradiction", "in its layout"},
	};
	const char *between = "\nThis file is damaged: ";

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!faults[i].n)
			continue;
		str_add(text, between);
		between = ", ";
		if (faults[i].unit) {
			add_count(text, faults[i].n, faults[i].unit);
			str_addc(text, ' ');
		}
		str_add(text, faults[i].what);
	}
	str_add(text, *between == ',' ? ".\n" : "\nThis file is whole.\n");
	return *between != ',';
}

bool lint_add_text(const struct lint *l, struct str *text)
{
	part_list parts = {0};
	size_t n_contradictions;

	add_label(text, "File");
	add_safe(text, strcmp(l->reader->path, "-") ? l->reader->path : "standard input");
	if (l->reader->file_size != UINT64_MAX) {
		str_add(text, ", ");
		add_count(text, l->reader->file_size, "byte");
	}
	str_addc(text, '\n');
	add_writer(l, text);
	add_command(&l->reader->info, text);
	add_dialect(l->reader, text);
	add_attr_size(l->reader, text);
	add_events(l, text);
	list_parts(l, &parts);
	add_parts(l, &parts, text);
	add_records(l->survey, text);
	add_times(l->survey, text);
	add_odd(l, text);
	add_lost(l->survey, text);
	n_contradictions = add_damage(l, &parts, text);
	vec_fini(&parts);
	return add_verdict(l, n_contradictions, text);
}
