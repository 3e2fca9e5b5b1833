/*
 * annotate_text.c - a function's code as plain text.
 */
#include "view/code/annotate.h"

#include "base/num.h"
#include "profile/code/hotrows.h"
#include "view/code/arrows.h"
#include "view/text/colour.h"

enum {
	PERCENT_WIDTH = 8,
	NUMBER_WIDTH = 12,
	SUMMARY_LINES = 20,
	EXCERPT_SUMMARY_LINES = 5,
	BYTES_SHOWN = 10,
	FRAMES_SHOWN = 6
};

#define SUMMARY_PERCENT 0.5

struct printing {
	const struct assembly *a;
	const struct annotate_options *options;
	struct str *text;
	struct arrows arrows;
	unsigned address_digits, bytes_width;
	/* the place of the row before */
	u32 first_frame, n_frames;
};

static void add_safe(struct str *text, const char *word)
{
	str_add_safe(text, word, strlen(word));
}

static bool has_event(const struct assembly *a, size_t e)
{
	return a->annotation->totals[e].n_samples != 0;
}

static size_t n_events(const struct assembly *a)
{
	return a->annotation->profile->events.n;
}

static unsigned column_width(const struct printing *p)
{
	return p->options->figure == ANNOTATE_PERCENT ? PERCENT_WIDTH : NUMBER_WIDTH;
}

static void add_percent(struct printing *p, double percent)
{
	const size_t start = p->text->n;

	str_addf(p->text, "%*.2f", PERCENT_WIDTH, percent);
	if (p->options->has_colour)
		colour_paint(p->text, start, colour_of_share(percent / 100));
}

/* counts: one for each event. */
static void add_figures(struct printing *p, const struct annotation_count *counts)
{
	for (size_t e = 0; e < n_events(p->a); e++) {
		const struct annotation_count *c = &counts[e];

		if (!has_event(p->a, e))
			continue;
		if (p->options->figure == ANNOTATE_PERCENT && !c->n_samples)
			/* Most instructions have no samples, and printf() is slow. */
			str_add_right(p->text, "0.00", PERCENT_WIDTH);
		else if (p->options->figure == ANNOTATE_PERCENT)
			add_percent(p, annotate_share(p->options, p->a, e, c));
		else
			str_addf(p->text, "%*llu", NUMBER_WIDTH,
				(unsigned long long)(p->options->figure == ANNOTATE_SAMPLES
						? c->n_samples
						: c->period));
	}
}

static void add_counts(struct printing *p, size_t counts)
{
	add_figures(p, &p->a->counts.at[counts]);
}

/* The beginning of a line that is not an instruction. */
static void begin_line(struct printing *p)
{
	for (size_t e = 0; e < n_events(p->a); e++)
		if (has_event(p->a, e))
			str_fill(p->text, ' ', column_width(p));
	str_add(p->text, " : ");
}

/* ---- above the code ---- */

static void add_title(struct printing *p)
{
	static const char *const figures[] = {
		[ANNOTATE_PERCENT] = " Percent",
		[ANNOTATE_SAMPLES] = "     Samples",
		[ANNOTATE_PERIOD] = "      Period",
	};
	const struct assembly *a = p->a;
	const struct profile *profile = a->annotation->profile;
	size_t start = p->text->n, n = 0;

	str_add(p->text, figures[p->options->figure]);
	for (size_t e = 0; e < n_events(a); e++)
		n += has_event(a, e);
	str_pad_right(p->text, start, column_width(p) * n);
	str_add(p->text, " |\tSource code & Disassembly of ");
	add_safe(p->text, a->dso->name);
	str_add(p->text, " for ");
	n = 0;
	for (size_t e = 0; e < n_events(a); e++)
		if (has_event(a, e)) {
			str_add(p->text, n++ ? ", " : "");
			add_safe(p->text, profile->events.at[e].name);
		}
	str_add(p->text, " (");
	n = 0;
	for (size_t e = 0; e < n_events(a); e++)
		if (has_event(a, e))
			str_addf(p->text, n++ ? ", %llu" : "%llu",
				(unsigned long long)a->annotation->counts
					.at[a->function->counts + e]
					.n_samples);
	str_addf(p->text, " samples, percent: %s)\n", annotate_share_name(p->options));
	n = p->text->n - start + 6;
	str_fill(p->text, '-', MIN(n, (size_t)120));
	str_addc(p->text, '\n');
}

