#include "view/forms/text.h"

#include "base/num.h"
#include "base/sort.h"
#include "base/term.h"
#include "base/workers.h"
#include "profile/rows/confidence.h"
#include "view/forms/forms.h"
#include "view/forms/hierarchy.h"
#include "view/text/celltext.h"
#include "view/text/colour.h"

/* ---- columns ---- */

/* Rows are rendered in parts: first the texts of each part's cells, then, when the widths are known, the lines. */
enum { PART_ROWS = 2048 };

/* How long a cell's text is, and how wide. */
struct extent {
	u32 n, columns;
};

struct part {
	size_t first, n;            /* rows, including those left out; at most PART_ROWS */
	struct str cells;           /* the texts of all cells, one after the other */
	VEC(struct extent) extents; /* of each cell */
	VEC(size_t) rows;           /* rows that have cells */
	size_t *widths;             /* by column */
	struct str lines;
	VEC(size_t) ends; /* of each row's line in `lines` */
};

struct table_text {
	const struct rowset *rows;
	VEC(struct part) parts;
	struct celltext *layouts; /* by column */
	size_t *widths;
	const char *mark; /* ends what the edge of the terminal cuts off; NULL: nothing is */
};

static struct extent extent_of(const char *text, size_t n)
{
	return (struct extent){(u32)n, (u32)colour_columns(text, n)};
}

static void render_cells(void *ctx, size_t i, unsigned worker)
{
	struct table_text *t = ctx;
	const struct rowset *r = t->rows;
	struct part *part = &t->parts.at[i];
	struct str room = {0};

	(void)worker;
	for (size_t row = part->first; row < part->first + part->n; row++) {
		if (!rowset_shows(r, row))
			continue;
		vec_add(&part->rows, row);
		for (size_t c = 0; c < r->n_shown; c++) {
			size_t start = part->cells.n;
			struct extent extent;

			celltext_add_row(&t->layouts[c], r, &r->shown[c], row, &room, &part->cells);
			extent = extent_of(str_text(&part->cells) + start, part->cells.n - start);
			part->widths[c] = MAX(part->widths[c], extent.columns);
			vec_add(&part->extents, extent);
		}
	}
	str_fini(&room);
}

/* mark: what stands where the end of a cell was cut off. */
static void add_cell(struct str *text, const char *cell, struct extent extent, size_t width,
	bool is_right, bool is_last, const char *mark)
{
	size_t n = extent.n, used = extent.columns, room;

	/* Numbers are never cut: a part of a number is another number. */
	if (UNLIKELY(used > width) && !is_right) {
		size_t mark_columns = colour_columns(mark, strlen(mark));

		n = colour_fitting(cell, n, width - MIN(width, mark_columns));
		used = colour_columns(cell, n) + mark_columns;
	} else {
		mark = "";
	}
	room = width > used ? width - used : 0;
	if (is_right)
		str_fill(text, ' ', room);
	str_addn(text, cell, n);
	str_add(text, mark);
	if (!is_right && !is_last)
		str_fill(text, ' ', room);
}

static void render_lines(void *ctx, size_t i, unsigned worker)
{
	struct table_text *t = ctx;
	const size_t n = t->rows->n_shown;
	struct part *part = &t->parts.at[i];
	const char *cell = str_text(&part->cells);
	const struct extent *extent = part->extents.at;

	(void)worker;
	for (size_t row = 0; row < part->rows.n; row++) {
		for (size_t c = 0; c < n; c++, cell += extent++->n) {
			if (!rowset_continues_band(t->rows, c))
				str_addn(&part->lines, "  ", 2);
			add_cell(&part->lines, cell, *extent, t->widths[c], t->layouts[c].is_right,
				c + 1 == n, c + 1 == n && t->mark ? t->mark : "");
		}
		str_addc(&part->lines, '\n');
		vec_add(&part->ends, part->lines.n);
	}
}

/* The last column of a tree starts at its indentation and has no fixed width. */
static bool is_ragged(const struct table_text *t, size_t column)
{
	return t->rows->is_outline && column + 1 == t->rows->n_shown;
}

/* Ends the last column at the edge of the terminal: a name may have a thousand characters. */
static void clip(struct table_text *t, size_t terminal)
{
	enum { LEAST = 16 };
	const size_t last = t->rows->n_shown - 1;
	size_t used = 2;

	for (size_t c = 0; c < last; c++)
		used += t->widths[c] + (rowset_continues_band(t->rows, c) ? 0 : 2);
	if (t->layouts[last].is_right || t->rows->shown[last].width || is_ragged(t, last))
		return;
	t->mark = term_has_utf8() ? "\u2026" : "...";
	t->widths[last] =
		MIN(t->widths[last], terminal > used + LEAST ? terminal - used : (size_t)LEAST);
}

