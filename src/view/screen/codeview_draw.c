#include "view/screen/codeview.h"

#include <string.h>

#include "view/code/annotate_line.h"
#include "view/screen/heat.h"

enum { HEAD_LINES = 2, FOOT_LINES = 1, LANE = 4 };

static const struct grid_style plain,
	bold = {.attributes = GRID_BOLD}, dim = {.attributes = GRID_DIM},
	reverse = {.attributes = GRID_REVERSE}, source_style = {.fg = GRID_RGB(0x5fafaf)},
	type_style = {.fg = GRID_RGB(0xaf87d7)};

/* ---- the jump under the cursor ---- */

/* Of the row under the cursor: where it jumps to; or, if others jump to it, all of them. */
struct jump {
	bool is_there;
	u32 only;            /* the row that jumps; ASSEMBLY_NONE: all that jump to `to` */
	u32 to, first, last; /* rows; first and last include all ends */
};

static struct jump jump_of(const struct codeview *v)
{
	const struct assembly *a = &v->assembly;
	const u32 row = codeview_row(v);
	struct jump j = {.only = ASSEMBLY_NONE, .to = row, .first = row, .last = row};

	if (!a->rows.n || v->lines.at[v->line].kind != CODEVIEW_INSTRUCTION)
		return j;
	if (a->rows.at[row].to != ASSEMBLY_NONE) {
		j.only = row;
		j.to = a->rows.at[row].to;
		j.first = MIN(row, j.to);
		j.last = MAX(row, j.to);
		j.is_there = row != j.to;
		return j;
	}
	for (u32 i = 0; i < a->rows.n; i++)
		if (a->rows.at[i].to == row && i != row) {
			j.is_there = true;
			j.first = MIN(j.first, i);
			j.last = MAX(j.last, i);
		}
	return j;
}

static bool leaves(const struct codeview *v, const struct jump *j, u32 row)
{
	return row != j->to &&
		(j->only != ASSEMBLY_NONE ? row == j->only : v->assembly.rows.at[row].to == j->to);
}

/* Three columns: the line up and down, what joins it to the instruction, and the end of an arrow. */
static void draw_jump(const struct codeview *v, struct grid *g, unsigned row, unsigned column,
	const struct jump *j, const struct codeview_line *line)
{
	static const char *const utf8[] = {"\u2502", "\u250c", "\u2514", "\u251c", "\u2500"},
				 *const ascii[] = {"|", ",", "'", "+", "-"};
	const char *const *glyphs = g->is_ascii ? ascii : utf8;
	const u32 at = line->row;
	const bool is_code = line->kind == CODEVIEW_INSTRUCTION,
		   is_end = is_code && (at == j->to || leaves(v, j, at));

	if (!j->is_there || line->kind == CODEVIEW_NOTE || at < j->first || at > j->last ||
		(at == j->first && !is_code))
		return;
	grid_puts(g, row, column,
		!is_end ? glyphs[0]
			: glyphs[at == j->first           ? 1
					  : at == j->last ? 2
							  : 3],
		bold);
	if (is_end) {
		grid_puts(g, row, column + 1, glyphs[4], bold);
		grid_puts(g, row, column + 2, at == j->to ? ">" : glyphs[4], bold);
	}
}

/* Where an instruction leads: down or up in the function, into another one, back. */
static void draw_mark(const struct codeview *v, struct grid *g, unsigned row, unsigned column,
	u32 at)
{
	const struct assembly *a = &v->assembly;
	const u32 to = a->rows.at[at].to;
	const u8 flow = a->no_code.code ? (u8)ISA_ON : a->disasm.listing.instructions.at[at].flow;
	const char *mark = NULL;

	if (to != ASSEMBLY_NONE)
		mark = to > at ? g->is_ascii ? "v" : "\u2193" : g->is_ascii ? "^" : "\u2191";
	else if (flow == ISA_CALL || (flow != ISA_ON && a->rows.at[at].target))
		mark = g->is_ascii ? ">" : "\u2192";
	else if (flow == ISA_RETURN)
		mark = g->is_ascii ? "<" : "\u2190";
	if (mark)
		grid_puts(g, row, column + 2, mark, dim);
}

/* ---- one line ---- */

static double share_of(const struct codeview *v, size_t e, const struct annotation_count *c)
{
	const struct annotate_options o = {.is_global = v->shown.is_global,
		.is_by_hits = v->shown.is_by_hits};

	return annotate_share(&o, &v->assembly, e, c) / 100;
}

/* What was never sampled has no figure. */
static unsigned draw_figures(const struct codeview *v, struct grid *g, unsigned row,
	const struct codeview_line *line)
{
	const struct assembly *a = &v->assembly;
	unsigned column = 0;
	struct str text = {0};

	for (size_t e = 0; e < a->annotation->profile->events.n; e++) {
		const struct annotation_count *c;

		if (!annotate_has_event(a, e))
			continue;
		c = line->kind == CODEVIEW_INSTRUCTION
			? &a->counts.at[a->rows.at[line->row].counts + e]
			: NULL;
		str_cut(&text, 0);
		if (c && c->n_samples) {
			annotate_add_figure(&v->shown, a, e, c, &text);
			grid_puts(g, row, column, str_text(&text), heat_style(share_of(v, e, c)));
		}
		column += annotate_figure_width(&v->shown);
	}
	str_fini(&text);
	grid_puts(g, row, column + 1, g->is_ascii ? "|" : "\u2502", dim);
	return column + 3;
}