/* "file.c:12", or with its directory. */
static void add_place(struct printing *p, u32 file, u32 line)
{
	const struct assembly_file *f = &p->a->files.at[file];

	add_safe(p->text, p->options->has_full_paths ? f->path : f->name);
	str_addf(p->text, ":%u", line);
}

static bool is_hot(const struct printing *p, size_t counts)
{
	for (size_t e = 0; e < n_events(p->a); e++)
		if (annotate_share(p->options, p->a, e, &p->a->counts.at[counts + e]) >=
			SUMMARY_PERCENT)
			return true;
	return false;
}

static void add_summary(struct printing *p)
{
	size_t n = 0, n_most = p->options->is_excerpt ? EXCERPT_SUMMARY_LINES : SUMMARY_LINES;

	if (!p->a->lines.n)
		return;
	str_add(p->text, "\nSorted summary for file ");
	add_safe(p->text, p->a->dso->path);
	str_add(p->text, "\n----------------------------------------------\n\n");
	vec_each(line, &p->a->lines) {
		if (!is_hot(p, line->counts))
			continue;
		if (++n > n_most)
			break;
		add_counts(p, line->counts);
		str_addc(p->text, ' ');
		add_place(p, line->file, line->line);
		str_addc(p->text, '\n');
	}
	if (!n)
		str_addf(p->text, "  no line has as much as %.1f%%\n", SUMMARY_PERCENT);
	str_addc(p->text, '\n');
}

static void add_note(struct printing *p, const char *begin, const char *subject, const char *rest)
{
	begin_line(p);
	str_addf(p->text, "%s", begin);
	add_safe(p->text, subject);
	str_addf(p->text, "%s\n", rest);
}

static void add_file_notes(struct printing *p)
{
	vec_each(f, &p->a->files) {
		if (f->source.state == SOURCE_FOUND)
			continue;
		begin_line(p);
		str_addc(p->text, '\'');
		add_safe(p->text, str_text(&f->source.path));
		if (f->source.state == SOURCE_NEWER)
			str_add(p->text,
				"' was changed after the program was built: its lines may have moved\n");
		else
			str_addf(p->text,
				"' is not shown: %s (--symfs and --prefix tell where sources are)\n",
				str_text(&f->source.why));
	}
}

static void add_notes(struct printing *p)
{
	const struct assembly *a = p->a;
	struct str begin = {0};
	size_t start = p->text->n;

	begin_line(p);
	str_add(&begin, p->text->at + start);
	str_cut(p->text, start);
	annotate_add_skid(p->options, a, str_text(&begin), p->text);
	str_fini(&begin);
	if (a->no_code.code)
		add_note(p, "no code: ", a->no_code.msg, "");
	else if (a->disasm.engine != DISASM_LLVM)
		add_note(p, "disassembled by ", str_text(&a->disasm.by),
			a->disasm.why.n ? ", because LLVM is not installed" : "");
	if (p->options->has_source && a->no_lines.n)
		add_note(p, "no source: ", str_text(&a->no_lines), "");
	if (p->options->has_source)
		add_file_notes(p);
}

/* ---- source lines ---- */

static bool has_same_functions(const struct printing *p, const struct assembly_row *row)
{
	const struct assembly_frame *was = p->a->frames.at + p->first_frame,
				    *is = p->a->frames.at + row->first_frame;

	if (p->n_frames != row->n_frames || was->file != is->file)
		return false;
	for (u32 i = 0; i < row->n_frames; i++)
		if (was[i].function != is[i].function ||
			(i && (was[i].line != is[i].line || was[i].file != is[i].file)))
			return false;
	return true;
}

/*
 * "f() x.c:12 < g() y.c:7": the function, and the functions that it is inlined into. Of very many only the innermost
 * and the last are shown.
 */
