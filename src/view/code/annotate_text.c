/*
 * annotate_text.c - a function's code as plain text.
 */
#include "view/code/annotate_line.h"

#include "profile/code/hotrows.h"
#include "view/code/arrows.h"
#include "view/text/colour.h"

enum {
	SUMMARY_LINES = 20,
	EXCERPT_SUMMARY_LINES = 5,
};

#define SUMMARY_PERCENT 0.5

struct printing {
	const struct assembly *a;
	const struct rowtypes *types; /* NULL: not wanted */
	const struct annotate_options *options;
	struct str *text;
	struct arrows arrows;
	unsigned address_digits;
	struct annotate_place place; /* of the row before */
};

static void add_safe(struct str *text, const char *word)
{
	str_add_safe(text, word, strlen(word));
}

static size_t n_events(const struct assembly *a)
{
	return a->annotation->profile->events.n;
}

/* counts: one for each event. */
static void add_figures(struct printing *p, const struct annotation_count *counts)
{
	for (size_t e = 0; e < n_events(p->a); e++) {
		const size_t start = p->text->n;

		if (!annotate_has_event(p->a, e))
			continue;
		annotate_add_figure(p->options, p->a, e, &counts[e], p->text);
		if (p->options->has_colour && p->options->figure == ANNOTATE_PERCENT &&
			counts[e].n_samples)
			colour_paint(p->text, start,
				colour_of_share(
					annotate_share(p->options, p->a, e, &counts[e]) / 100));
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
		if (annotate_has_event(p->a, e))
			str_fill(p->text, ' ', annotate_figure_width(p->options));
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
		n += annotate_has_event(a, e);
	str_pad_right(p->text, start, annotate_figure_width(p->options) * n);
	str_add(p->text, " |\tSource code & Disassembly of ");
	add_safe(p->text, a->dso->name);
	str_add(p->text, " for ");
	n = 0;
	for (size_t e = 0; e < n_events(a); e++)
		if (annotate_has_event(a, e)) {
			str_add(p->text, n++ ? ", " : "");
			add_safe(p->text, profile->events.at[e].name);
		}
	str_add(p->text, " (");
	n = 0;
	for (size_t e = 0; e < n_events(a); e++)
		if (annotate_has_event(a, e))
			str_addf(p->text, n++ ? ", %llu" : "%llu",
				(unsigned long long)a->annotation->counts
					.at[a->function->counts + e]
					.n_samples);
	str_addf(p->text, " samples, percent: %s)\n", annotate_share_name(p->options));
	n = p->text->n - start + 6;
	str_fill(p->text, '-', MIN(n, (size_t)120));
	str_addc(p->text, '\n');
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
		annotate_add_place(p->options, p->a, line->file, line->line, p->text);
		str_addc(p->text, '\n');
	}
	if (!n)
		str_addf(p->text, "  no line has as much as %.1f%%\n", SUMMARY_PERCENT);
	str_addc(p->text, '\n');
}

/* Takes what begin_line() adds for the beginning of each line. */
static void add_lines(struct printing *p,
	void (*add)(const struct annotate_options *o, const struct assembly *a, const char *begin,
		struct str *text))
{
	struct str begin = {0};
	const size_t start = p->text->n;

	begin_line(p);
	str_add(&begin, p->text->at + start);
	str_cut(p->text, start);
	add(p->options, p->a, str_text(&begin), p->text);
	str_fini(&begin);
}

static void add_no_types(struct printing *p)
{
	if (!p->types || p->types->answers)
		return;
	begin_line(p);
	str_add(p->text, "no data types: ");
	add_safe(p->text, p->types->why.msg);
	str_addc(p->text, '\n');
}

/* ---- the code ---- */

static void add_headings(struct printing *p, const struct assembly_row *row)
{
	const unsigned what = annotate_headings(p->a, row, &p->place);

	if (what & ANNOTATE_FUNCTIONS) {
		begin_line(p);
		annotate_add_functions(p->options, p->a, row, p->text);
		str_addc(p->text, '\n');
	}
	if (what & ANNOTATE_SOURCE) {
		begin_line(p);
		annotate_add_source(p->options, p->a, row, p->text);
		str_addc(p->text, '\n');
	}
}

/* As perf writes it, and last in the line, so that scripts find it. */
static void add_type(struct printing *p, size_t i)
{
	const struct datatype_answer *a = p->types ? rowtypes_found(p->types, i) : NULL;

	if (!a)
		return;
	str_add(p->text, "\t\t# data-type: ");
	datatype_add_place(p->text, a->type, a->offset, a->member);
}

static void add_row(struct printing *p, size_t i)
{
	const struct assembly_row *row = &p->a->rows.at[i];

	if (p->options->has_source)
		add_headings(p, row);
	add_counts(p, row->counts);
	str_add(p->text, " :   ");
	str_add_hex(p->text, row->va, p->address_digits);
	str_addc(p->text, ':');
	if (!p->a->no_code.code) {
		str_add(p->text, "   ");
		arrows_add(&p->arrows, (u32)i, p->text);
	}
	annotate_add_instruction(p->options, p->a, i, p->text);
	add_type(p, i);
	str_addc(p->text, '\n');
}

static void measure(struct printing *p)
{
	const struct assembly *a = p->a;
	u32 *to = mem_alloc((a->rows.n + 1) * sizeof(*to));

	for (size_t i = 0; i < a->rows.n; i++)
		to[i] = a->rows.at[i].to;
	arrows_init(&p->arrows, to, a->no_code.code ? 0 : (u32)a->rows.n);
	mem_free(to);
	p->address_digits = annotate_address_digits(a);
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
	p->place = (struct annotate_place){0};
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

void annotate_text(struct out *out, const struct assembly *a, const struct rowtypes *types,
	const struct annotate_options *o)
{
	struct printing p = {.a = a, .types = types, .options = o, .text = &out->text};

	measure(&p);
	if (!o->is_quiet)
		add_summary(&p);
	add_title(&p);
	if (!o->is_quiet) {
		add_lines(&p, annotate_add_notes);
		add_no_types(&p);
	}
	begin_line(&p);
	str_addf(p.text, "%016llx <", (unsigned long long)a->va);
	add_safe(p.text, a->symbol->name);
	str_add(p.text, ">:\n");
	if (o->is_excerpt)
		add_excerpt(&p, out);
	else
		add_rows(&p, 0, a->rows.n, out);
	add_lines(&p, annotate_add_outside);
	arrows_fini(&p.arrows);
}