static unsigned draw_place(const struct codeview *v, struct grid *g, unsigned row, unsigned column,
	const struct jump *j, const struct codeview_line *line)
{
	const unsigned digits = annotate_address_digits(&v->assembly);
	const bool is_code = line->kind == CODEVIEW_INSTRUCTION;
	struct str text = {0};

	if (is_code && !v->hides_addresses) {
		str_add_hex(&text, v->assembly.rows.at[line->row].va, digits);
		str_addc(&text, ':');
		grid_puts(g, row, column, str_text(&text), dim);
	}
	str_fini(&text);
	column += v->hides_addresses ? 0 : digits + 2;
	if (is_code)
		draw_mark(v, g, row, column, line->row);
	draw_jump(v, g, row, column, j, line);
	return column + LANE;
}

static void draw_line(const struct codeview *v, struct grid *g, unsigned row, size_t at,
	const struct jump *j)
{
	static const struct grid_style *const styles[] = {[CODEVIEW_NOTE] = &dim,
		[CODEVIEW_FUNCTIONS] = &bold,
		[CODEVIEW_SOURCE] = &source_style,
		[CODEVIEW_INSTRUCTION] = &plain};
	const struct codeview_line *line = &v->lines.at[at];
	struct grid_style style = *styles[line->kind];
	unsigned column = draw_figures(v, g, row, line);
	struct str text = {0};
	size_t from;

	/* Notes are long: they begin where addresses do. */
	if (line->kind != CODEVIEW_NOTE)
		column = draw_place(v, g, row, column, j, line);
	codeview_add_line(v, at, &text);
	if (codeview_is_found(v, at))
		style.attributes |= GRID_BOLD | GRID_UNDERLINE;
	from = textpage_shifted(g, v->shift, str_text(&text), text.n);
	column = grid_put(g, row, column, g->columns, str_text(&text) + from, text.n - from, style);
	str_cut(&text, 0);
	if (line->kind == CODEVIEW_INSTRUCTION && rowtypes_add(&v->types, line->row, &text))
		grid_puts(g, row, column + 2, str_text(&text), type_style);
	str_fini(&text);
}

/* ---- around the lines ---- */

static const char *percent_of(const struct codeview *v)
{
	return v->shown.figure == ANNOTATE_SAMPLES   ? "samples"
		: v->shown.figure == ANNOTATE_PERIOD ? "periods"
						     : annotate_share_name(&v->shown);
}

/* The function on the left, what the figures are on the right. */
static void draw_title(const struct codeview *v, struct grid *g)
{
	const struct profile_symbol *s = v->assembly.symbol;
	struct str text = {0};
	unsigned start;
	size_t width;

	if (v->at.function != ANNOTATION_NONE)
		str_addf(&text, "  %u of %zu  %s ", v->at.function + 1,
			v->source->annotation->functions.n, percent_of(v));
	else
		str_add(&text, "  no samples ");
	grid_blank(g, 0, 0, g->columns, reverse);
	width = grid_width(g, str_text(&text), text.n);
	start = width < g->columns ? g->columns - (unsigned)width : 0;
	grid_puts(g, 0, start, str_text(&text), reverse);
	str_cut(&text, 0);
	str_addc(&text, ' ');
	str_add_safe(&text, s->name, strlen(s->name));
	str_addf(&text, "  %s  %s", v->assembly.dso->name, v->source->title);
	grid_put(g, 0, 0, start, str_text(&text), text.n, reverse);
	str_fini(&text);
}

/* "4 of cycles, 2 of faults": the samples of the function. */
static void add_samples(const struct codeview *v, struct str *text)
{
	const struct assembly *a = &v->assembly;
	size_t n = 0;

	for (size_t e = 0; e < a->annotation->profile->events.n; e++)
		if (annotate_has_event(a, e))
			str_addf(text, "%s%llu of %s", n++ ? ", " : "",
				(unsigned long long)a->annotation->counts
					.at[a->function->counts + e]
					.n_samples,
				a->annotation->profile->events.at[e].name);
}

