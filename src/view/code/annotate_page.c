#include "view/code/annotate_page.h"

#include <stdlib.h>

#include "base/json.h"
#include "profile/rows/key.h"

enum { AROUND = 10, LINES_AROUND = 3, LINES_MOST = 3000 };

struct writing {
	struct str *text;
	struct assembly *a;
	const u32 *events;
	size_t n_events;
	bool *is_shown; /* by row */
};

struct file_line {
	u32 file, line;
};

typedef VEC(struct file_line) file_lines;

static u64 samples_of(const struct writing *w, size_t row)
{
	const struct annotation_count *counts = &w->a->counts.at[w->a->rows.at[row].counts];
	u64 n = 0;

	for (size_t e = 0; e < w->n_events; e++)
		n += counts[w->events[e]].n_samples;
	return n;
}

/* ---- which rows ---- */

/* Shows rows with that many samples, and those around them; returns how many they are. */
static size_t show_rows(struct writing *w, u64 least)
{
	const size_t n = w->a->rows.n;
	size_t n_shown = 0, until = 0;

	memset(w->is_shown, 0, n);
	for (size_t i = 0; i < n; i++) {
		if (samples_of(w, i) < least)
			continue;
		for (size_t k = MAX(until, i < AROUND ? 0 : i - AROUND); k < MIN(n, i + AROUND + 1);
			k++) {
			w->is_shown[k] = true;
			n_shown++;
			until = k + 1;
		}
	}
	return n_shown;
}

static void choose_rows(struct writing *w)
{
	u64 least = w->a->rows.n > ANNOTATE_PAGE_ROWS;

	while (show_rows(w, least) > ANNOTATE_PAGE_ROWS)
		least *= 2;
}

/* ---- source ---- */

static int by_place(const void *a, const void *b)
{
	const struct file_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* The lines that the rows come from, in order, each once. */
static void find_lines(const struct writing *w, file_lines *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < w->a->rows.n; i++) {
		const struct assembly_row *row = &w->a->rows.at[i];

		for (u32 k = 0; w->is_shown[i] && k < row->n_frames; k++) {
			const struct assembly_frame *f = &w->a->frames.at[row->first_frame + k];

			if (f->file != ASSEMBLY_NONE && f->line)
				vec_add(ret, ((struct file_line){f->file, f->line}));
		}
	}
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), by_place);
	vec_each(line, ret)
		if (!n || by_place(&ret->at[n - 1], line))
			ret->at[n++] = *line;
	ret->n = n;
}

static bool add_line(struct writing *w, u32 file, u32 number)
{
	struct str copy = {0};
	size_t n;
	const char *line = source_line(&w->a->files.at[file].source, number, &n);

	if (!line)
		return false;
	str_addn(&copy, line, n);
	json_element(w->text, str_text(&copy));
	str_fini(&copy);
	return true;
}

/* Adds a file's lines as stretches: where lines are near each other, what is between them too. */
static void add_stretches(struct writing *w, u32 file, const file_lines *lines, size_t *n_left)
{
	u32 next = 0; /* the line after the last one */

	vec_each(l, lines) {
		const u32 first = l->line > LINES_AROUND ? l->line - LINES_AROUND : 1;

		if (l->file != file)
			continue;
		if (!next || first > next) {
			if (next)
				json_close(w->text, ']');
			next = first;
			str_addc(w->text, '[');
			json_element_u64(w->text, next);
		}
		for (; next <= l->line + LINES_AROUND && *n_left; (*n_left)--, next++)
			if (!add_line(w, file, next))
				break;
	}
	if (next)
		json_close(w->text, ']');
}

static void add_files(struct writing *w)
{
	size_t n_left = LINES_MOST;
	file_lines lines = {0};

	find_lines(w, &lines);
	json_open(w->text, "files", '[');
	for (u32 i = 0; i < w->a->files.n; i++) {
		struct assembly_file *file = &w->a->files.at[i];

		str_addc(w->text, '{');
		json_text(w->text, "path", file->path);
		if (file->source.state == SOURCE_MISSING)
			json_text(w->text, "why", str_text(&file->source.why));
		if (file->source.state == SOURCE_NEWER)
			json_text(w->text, "why",
				"changed after the program was built: lines may have moved");
		json_open(w->text, "lines", '[');
		if (file->source.state != SOURCE_MISSING)
			add_stretches(w, i, &lines, &n_left);
		json_close(w->text, ']');
		json_close(w->text, '}');
	}
	json_close(w->text, ']');
	vec_fini(&lines);
}

/* ---- rows ---- */