/* terminal: its columns; 0: not a terminal. */
static void render(struct table_text *t, const struct text_options *o, unsigned terminal)
{
	const struct rowset *r = t->rows;
	const unsigned n_workers = r->is_serial ? 1 : o->n_workers;

	t->layouts = mem_zalloc((r->n_shown + 1) * sizeof(*t->layouts));
	t->widths = mem_zalloc((r->n_shown + 1) * sizeof(*t->widths));
	for (size_t at = 0; at < r->n; at += PART_ROWS)
		vec_add(&t->parts,
			((struct part){.first = at,
				.n = MIN(r->n - at, (size_t)PART_ROWS),
				.widths = mem_zalloc((r->n_shown + 1) * sizeof(size_t))}));
	for (size_t c = 0; c < r->n_shown; c++) {
		t->layouts[c] = celltext_of_column(&r->shown[c]);
		t->layouts[c].has_colour = o->has_colour && t->layouts[c].is_right;
	}
	workers_run(n_workers, t->parts.n, render_cells, t);
	for (size_t c = 0; c < r->n_shown; c++) {
		const struct rowset_column *column = &r->shown[c];

		t->widths[c] = MAX(strlen(t->layouts[c].title),
			(size_t)t->layouts[c].width * rowset_n_cells(r, column));
		vec_each(part, &t->parts)
			t->widths[c] = MAX(t->widths[c], part->widths[c]);
		if (column->width)
			t->widths[c] = column->width;
	}
	if (terminal && r->n_shown)
		clip(t, terminal);
	workers_run(n_workers, t->parts.n, render_lines, t);
}

static void table_text_fini(struct table_text *t)
{
	vec_each(part, &t->parts) {
		mem_free(part->widths);
		str_fini(&part->cells);
		str_fini(&part->lines);
		vec_fini(&part->extents);
		vec_fini(&part->rows);
		vec_fini(&part->ends);
	}
	vec_fini(&t->parts);
	mem_free(t->layouts);
	mem_free(t->widths);
}

/* What stands before a column's cell. */
static const char *gap(const struct table_text *t, size_t column)
{
	return !column ? " " : rowset_continues_band(t->rows, column) ? "" : "  ";
}

static bool has_bands(const struct rowset *r)
{
	for (size_t i = 0; i < r->n_shown; i++)
		if (r->shown[i].band)
			return true;
	return false;
}

/* Adds a band's title over all of its columns: "------ Mem Op -------", or without dashes where there is no room. */
static void add_band(const char *band, size_t width, struct str *text)
{
	const size_t n = strlen(band) + 2, dashes = width > n ? width - n : 0;

	if (dashes < 2) {
		str_add_right(text, band, width);
		return;
	}
	str_fill(text, '-', dashes / 2);
	str_addf(text, " %s ", band);
	str_fill(text, '-', dashes - dashes / 2);
}

/* The line above the titles. */
static void add_bands(struct str *text, const struct table_text *t)
{
	const struct rowset *r = t->rows;
	size_t last = text->n;

	str_add(text, "#");
	for (size_t i = 0, end; i < r->n_shown; i = end) {
		size_t width = t->widths[i];

		for (end = i + 1; end < r->n_shown && rowset_continues_band(r, end);)
			width += t->widths[end++];
		str_add(text, gap(t, i));
		if (r->shown[i].band) {
			add_band(r->shown[i].band, width, text);
			last = text->n;
		} else {
			str_fill(text, ' ', width);
		}
	}
	str_cut(text, last);
	str_addc(text, '\n');
}

static void add_header(struct str *text, const struct table_text *t)
{
	const size_t n = t->rows->n_shown;

	if (has_bands(t->rows))
		add_bands(text, t);
	for (int line = 0; line < 2; line++) {
		str_add(text, "#");
		for (size_t i = 0; i < n; i++) {
			struct str cell = {0};

			if (line == 0)
				str_add(&cell, t->layouts[i].title);
			else
				str_fill(&cell, '.',
					is_ragged(t, i) ? strlen(t->layouts[i].title)
							: t->widths[i]);
			str_add(text, gap(t, i));
			add_cell(text, str_text(&cell), extent_of(str_text(&cell), cell.n),
				t->widths[i], t->layouts[i].is_right, i + 1 == n, "");
			str_fini(&cell);
		}
		str_addc(text, '\n');
	}
	str_add(text, "#\n");
}

/* ---- call graphs below rows ---- */

/* A row's graph, drawn before the row is printed. */
struct drawn {
	size_t row;
	struct cell cell;
	struct str text;
};