static void add_functions(struct printing *p, const struct assembly_row *row)
{
	u32 n_left = row->n_frames > FRAMES_SHOWN ? row->n_frames - FRAMES_SHOWN : 0;

	begin_line(p);
	for (u32 i = 0; i < row->n_frames; i++) {
		const struct assembly_frame *f = &p->a->frames.at[row->first_frame + i];

		if (n_left && i == FRAMES_SHOWN - 1) {
			str_addf(p->text, " < %u more", n_left);
			i += n_left - 1;
			continue;
		}
		str_add(p->text, i ? " < " : "");
		add_safe(p->text, f->function ? f->function : "??");
		str_add(p->text, "() ");
		if (f->file == ASSEMBLY_NONE)
			str_add(p->text, "??");
		else
			add_place(p, f->file, f->line);
	}
	str_addc(p->text, '\n');
}

static void add_source(struct printing *p, const struct assembly_row *row)
{
	const struct assembly_frame *f = p->a->frames.at + row->first_frame;
	const char *line;
	size_t n;

	if (!row->n_frames || (p->n_frames && row->first_frame == p->first_frame))
		return;
	if (!p->n_frames || !has_same_functions(p, row))
		add_functions(p, row);
	p->first_frame = row->first_frame;
	p->n_frames = row->n_frames;
	if (f->file == ASSEMBLY_NONE || !f->line)
		return;
	line = source_line(&p->a->files.at[f->file].source, f->line, &n);
	begin_line(p);
	if (!line) {
		add_place(p, f->file, f->line);
		str_addc(p->text, '\n');
		return;
	}
	str_addf(p->text, "%-5u ", f->line);
	/* Tabs are control characters too. */
	for (size_t i = 0, from = 0; i <= n; i++) {
		if (i < n && line[i] != '\t')
			continue;
		str_add_safe(p->text, line + from, i - from);
		from = i + 1;
		if (i < n)
			str_fill(p->text, ' ', 4);
	}
	while (p->text->n && p->text->at[p->text->n - 1] == ' ')
		str_cut(p->text, p->text->n - 1);
	str_addc(p->text, '\n');
}

/* ---- instructions ---- */

static void add_bytes(struct printing *p, size_t i)
{
	const u8 *bytes = assembly_bytes(p->a, i);
	size_t start = p->text->n;

	for (u32 k = 0; k < p->a->rows.at[i].size; k++)
		str_addf(p->text, "%02x ", bytes[k]);
	str_pad_right(p->text, start, p->bytes_width);
	str_addc(p->text, ' ');
}

/* The symbol at an address. Names are untrusted text. */
static void add_name(struct printing *p, const char *name)
{
	str_add(p->text, " <");
	add_safe(p->text, name);
	str_addc(p->text, '>');
}

static bool was_sampled(const struct printing *p, size_t counts)
{
	for (size_t e = 0; e < n_events(p->a); e++)
		if (p->a->counts.at[counts + e].n_samples)
			return true;
	return false;
}

static void add_row(struct printing *p, size_t i)
{
	const struct assembly *a = p->a;
	const struct assembly_row *row = &a->rows.at[i];
	const struct instruction *ins =
		a->no_code.code ? NULL : &a->disasm.listing.instructions.at[i];

	if (p->options->has_source)
		add_source(p, row);
	add_counts(p, row->counts);
	str_add(p->text, " :   ");
	str_add_hex(p->text, row->va, p->address_digits);
	str_addc(p->text, ':');
	if (ins) {
		str_add(p->text, "   ");
		arrows_add(&p->arrows, (u32)i, p->text);
		if (p->options->has_bytes && !ins->is_bad)
			add_bytes(p, i);
		str_add(p->text, assembly_text(a, i));
	}
	if (row->target)
		add_name(p, row->target);
	if (ins && ins->has_reference) {
		str_add(p->text, "        # 0x");
		str_add_hex(p->text, ins->reference, 0);
		if (row->reference)
			add_name(p, row->reference);
		if (row->literal) {
			str_addc(p->text, ' ');
			add_safe(p->text, row->literal);
		}
	}
	if (row->n_runs)
		str_addf(p->text, " ; %.1f cycles, IPC %.2f (%llu runs)",
			(double)row->n_run_cycles / (double)row->n_runs,
			(double)row->n_run_instructions / (double)row->n_run_cycles,
			(unsigned long long)row->n_runs);
	if (p->options->has_places && row->n_frames && was_sampled(p, row->counts)) {
		const struct assembly_frame *f = &a->frames.at[row->first_frame];

		str_add(p->text, " // ");
		if (f->file == ASSEMBLY_NONE)
			str_add(p->text, "??");
		else
			add_place(p, f->file, f->line);
	}
	str_addc(p->text, '\n');
}