static void draw_header(const struct codeview *v, struct grid *g)
{
	static const char *const figures[] = {[ANNOTATE_PERCENT] = "Percent",
		[ANNOTATE_SAMPLES] = "Samples",
		[ANNOTATE_PERIOD] = "Period"};
	const struct assembly *a = &v->assembly;
	const unsigned width = annotate_figure_width(&v->shown);
	unsigned column = 0;
	struct str text = {0};
	size_t n = 0;

	for (size_t e = 0; e < a->annotation->profile->events.n; e++)
		n += annotate_has_event(a, e);
	for (size_t e = 0; e < a->annotation->profile->events.n; e++) {
		const char *name = n > 1 ? a->annotation->profile->events.at[e].name
					 : figures[v->shown.figure];
		size_t used = grid_width(g, name, strlen(name));

		if (!annotate_has_event(a, e))
			continue;
		used = MIN(used, (size_t)width - 1);
		grid_put(g, 1, column + width - (unsigned)used, column + width, name, strlen(name),
			bold);
		column += width;
	}
	str_add(&text, "samples: ");
	add_samples(v, &text);
	grid_puts(g, 1, column + 3, str_text(&text), dim);
	str_fini(&text);
}

static void draw_list(const struct codeview *v, struct grid *g)
{
	const struct annotation *a = v->source->annotation;
	const size_t height = g->rows - HEAD_LINES - FOOT_LINES,
		     first = v->choice >= height ? v->choice - height + 1 : 0;
	struct str text = {0};

	grid_blank(g, 0, 0, g->columns, reverse);
	grid_puts(g, 0, 1, "Functions with samples", reverse);
	grid_puts(g, 1, 1, " Percent  Shared Object      Function", bold);
	for (size_t i = 0; i < height && first + i < a->functions.n; i++) {
		const struct annotation_function *f = &a->functions.at[first + i];
		const struct profile_symbol *s = annotation_symbol(a, f);
		const unsigned row = HEAD_LINES + (unsigned)i;

		str_cut(&text, 0);
		str_addf(&text, "%7.2f%%", f->share);
		grid_puts(g, row, 1, str_text(&text), heat_style(f->share / 100));
		grid_put(g, row, 11, 28, a->profile->dsos.at[s->dso].name,
			strlen(a->profile->dsos.at[s->dso].name), plain);
		str_cut(&text, 0);
		str_add_safe(&text, s->name, strlen(s->name));
		grid_puts(g, row, 30, str_text(&text), plain);
		if (first + i == v->choice)
			grid_mark(g, row, 1, g->columns, GRID_REVERSE, GRID_DEFAULT);
	}
	str_fini(&text);
}

static void draw_status(struct codeview *v, struct grid *g)
{
	const unsigned row = g->rows - 1;
	struct str text = {0}, lead = {0};

	if (v->mode == CODEVIEW_SEARCH) {
		str_addf(&text, "/%s", str_text(&v->search));
		grid_puts(g, row, grid_puts(g, row, 0, str_text(&text), plain), " ", reverse);
	} else if (v->message.n) {
		grid_puts(g, row, 0, str_text(&v->message), bold);
	} else if (v->mode == CODEVIEW_LIST) {
		grid_puts(g, row, 0, "Enter: show its code  q: back", dim);
	} else {
		str_addf(&text, "%zu of %zu lines", v->lines.n ? v->line + 1 : 0, v->lines.n);
		if (v->pattern.words.n)
			str_addf(&text, ", /%s", str_text(&v->search));
		str_add(&text, "   h: help  q: back");
		codeview_add_lead(v, &lead);
		if (lead.n)
			str_addf(&text, "  Enter: %s", str_text(&lead));
		grid_puts(g, row, 0, str_text(&text), dim);
	}
	str_fini(&text);
	str_fini(&lead);
}

/* Keeps the cursor among the lines that are drawn: where it has leapt out of them, in the middle. */
static void scroll(struct codeview *v, unsigned height)
{
	const size_t n = v->lines.n;

	v->height = MAX(height, 1u);
	v->line = n ? MIN(v->line, n - 1) : 0;
	if (v->line + 1 < v->first || v->line > v->first + v->height)
		v->first = v->line > v->height / 2 ? v->line - v->height / 2 : 0;
	if (v->line < v->first)
		v->first = v->line;
	if (v->line >= v->first + v->height)
		v->first = v->line - v->height + 1;
	v->first = MIN(v->first, n > v->height ? n - v->height : 0);
}

static void draw_code(struct codeview *v, struct grid *g)
{
	const struct jump jump = jump_of(v);

	for (unsigned i = 0; i < v->height && v->first + i < v->lines.n; i++)
		draw_line(v, g, HEAD_LINES + i, v->first + i, &jump);
	draw_title(v, g);
	draw_header(v, g);
	if (v->lines.n)
		grid_mark(g, HEAD_LINES + (unsigned)(v->line - v->first), 0, g->columns,
			GRID_REVERSE, GRID_DEFAULT);
	else
		grid_puts(g, HEAD_LINES, 1, "there is no code", plain);
}

void codeview_draw(struct codeview *v, struct grid *g)
{
	if (g->rows <= HEAD_LINES + FOOT_LINES || g->columns < 10) {
		grid_puts(g, 0, 0, "too small", plain);
		return;
	}
	scroll(v, g->rows - HEAD_LINES - FOOT_LINES);
	if (v->page.is_open) {
		textpage_draw(&v->page, g);
		return;
	}
	if (v->mode == CODEVIEW_LIST)
		draw_list(v, g);
	else
		draw_code(v, g);
	draw_status(v, g);
}
