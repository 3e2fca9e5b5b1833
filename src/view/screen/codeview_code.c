/*
 * codeview_code.c - the function that a view of code has open: its lines, its hottest instructions, where it leads.
 */
#include "view/screen/codeview.h"

#include <stdlib.h>
#include <string.h>

#include "view/code/annotate_line.h"

/* ---- lines ---- */

/* Sentences take several lines rather than more than a small terminal shows. */
static void wrap(char *text)
{
	enum { COLUMNS = 58 };
	char *start = text, *blank = NULL;

	for (char *at = text; *at; at++) {
		if (*at == '\n') {
			start = at + 1;
			blank = NULL;
		} else if (*at == ' ') {
			blank = at;
		}
		if (at - start >= COLUMNS && blank) {
			*blank = '\n';
			start = blank + 1;
			blank = NULL;
		}
	}
}

static void add_notes(struct codeview *v)
{
	const char *text;

	str_cut(&v->notes, 0);
	annotate_add_notes(&v->shown, &v->assembly, "", &v->notes);
	annotate_add_outside(&v->shown, &v->assembly, "", &v->notes);
	if (v->notes.n)
		wrap(v->notes.at);
	text = str_text(&v->notes);
	for (size_t at = 0; at < v->notes.n; at += strcspn(text + at, "\n") + 1)
		vec_add(&v->lines, ((struct codeview_line){(u32)at, CODEVIEW_NOTE}));
}

static void make_lines(struct codeview *v)
{
	struct annotate_place place = {0};

	v->lines.n = 0;
	add_notes(v);
	for (u32 i = 0; i < v->assembly.rows.n; i++) {
		const struct assembly_row *row = &v->assembly.rows.at[i];
		const unsigned above =
			v->shown.has_source ? annotate_headings(&v->assembly, row, &place) : 0;

		if (above & ANNOTATE_FUNCTIONS)
			vec_add(&v->lines, ((struct codeview_line){i, CODEVIEW_FUNCTIONS}));
		if (above & ANNOTATE_SOURCE)
			vec_add(&v->lines, ((struct codeview_line){i, CODEVIEW_SOURCE}));
		v->line_of[i] = (u32)v->lines.n;
		vec_add(&v->lines, ((struct codeview_line){i, CODEVIEW_INSTRUCTION}));
	}
}

u32 codeview_row(const struct codeview *v)
{
	const struct codeview_line *line = v->line < v->lines.n ? &v->lines.at[v->line] : NULL;

	return line && line->kind != CODEVIEW_NOTE ? line->row : 0;
}

void codeview_to_row(struct codeview *v, u32 row)
{
	if (row < v->assembly.rows.n)
		v->line = v->line_of[row];
}

void codeview_set_lines(struct codeview *v)
{
	const u32 row = codeview_row(v);

	make_lines(v);
	codeview_to_row(v, row);
}

void codeview_add_line(const struct codeview *v, size_t line, struct str *text)
{
	const struct codeview_line *l = &v->lines.at[line];
	const struct assembly_row *row = &v->assembly.rows.at[l->row];
	const char *note;

	switch ((enum codeview_kind)l->kind) {
	case CODEVIEW_NOTE:
		note = str_text(&v->notes) + l->row;
		str_addn(text, note, strcspn(note, "\n"));
		break;
	case CODEVIEW_FUNCTIONS:
		annotate_add_functions(&v->shown, &v->assembly, row, text);
		break;
	case CODEVIEW_SOURCE:
		annotate_add_source(&v->shown, &v->assembly, row, text);
		break;
	case CODEVIEW_INSTRUCTION:
		annotate_add_instruction(&v->shown, &v->assembly, l->row, text);
		break;
	}
}

bool codeview_is_found(const struct codeview *v, size_t line)
{
	const char *names[NAMESEARCH_FIELDS] = {NULL};
	struct str text = {0};
	bool is_found;

	if (!v->pattern.words.n)
		return false;
	codeview_add_line(v, line, &text);
	names[NAMESEARCH_NAME] = str_text(&text);
	is_found = namesearch_matches(&v->pattern, names);
	str_fini(&text);
	return is_found;
}

/* ---- the hottest instructions ---- */

static u64 heat(const struct codeview *v, u32 row, size_t e)
{
	const struct annotation_count *c =
		&v->assembly.counts.at[v->assembly.rows.at[row].counts + e];

	return v->shown.is_by_hits || v->shown.figure == ANNOTATE_SAMPLES ? c->n_samples
									  : c->period;
}

static size_t n_events(const struct codeview *v)
{
	return v->assembly.annotation->profile->events.n;
}

/* By the first event in which they differ. */
static int by_heat(const void *left, const void *right, void *ctx)
{
	const u32 l = *(const u32 *)left, r = *(const u32 *)right;

	for (size_t e = 0; e < n_events(ctx); e++)
		if (heat(ctx, l, e) != heat(ctx, r, e))
			return heat(ctx, l, e) < heat(ctx, r, e) ? 1 : -1;
	return l < r ? -1 : l > r;
}

void codeview_sort(struct codeview *v)
{
	v->hot.n = 0;
	for (u32 i = 0; i < v->assembly.rows.n; i++) {
		bool is_hot = false;

		for (size_t e = 0; e < n_events(v); e++)
			is_hot |= heat(v, i, e) != 0;
		if (is_hot)
			vec_add(&v->hot, i);
	}
	if (v->hot.n)
		qsort_r(v->hot.at, v->hot.n, sizeof(*v->hot.at), by_heat, v);
	v->hottest = 0;
}

/* ---- opening and closing ---- */

void codeview_load_types(struct codeview *v)
{
	rowtypes_fini(&v->types);
	if (v->shown.has_types)
		rowtypes_init(&v->types, &v->assembly, v->source->resolver, &v->files);
}

void codeview_close(struct codeview *v)
{
	rowtypes_fini(&v->types);
	/* What measures now lets files go between two functions. */
	typefiles_fini(&v->files);
	assembly_fini(&v->assembly);
	mem_free(v->line_of);
	v->line_of = NULL;
}

void codeview_open(struct codeview *v, const struct codeview_place *place)
{
	const struct annotation *annotation = v->source->annotation;

	v->at = *place;
	if (v->at.function != ANNOTATION_NONE)
		assembly_init(&v->assembly, annotation, &annotation->functions.at[v->at.function],
			v->source->resolver, &v->how);
	else
		assembly_init_unsampled(&v->assembly, annotation, &v->at.symbol,
			v->source->resolver, &v->how);
	v->line_of = mem_zalloc((v->assembly.rows.n + 1) * sizeof(*v->line_of));
	v->line = v->first = 0;
	v->shift = 0;
	make_lines(v);
	codeview_sort(v);
	codeview_load_types(v);
	codeview_to_row(v, v->at.row != ASSEMBLY_NONE ? v->at.row : v->hot.n ? v->hot.at[0] : 0);
}

void codeview_add_lead(struct codeview *v, struct str *text)
{
	const struct assembly *a = &v->assembly;
	const struct codeview_line *line = v->line < v->lines.n ? &v->lines.at[v->line] : NULL;

	if (!line || line->kind != CODEVIEW_INSTRUCTION)
		return;
	if (a->rows.at[line->row].to != ASSEMBLY_NONE) {
		str_add(text, "go to ");
		str_add_hex(text, a->rows.at[a->rows.at[line->row].to].va, 0);
	} else if (a->rows.at[line->row].target && !a->no_code.code) {
		str_add(text, "open ");
		str_add_safe(text, a->rows.at[line->row].target,
			strlen(a->rows.at[line->row].target));
	}
}