static bool is_new_chain(const struct assembly_row *row, const struct assembly_row *before)
{
	return row->n_frames &&
		(!before || !before->n_frames || row->first_frame != before->first_frame);
}

/* The chains of the rows that are shown, in their order; of neighbours with the same one, once. */
static void add_chains(struct writing *w)
{
	const struct assembly_row *before = NULL;

	json_open(w->text, "chains", '[');
	for (size_t i = 0; i < w->a->rows.n; i++) {
		const struct assembly_row *row = &w->a->rows.at[i];

		if (!w->is_shown[i])
			continue;
		if (is_new_chain(row, before)) {
			str_addc(w->text, '[');
			for (u32 k = 0; k < row->n_frames; k++) {
				const struct assembly_frame *f =
					&w->a->frames.at[row->first_frame + k];

				str_addc(w->text, '[');
				json_element(w->text, f->function ? f->function : "??");
				str_addf(w->text, "%d,",
					f->file == ASSEMBLY_NONE ? -1 : (int)f->file);
				json_element_u64(w->text, f->line);
				json_close(w->text, ']');
			}
			json_close(w->text, ']');
		}
		before = row;
	}
	json_close(w->text, ']');
}

void annotate_page_add_counts(struct str *text, const struct annotation_count *counts,
	const u32 *events, size_t n_events)
{
	for (size_t e = 0; e < n_events; e++) {
		const struct annotation_count *c = &counts[events[e]];

		if (!c->n_samples)
			continue;
		json_element_u64(text, e);
		json_element_u64(text, c->n_samples);
		json_element_u64(text, c->period);
	}
}

static void add_row(struct writing *w, size_t i, s64 chain)
{
	const struct assembly_row *row = &w->a->rows.at[i];
	const struct annotation_count *counts = &w->a->counts.at[row->counts];
	const char *refers = row->target ? row->target
		: row->reference         ? row->reference
					 : row->literal;

	str_addc(w->text, '[');
	json_element_u64(w->text, i);
	json_element_u64(w->text, row->va - w->a->va);
	json_element(w->text, assembly_text(w->a, i));
	json_element(w->text, refers ? refers : "");
	str_addf(w->text, "%lld,%lld,", row->to == ASSEMBLY_NONE ? -1LL : (long long)row->to,
		(long long)chain);
	annotate_page_add_counts(w->text, counts, w->events, w->n_events);
	json_close(w->text, ']');
}

static void add_rows(struct writing *w)
{
	const struct assembly_row *before = NULL;
	s64 chain = -1;

	json_open(w->text, "rows", '[');
	for (size_t i = 0; i < w->a->rows.n; i++) {
		const struct assembly_row *row = &w->a->rows.at[i];

		if (!w->is_shown[i])
			continue;
		chain += is_new_chain(row, before);
		add_row(w, i, row->n_frames ? chain : -1);
		before = row;
	}
	json_close(w->text, ']');
}

/* ---- the function ---- */

static void add_counts(struct writing *w)
{
	const struct annotation *annotation = w->a->annotation;

	json_open(w->text, "counts", '[');
	for (size_t e = 0; e < w->n_events; e++) {
		const struct annotation_count *c =
			&annotation->counts.at[w->a->function->counts + w->events[e]];

		json_element_u64(w->text, c->n_samples);
		json_element_u64(w->text, c->period);
	}
	json_close(w->text, ']');
}

static void add_names(struct writing *w)
{
	struct str name = {0};

	/* As in the tree, so that the page finds it. */
	key_add_symbol(w->a->symbol, &name);
	json_text(w->text, "name", str_text(&name));
	str_clear(&name);
	str_add_safe(&name, w->a->dso->name, strlen(w->a->dso->name));
	json_text(w->text, "dso", str_text(&name));
	str_fini(&name);
}

void annotate_page_add(struct str *text, struct assembly *a, const u32 *events, size_t n_events)
{
	struct writing w = {text, a, events, n_events, mem_zalloc(a->rows.n + 1)};

	choose_rows(&w);
	str_addc(text, '{');
	add_names(&w);
	json_hex(text, "start", a->va);
	json_u64(text, "size", a->symbol->end - a->symbol->start);
	add_counts(&w);
	if (a->no_code.code) {
		json_text(text, "no_code", a->no_code.msg);
	} else {
		json_text(text, "code_from", str_text(&a->code.origin));
		json_text(text, "by", str_text(&a->disasm.by));
	}
	if (a->no_lines.n)
		json_text(text, "no_lines", str_text(&a->no_lines));
	json_u64(text, "n_rows", a->rows.n);
	add_files(&w);
	add_chains(&w);
	add_rows(&w);
	json_close(text, '}');
	mem_free(w.is_shown);
}
