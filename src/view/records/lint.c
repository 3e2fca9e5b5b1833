#include "view/records/lint.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "event/abi.h"
#include "view/records/findings.h"
#include "view/records/parts.h"
#include "view/text/words.h"

enum {
	NAME_COLUMNS = 32, /* of the first column of tables, at least */
	NAME_COLUMNS_MAX = 64,
	UNKNOWN_TYPES_SHOWN = 8,
	SIMPLEPERF_RECORDS = 32768,
};

/* The first perf that reads attrs of a size: perf refuses files whose attrs are larger than its own. */
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

/* ---- what it is ---- */

static bool is_simpleperf(const struct lint *l)
{
	const host_names *cmdline = &l->reader->info.cmdline;

	for (unsigned id = LAYOUT_SIMPLEPERF; id < LAYOUT_OWN; id++)
		if (l->reader->sections[id].size)
			return true;
	return cmdline->n && strstr(cmdline->at[0], "simpleperf");
}

static void add_writer(const struct lint *l, struct str *text)
{
	const struct file_info *info = &l->reader->info;
	const struct host *h = &info->host;

	words_add_label(text, "Written by");
	if (is_simpleperf(l))
		str_add(text, "simpleperf (judging by its sections or command)");
	else if (info->version && !strncmp(info->version, "pace ", 5))
		words_add_safe(text, info->version);
	else if (info->version) {
		str_add(text, *info->version ? "perf " : "perf (the version is not given)");
		words_add_safe(text, info->version);
	} else
		str_add(text, "unknown: the file does not say");
	if (h->release) {
		str_add(text, ", on Linux ");
		words_add_safe(text, h->release);
	}
	if (h->arch) {
		str_add(text, ", ");
		words_add_safe(text, h->arch);
	}
	if (h->cpus_online)
		str_addf(text, ", %u CPU%s", h->cpus_online, h->cpus_online == 1 ? "" : "s");
	str_addc(text, '\n');
}

static void add_command(const struct file_info *info, struct str *text)
{
	if (!info->cmdline.n)
		return;
	words_add_label(text, "Command");
	vec_each(word, &info->cmdline) {
		if (word != info->cmdline.at)
			str_addc(text, ' ');
		words_add_safe(text, *word);
	}
	str_addc(text, '\n');
}

static void add_dialect(const struct reader *r, struct str *text)
{
	words_add_label(text, "Dialect");
	str_add(text,
		r->is_directory           ? "directory with a file for each thread of the recorder"
			: r->is_pipe_mode ? "pipe mode: no sections, records hold everything"
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
	words_add_label(text, "Attr size");
	str_addf(text, "%u bytes: ", size);
	if (perf)
		str_addf(text, "perf %s and later can read it\n", perf);
	else
		str_add(text, "larger than that of any perf that this version of pace knows\n");
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

/* The columns that the longest name needs, within limits. */
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
		words_add_column(text, e->name, columns - 2);
		str_addc(text, ' ');
		words_add_number(text, l->inspection->events.at[i].n_samples, 12);
		str_addc(text, ' ');
		words_add_number(text, l->inspection->events.at[i].n_dropped, 12);
		str_addf(text, " %6u", e->n_ids);
		add_sampling(&e->attr, text);
		str_addc(text, '\n');
	}
}

/* ---- what is in it ---- */

static void add_parts(const struct lint *l, const struct parts *parts, struct str *text)
{
	str_addf(text, "\n%-*s %12s %12s\n", NAME_COLUMNS, "Parts", "offset", "bytes");
	vec_each(p, parts) {
		struct str name = {0};
		char offset[24];

		parts_add_name(p, &name);
		snprintf(offset, sizeof(offset), "0x%llx", (unsigned long long)p->offset);
		str_addf(text, "  %-*s %12s ", NAME_COLUMNS - 2, str_text(&name), offset);
		words_add_number(text, p->size, 12);
		str_addc(text, '\n');
		str_fini(&name);
	}
	if (l->reader->file_size == UINT64_MAX)
		return;
	str_addf(text, "  %-*s %12s ", NAME_COLUMNS - 2, "the file", "");
	words_add_number(text, l->reader->file_size, 12);
	str_addc(text, '\n');
}

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