static unsigned hex_digits(u64 v)
{
	unsigned n = 1;

	while (v >>= 4)
		n++;
	return n;
}

static void measure(struct printing *p)
{
	const struct assembly *a = p->a;
	u32 *to = mem_alloc((a->rows.n + 1) * sizeof(*to));
	u32 longest = 1;

	for (size_t i = 0; i < a->rows.n; i++) {
		to[i] = a->rows.at[i].to;
		longest = MAX(longest, a->rows.at[i].size);
	}
	arrows_init(&p->arrows, to, a->no_code.code ? 0 : (u32)a->rows.n);
	mem_free(to);
	p->bytes_width = 3 * MIN(longest, (u32)BYTES_SHOWN);
	if (a->rows.n)
		p->address_digits = hex_digits(a->rows.at[a->rows.n - 1].va);
}

static void add_outside(struct printing *p)
{
	for (size_t e = 0; e < n_events(p->a); e++) {
		if (!p->a->outside[e].n_samples)
			continue;
		begin_line(p);
		str_addf(p->text, "%llu samples of ",
			(unsigned long long)p->a->outside[e].n_samples);
		add_safe(p->text, p->a->annotation->profile->events.at[e].name);
		str_add(p->text, " lie outside these instructions\n");
	}
}

static void add_rows(struct printing *p, size_t from, size_t to, struct out *out)
{
	for (size_t i = from; i < to; i++) {
		add_row(p, i);
		out_flush_some(out);
	}
}

/* Sums up what is left out between two stretches; the next stretch shows its place again. */
static void add_gap(struct printing *p, size_t from, size_t to)
{
	struct annotation_count *sums = mem_zalloc(n_events(p->a) * sizeof(*sums));

	for (size_t i = from; i < to; i++)
		for (size_t e = 0; e < n_events(p->a); e++) {
			const struct annotation_count *c =
				&p->a->counts.at[p->a->rows.at[i].counts + e];

			sums[e].n_samples += c->n_samples;
			sums[e].period += c->period;
		}
	p->n_frames = 0;
	if (from < to) {
		add_figures(p, sums);
		str_addf(p->text, " :   ... %zu more\n", to - from);
	}
	mem_free(sums);
}

static void add_excerpt(struct printing *p, struct out *out)
{
	struct hotrows hot;
	size_t end = 0;

	hotrows_init(&hot, p->a, (size_t)p->options->around);
	vec_each(s, &hot.spans) {
		add_gap(p, end, s->from);
		add_rows(p, s->from, s->to, out);
		end = s->to;
	}
	add_gap(p, end, p->a->rows.n);
	hotrows_fini(&hot);
}

void annotate_text(struct out *out, const struct assembly *a, const struct annotate_options *o)
{
	struct printing p = {.a = a, .options = o, .text = &out->text};

	measure(&p);
	if (!o->is_quiet)
		add_summary(&p);
	add_title(&p);
	if (!o->is_quiet)
		add_notes(&p);
	begin_line(&p);
	str_addf(p.text, "%016llx <", (unsigned long long)a->va);
	add_safe(p.text, a->symbol->name);
	str_add(p.text, ">:\n");
	if (o->is_excerpt)
		add_excerpt(&p, out);
	else
		add_rows(&p, 0, a->rows.n, out);
	add_outside(&p);
	arrows_fini(&p.arrows);
}