/*
 * The graphs of the rows that come next. Many are drawn together, in the order that is fastest for the table, but not all: their text may be
 * many times what the table takes.
 */
struct graphs {
	const struct rowset *rows;
	const struct drawing_options *drawing;
	VEC(struct drawn) drawn;
	size_t next;     /* in `drawn`: the first that was not printed */
	size_t next_row; /* the first row whose graph was not drawn */
	size_t most;     /* how many to draw together */
};

enum { GRAPHS_FIRST = 256, GRAPHS_BYTES = 4 << 20 };

static void forget_graphs(struct graphs *g)
{
	vec_each(d, &g->drawn)
		str_fini(&d->text);
	g->drawn.n = g->next = 0;
}

/* Collects the next rows that have a graph. */
static void collect_graphs(struct graphs *g, const struct rowset_column *below)
{
	struct str room = {0};
	struct cell cell;

	for (; g->next_row < g->rows->n && g->drawn.n < g->most; g->next_row++) {
		if (!rowset_shows(g->rows, g->next_row))
			continue;
		rowset_cell(g->rows, below, g->next_row, 0, &room, &cell);
		if (cell.kind == CELL_ROWS)
			vec_add(&g->drawn, ((struct drawn){.row = g->next_row, .cell = cell}));
	}
	str_fini(&room);
}

/* Draws the next graphs, about GRAPHS_BYTES of text if they are like those before. */
static void draw_graphs(struct graphs *g)
{
	const struct rowset_column *below = rowset_below(g->rows);
	const struct rowset *r = g->rows;
	VEC(struct sort_item) order = {0};
	struct rowset tree;
	size_t bytes = 0;

	forget_graphs(g);
	if (below)
		collect_graphs(g, below);
	for (size_t i = 0; i < g->drawn.n; i++)
		vec_add(&order,
			((struct sort_item){r->group ? r->group(r, g->drawn.at[i].row) : 0, i}));
	sort_by_key(order.at, order.n);
	vec_each(item, &order) {
		struct drawn *d = &g->drawn.at[item->value];

		r->below(r, &d->cell, d->row, &tree);
		drawing_add(&d->text, &tree, g->drawing);
		rowset_close(&tree);
		bytes += d->text.n;
	}
	if (bytes < GRAPHS_BYTES / 2)
		g->most *= 2;
	else if (bytes > GRAPHS_BYTES && g->most > 1)
		g->most /= 2;
	vec_fini(&order);
}

/* The graph below a row, or NULL. Rows are asked for in their order. */
static const struct str *graph_below(struct graphs *g, size_t row)
{
	if (g->next == g->drawn.n && g->next_row <= row)
		draw_graphs(g);
	return g->next < g->drawn.n && g->drawn.at[g->next].row == row
		? &g->drawn.at[g->next++].text
		: NULL;
}

/* Adds the lines of the table, each followed by its graph if it has one. */
static void add_rows(struct out *out, const struct table_text *t, struct graphs *graphs)
{
	vec_each(part, &t->parts) {
		size_t begin = 0;

		for (size_t row = 0; row < part->rows.n; row++) {
			const struct str *graph = graph_below(graphs, part->rows.at[row]);

			/* Lines are copied in runs that end at a graph. */
			if (!graph)
				continue;
			str_addn(&out->text, part->lines.at + begin, part->ends.at[row] - begin);
			begin = part->ends.at[row];
			str_addn(&out->text, str_text(graph), graph->n);
			out_flush_some(out);
		}
		str_addn(&out->text, str_text(&part->lines) + begin, part->lines.n - begin);
		out_flush_some(out);
	}
}

/* The columns in the head of a table of samples, in this order. */
enum { OF, SAMPLES, PERIOD, BLOCKS };

static u64 head_number(const struct rowset *head, size_t column, struct str *room)
{
	struct cell cell = {0};

	if (column < head->n_shown)
		rowset_cell(head, &head->shown[column], 0, 0, room, &cell);
	return cell.n;
}

static void add_title(const struct page *p, const struct rowset *r)
{
	const struct rowset *head = r->head;
	struct str *text = &p->out->text, room = {0};
	struct cell of;

	if (!r->is_of_samples || (p->text->is_wall && !r->is_outline) || p->text->is_bare)
		return;
	str_add(text, "# Samples: ");
	num_add_short(text, head_number(head, SAMPLES, &room));
	str_addf(text, " of %s '", head->shown[OF].title);
	rowset_cell(head, &head->shown[OF], 0, 0, &room, &of);
	cell_add_text(&of, text);
	str_addf(text, "'\n# Event count (approx.): %llu\n#\n",
		(unsigned long long)head_number(head, PERIOD, &room));
	str_fini(&room);
}