static void add_records(const struct inspection *s, struct str *text)
{
	u64 bytes = 0, unknown = 0;

	str_addf(text, "\n%-*s %12s %12s\n", NAME_COLUMNS, "Records", "count", "bytes");
	vec_each(t, &s->types) {
		struct str name = {0};

		bytes += t->bytes;
		/* A file that is not a recording can seem to have thousands of types. */
		if (!record_type_name(t->type) && unknown++ >= UNKNOWN_TYPES_SHOWN)
			continue;
		add_type_name(t->type, &name);
		str_addf(text, "  %-*s ", NAME_COLUMNS - 2, str_text(&name));
		words_add_number(text, t->n, 12);
		str_addc(text, ' ');
		words_add_number(text, t->bytes, 12);
		str_addc(text, '\n');
		str_fini(&name);
	}
	if (unknown > UNKNOWN_TYPES_SHOWN)
		str_addf(text, "  and %llu more unknown types\n",
			(unsigned long long)(unknown - UNKNOWN_TYPES_SHOWN));
	str_addf(text, "  %-*s ", NAME_COLUMNS - 2, "all");
	words_add_number(text, s->n_records, 12);
	str_addc(text, ' ');
	words_add_number(text, bytes, 12);
	str_addc(text, '\n');
}

static void add_times(const struct inspection *s, struct str *text)
{
	str_addc(text, '\n');
	words_add_label(text, "Time");
	if (!s->first_time) {
		str_add(text, "records have no times\n");
		return;
	}
	str_add(text, "from ");
	words_add_seconds(text, s->first_time);
	str_add(text, " to ");
	words_add_seconds(text, s->last_time);
	str_add(text, ": ");
	words_add_seconds(text, s->last_time - s->first_time);
	str_addc(text, '\n');
}

/* ---- the verdict ---- */

static bool add_verdict(const struct lint *l, size_t n_contradictions, struct str *text)
{
	const struct reader *r = l->reader;
	const struct inspection *s = l->inspection;
	struct {
		u64 n; /* 0: no fault; without a unit 1: a fault */
		const char *unit, *what;
	} faults[] = {
		{r->is_unfinished || (r->early.size && !r->n_behind), NULL,
			"its recorder never finished it"},
		{r->n_behind, "record", "after the end of data that its header gives"},
		{r->is_cut, NULL, "it is cut off"},
		{s->damage.reason ? s->damage.bytes : 0, "byte", "could not be read"},
		{s->damage.reason && !s->damage.bytes, NULL, s->damage.reason},
		{s->undecoded.n, "record", "do not decode"},
		{s->odd.n, "record", "with impossible values"},
		{s->foreign.n, "sample", "of events that it does not describe"},
		{s->n_not_native, "record", "not valid in its byte order"},
		{l->warnings.n && !r->is_unfinished && !r->is_cut && !r->n_behind ? l->warnings.n
										  : 0,
			"fault", "outside its records"},
		{n_contradictions, "contradiction", "in its layout"},
	};
	const char *between = "\nThis file is damaged: ";

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!faults[i].n)
			continue;
		str_add(text, between);
		between = ", ";
		if (faults[i].unit) {
			words_add_count(text, faults[i].n, faults[i].unit);
			str_addc(text, ' ');
		}
		str_add(text, faults[i].what);
	}
	str_add(text, *between == ',' ? ".\n" : "\nThis file is whole.\n");
	return *between != ',';
}

bool lint_add_text(const struct lint *l, struct str *text)
{
	struct parts parts = {0};
	size_t n_contradictions;

	words_add_label(text, "File");
	words_add_safe(text, strcmp(l->reader->path, "-") ? l->reader->path : "standard input");
	if (l->reader->file_size != UINT64_MAX) {
		str_add(text, ", ");
		words_add_count(text, l->reader->file_size, "byte");
	}
	str_addc(text, '\n');
	add_writer(l, text);
	add_command(&l->reader->info, text);
	add_dialect(l->reader, text);
	add_attr_size(l->reader, text);
	add_events(l, text);
	parts_list(l->reader, &parts);
	add_parts(l, &parts, text);
	add_records(l->inspection, text);
	add_times(l->inspection, text);
	findings_add_odd(l, &parts, text);
	findings_add_lost(l->inspection, text);
	n_contradictions = findings_add_damage(l, &parts, text);
	parts_fini(&parts);
	return add_verdict(l, n_contradictions, text);
}