static void add_legend(const struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text, room = {0};
	u64 n_blocks;

	if (!r->is_of_samples || r->head->n_shown <= BLOCKS || !r->n || p->text->is_bare)
		return;
	n_blocks = head_number(r->head, BLOCKS, &room);
	str_fini(&room);
	if (n_blocks < CONFIDENCE_BLOCKS_MIN)
		str_add(text,
			"\n# Too few samples to tell how they depend on each other: intervals assume that they do not.");
	str_addf(text,
		"\n# Intervals hold the true share with 95%% confidence, estimated from %llu stretches of time; ~: the order of this row and the next is not certain.\n",
		(unsigned long long)n_blocks);
}

static void add_table(struct page *p, const struct rowset *r)
{
	const struct text_options *o = p->text;
	struct table_text table = {.rows = r};
	struct graphs graphs = {.rows = r, .drawing = &o->drawing, .most = GRAPHS_FIRST};

	render(&table, o, p->width);
	/* The lines of a tree cannot be understood without a header. */
	if (!o->is_bare || r->is_outline)
		add_header(&p->out->text, &table);
	add_rows(p->out, &table, &graphs);
	forget_graphs(&graphs);
	vec_fini(&graphs.drawn);
	table_text_fini(&table);
}

void text_add_table(struct out *out, const struct rowset *r, const struct text_options *o)
{
	struct page p = {.form = &form_text, .out = out, .text = o};

	add_title(&p, r);
	add_table(&p, r);
}

static void text_form_table(struct page *p, const struct rowset *r)
{
	add_title(p, r);
	str_add(&p->out->text, r->notes ? r->notes : "");
	if (r->nodes)
		hierarchy_add(p->out, r, p->text);
	else
		add_table(p, r);
	add_legend(p, r);
	if (r->is_of_samples)
		str_add(&p->out->text, "\n\n");
}

const struct form form_text = {.name = "text",
	.extension = "txt",
	.help = "a table for people",
	.wants = FORM_IS_READ | FORM_IS_FOR_PEOPLE | FORM_SKIPS_EMPTY,
	.table = text_form_table};

/* ---- the text's columns with a separator instead of blanks ---- */

/* Adds a cell without the blanks that align it; the figures of several events keep one blank between them. */
static void add_separated_cell(struct str *text, const char *cell, bool has_parts,
	const char *separator)
{
	const size_t n = strlen(separator);

	cell += strspn(cell, " ");
	while (*cell) {
		if (has_parts && *cell == ' ') {
			str_addc(text, ' ');
			cell += strspn(cell, " ");
		} else if (!strncmp(cell, separator, n)) {
			str_addc(text, '.');
			cell += n;
		} else {
			str_addc(text, *cell++);
		}
	}
}

/* What follows a column: the parts of a figure are one field, as in perf. */
static void add_separator(const struct page *p, const struct rowset *r, size_t column,
	struct str *text)
{
	str_add(text,
		column + 1 == r->n_shown                       ? "\n"
			: rowset_continues_band(r, column + 1) ? " "
							       : p->separator);
}

static void add_separated_header(struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text;

	str_add(text, r->is_of_samples ? "# " : "");
	for (size_t i = 0; i < r->n_shown; i++) {
		const struct celltext layout = celltext_of_column(&r->shown[i]);

		celltext_add_title_of(&layout, r, i, text);
		add_separator(p, r, i, text);
	}
}

/* If there are several tables, each has a title. */
static void separated_form_table(struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text, room = {0}, cell = {0};
	struct celltext *layouts = mem_zalloc((r->n_shown + 1) * sizeof(*layouts));

	for (size_t i = 0; i < r->n_shown; i++)
		layouts[i] = celltext_of_column(&r->shown[i]);
	if (p->has_others)
		add_title(p, r);
	if (!p->text->is_bare)
		add_separated_header(p, r);
	for (size_t row = 0; row < r->n; row++) {
		if (!rowset_shows(r, row))
			continue;
		for (size_t i = 0; i < r->n_shown; i++) {
			str_cut(&cell, 0);
			celltext_add_row(&layouts[i], r, &r->shown[i], row, &room, &cell);
			add_separated_cell(text, str_text(&cell),
				rowset_n_cells(r, &r->shown[i]) > 1, p->separator);
			add_separator(p, r, i, text);
		}
		out_flush_some(p->out);
	}
	str_fini(&room);
	mem_free(layouts);
	str_fini(&cell);
}

const struct form form_separated = {.name = "separated",
	.extension = "txt",
	.help = "the text's columns with a separator between them",
	.wants = FORM_IS_READ | FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE,
	.table = separated_form_table};
