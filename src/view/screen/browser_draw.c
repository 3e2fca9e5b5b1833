#include "view/screen/browser.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "view/screen/heat.h"

enum { BAR = HEAT_BAR, MARKER = 2, INDENT = 2, HEAD_LINES = 2, FOOT_LINES = 1 };

static const struct grid_style plain, bold = {.attributes = GRID_BOLD},
				      dim = {.attributes = GRID_DIM},
				      reverse = {.attributes = GRID_REVERSE};

/* ---- heat ---- */

static double share_of(const struct cell *c)
{
	if (!(c->spans & CELL_IS_HEAT))
		return 0;
	return c->kind == CELL_REAL ? c->real / 100
		: c->whole          ? (double)c->n / (double)c->whole
				    : 0;
}

/* ---- one line ---- */

struct drawer {
	struct browser *b;
	struct grid *g;
	unsigned row;
	bool is_found;
	struct str room, text;
};

/* How the columns share the screen. */
struct columns {
	bool has_bar;
	size_t first;     /* so many are left out on the left */
	size_t text_most; /* names in front of the last column are no wider */
	unsigned shift;   /* how much of long names in the last column is left out, too */
};

static bool can_be_cut(const struct browser *b, size_t c)
{
	return c + 1 < b->rows->n_shown && !b->layouts[c].is_right && !b->rows->shown[c].width;
}

static size_t width_of(const struct browser *b, const struct columns *columns, size_t c)
{
	return can_be_cut(b, c) ? MIN(b->widths[c], columns->text_most) : b->widths[c];
}

/* Where the last column begins. */
static size_t start_of_last(const struct browser *b, const struct columns *columns)
{
	size_t start = MARKER + (columns->has_bar ? BAR + 1 : 0);

	for (size_t c = columns->first; c + 1 < b->rows->n_shown; c++)
		start += width_of(b, columns, c) + 2;
	return start;
}

/*
 * Where the columns before the last one leave it little room, names in them become shorter, and if that is not enough, there is
 * no bar. With Right, all columns are as wide as they are, and go one by one.
 */
static struct columns share_columns(const struct browser *b, const struct grid *g)
{
	enum { STEP = 8, ROOM = 24, LEAST = 8 };
	const size_t n = b->rows->n_shown, need = n ? MIN(b->widths[n - 1], (size_t)ROOM) : 0;
	struct columns columns = {.has_bar = b->heat < n};
	unsigned steps = b->shift / STEP;

	for (size_t c = 0; c + 1 < n; c++)
		columns.text_most = MAX(columns.text_most, b->widths[c]);
	if (steps) {
		for (; steps && columns.first + 1 < n &&
			start_of_last(b, &columns) + ROOM > g->columns;
			steps--)
			columns.first++;
		columns.shift = steps * STEP;
		return columns;
	}
	columns.text_most = MIN(columns.text_most, (size_t)g->columns);
	while (columns.text_most > LEAST && start_of_last(b, &columns) + need > g->columns)
		columns.text_most--;
	if (start_of_last(b, &columns) + need * 2 / 3 > g->columns)
		columns.has_bar = false;
	return columns;
}

/* A text that is cut ends in an ellipsis. */
static void put_cut(struct drawer *d, unsigned column, unsigned end, const char *text, size_t n,
	struct grid_style style)
{
	if (grid_width(d->g, text, n) <= MIN(end, d->g->columns) - MIN(column, end)) {
		grid_put(d->g, d->row, column, end, text, n, style);
		return;
	}
	end = MIN(end, d->g->columns);
	if (column >= end)
		return;
	column = grid_put(d->g, d->row, column, end - 1, text, n, style);
	grid_puts(d->g, d->row, column, d->g->is_ascii ? "~" : "\u2026", style);
}

/* Figures are flush right, and are never cut. */
static unsigned draw_cell(struct drawer *d, const struct columns *columns, unsigned column,
	size_t c, const char *text, size_t n, struct grid_style style)
{
	struct browser *b = d->b;
	const size_t used = grid_width(d->g, text, n);
	const bool is_last = c + 1 == b->rows->n_shown;

	b->widths[c] = b->rows->shown[c].width && !b->layouts[c].is_right ? b->rows->shown[c].width
									  : MAX(b->widths[c], used);
	const unsigned end = column + (unsigned)width_of(b, columns, c);

	if (b->layouts[c].is_right)
		grid_put(d->g, d->row, end - (unsigned)used, d->g->columns, text, n, style);
	else
		put_cut(d, column, is_last ? d->g->columns : end, text, n, style);
	return end + 2;
}

/* The figures of several events in one column: each has its own heat. */
static void paint_parts(struct drawer *d, unsigned end, size_t c, u32 row)
{
	struct browser *b = d->b;
	const u32 n = browser_n_parts(b);
	const unsigned width = (unsigned)(d->text.n / n);
	struct cell cell;

	if (d->text.n % n || end < d->text.n)
		return;
	for (u32 part = 0; part < n; part++) {
		struct grid_style style;

		rowset_cell(b->rows, &b->rows->shown[c], row, part, &d->room, &cell);
		style = heat_style(share_of(&cell));
		if (b->order == c && b->part == part)
			style.attributes |= GRID_BOLD;
		grid_put(d->g, d->row, end - (unsigned)d->text.n + part * width, d->g->columns,
			str_text(&d->text) + part * width, width, style);
	}
}

static void draw_table_row(struct drawer *d, const struct lineup_line *line)
{
	struct browser *b = d->b;
	const struct rowset *r = b->rows;
	const struct columns columns = share_columns(b, d->g);
	unsigned column = MARKER;
	struct cell cell;

	if (columns.has_bar) {
		rowset_cell(r, &r->shown[b->heat], line->row,
			r->shown[b->heat].is_of_part ? b->part : 0, &d->room, &cell);
		heat_draw_bar(d->g, d->row, column, share_of(&cell));
		column += BAR + 1;
	}
	for (size_t c = columns.first; c < r->n_shown; c++) {
		struct grid_style style = plain;

		rowset_cell(r, &r->shown[c], line->row, 0, &d->room, &cell);
		if (share_of(&cell) > 0)
			style = heat_style(share_of(&cell));
		if (cell.spans & CELL_IS_CHANGED)
			style.attributes |= GRID_BOLD;
		if (d->is_found && !b->layouts[c].is_right)
			style.attributes |= GRID_BOLD | GRID_UNDERLINE;
		str_cut(&d->text, 0);
		celltext_add_row(&b->layouts[c], r, &r->shown[c], line->row, &d->room, &d->text);
		const size_t from = c + 1 == r->n_shown && !b->layouts[c].is_right
			? textpage_shifted(d->g, columns.shift, str_text(&d->text), d->text.n)
			: 0;

		column = draw_cell(d, &columns, column, c, str_text(&d->text) + from,
			d->text.n - from, style);
		if (rowset_n_cells(r, &r->shown[c]) > 1 && b->layouts[c].is_right)
			paint_parts(d, column - 2, c, line->row);
	}
}

/* A node has its share of the whole in the first column, and its name, by depth, behind that. */
static void draw_node(struct drawer *d, const struct lineup_line *line)
{
	struct browser *b = d->b;
	const struct rowset *tree = &b->lineup.trees[line->row].tree;
	const struct rowset_node *node = &tree->nodes[line->node];
	const double share = tree->whole ? (double)node->total / (double)tree->whole : 0;
	struct grid_style style = plain;
	unsigned column = MARKER;

	if (d->is_found)
		style.attributes = GRID_BOLD | GRID_UNDERLINE;
	if (share_columns(b, d->g).has_bar) {
		heat_draw_bar(d->g, d->row, column, share);
		column += BAR + 1;
	}
	str_cut(&d->text, 0);
	num_add_percent(&d->text, node->total, tree->whole);
	grid_puts(d->g, d->row,
		column +
			(unsigned)(MAX(b->widths[0], (size_t)8) -
				MIN((size_t)8, grid_width(d->g, str_text(&d->text), d->text.n))),
		str_text(&d->text), heat_style(share));
	column += (unsigned)MAX(b->widths[0], (size_t)8) + 2 + INDENT * line->depth;
	grid_puts(d->g, d->row, column,
		line->head != line->node                  ? "|"
			: line->is_open && line->has_more ? "-"
			: line->has_more                  ? "+"
							  : " ",
		dim);
	str_cut(&d->text, 0);
	lineup_add_name(&b->lineup, line, &d->text);
	const size_t from = textpage_shifted(d->g, b->shift, str_text(&d->text), d->text.n);

	put_cut(d, column + 2, d->g->columns, str_text(&d->text) + from, d->text.n - from, style);
}

static void draw_line(struct drawer *d, size_t at)
{
	const struct lineup_line *line = &d->b->lineup.lines.at[at];

	d->is_found = lineup_is_found(&d->b->lineup, line);
	if (line->node) {
		draw_node(d, line);
		return;
	}
	grid_puts(d->g, d->row, 0, !line->has_more ? " " : line->is_open ? "-" : "+", bold);
	draw_table_row(d, line);
}

void browser_add_line(struct browser *b, size_t line, struct str *text)
{
	enum { WIDE = 1000 };
	struct grid g = {0};
	struct drawer d = {.b = b, .g = &g};
	const unsigned before = b->shift;

	b->shift = 0;
	grid_resize(&g, WIDE, 1);
	draw_line(&d, line);
	grid_add_row(&g, 0, text);
	str_addc(text, '\n');
	b->shift = before;
	str_fini(&d.room);
	str_fini(&d.text);
	grid_fini(&g);
}

/* ---- around the lines ---- */

/* What the source's title may take, however much is at its left. */
static unsigned source_room(const struct grid *g)
{
	return g->columns * 2 / 3;
}

/* The source's title is at the right; if there is little room, its end is what is seen. */
static void draw_source(const struct browser *b, struct grid *g, unsigned end)
{
	const char *title = b->source->title;
	const size_t n = strlen(title), width = grid_width(g, title, n),
		     room = MAX(source_room(g), g->columns - MIN(end, g->columns));
	const size_t from =
		width > room ? textpage_shifted(g, (unsigned)(width - room), title, n) : 0;
	const unsigned at =
		end + width < g->columns ? end : g->columns - (unsigned)MIN(width, room);

	grid_blank(g, 0, at ? at - 1 : 0, g->columns, reverse);
	grid_put(g, 0, at, g->columns, title + from, n - from, reverse);
}

/* The text's title: so many columns of the table's head, and which table it is. */
static void make_title(const struct browser *b, size_t n, struct str *text)
{
	const struct rowset *head = b->rows->head;
	struct str room = {0};
	struct cell cell;

	str_cut(text, 0);
	for (size_t i = 0; i < n; i++) {
		rowset_cell(head, &head->shown[i], 0, 0, &room, &cell);
		str_addf(text, "%s%s ", i ? "  " : " ", head->shown[i].title);
		cell_add_text(&cell, text);
	}
	if (b->source->n > 1)
		str_addf(text, "  [%zu of %zu: Tab]", b->table + 1, b->source->n);
	str_fini(&room);
}

/* What the table is of. Numbers that the source's title would cover in part are left out. */
static void draw_title(struct browser *b, struct grid *g)
{
	const char *source = b->source->title;
	const struct rowset *head = b->rows->is_of_samples ? b->rows->head : NULL;
	const size_t taken = MIN(grid_width(g, source, strlen(source)), (size_t)source_room(g));
	size_t n = head ? MIN(head->n_shown, (size_t)3) : 0;
	struct str text = {0};

	make_title(b, n, &text);
	while (n > 1 && grid_width(g, str_text(&text), text.n) + 1 + taken > g->columns)
		make_title(b, --n, &text);
	grid_blank(g, 0, 0, g->columns, reverse);
	draw_source(b, g, text.n ? grid_puts(g, 0, 0, str_text(&text), reverse) + 2 : 1);
	str_fini(&text);
}

/* Of several events in a column: the title stands above the one that bars and order are of, numbers above the others. */
static void draw_parts_header(struct browser *b, struct grid *g, unsigned column, size_t c)
{
	const u32 n = browser_n_parts(b);
	const unsigned width = (unsigned)b->widths[c] / n;
	struct str text = {0};

	for (u32 part = 0; part < n; part++) {
		str_cut(&text, 0);
		if (part == b->part)
			celltext_add_title_of(&b->layouts[c], b->rows, c, &text);
		else
			str_addf(&text, "%u", part + 1);
		grid_puts(g, 1,
			column + part * width +
				(unsigned)(width - MIN((size_t)width, text.n + (part != b->part))),
			str_text(&text), part == b->part ? bold : dim);
	}
	str_fini(&text);
}

static void draw_header(struct browser *b, struct grid *g)
{
	const struct columns columns = share_columns(b, g);
	unsigned column = MARKER + (columns.has_bar ? BAR + 1 : 0);
	struct drawer d = {.b = b, .g = g, .row = 1};
	struct str banded = {0};

	for (size_t c = columns.first; c < b->rows->n_shown; c++) {
		const char *title = b->layouts[c].title;

		if (b->rows->shown[c].band) {
			str_cut(&banded, 0);
			celltext_add_title_of(&b->layouts[c], b->rows, c, &banded);
			title = str_text(&banded);
		}
		const size_t used = grid_width(g, title, strlen(title));
		const unsigned width = (unsigned)width_of(b, &columns, c);

		if (rowset_n_cells(b->rows, &b->rows->shown[c]) > 1 && b->layouts[c].is_right)
			draw_parts_header(b, g, column, c);
		else if (b->layouts[c].is_right)
			grid_puts(g, 1, column + width - (unsigned)MIN(used, (size_t)width), title,
				bold);
		else
			put_cut(&d, column, c + 1 == b->rows->n_shown ? g->columns : column + width,
				title, strlen(title), bold);
		column += width + 2;
	}
	str_fini(&banded);
}

/* How to get help and out, as much of it as there is room for behind the rest. */
static void add_hints(const struct browser *b, const struct grid *g, struct str *text)
{
	const char *const hints[] = {b->source->is_inner ? "   h: help  q: back"
							 : "   h: help  q: quit",
		"   h: help", ""};
	const size_t used = grid_width(g, str_text(text), text->n);
	size_t i = 0;

	while (used + strlen(hints[i]) > g->columns && *hints[i])
		i++;
	str_add(text, hints[i]);
}

static void draw_status(struct browser *b, struct grid *g)
{
	const unsigned row = g->rows - 1;
	struct str text = {0};

	if (b->mode == BROWSER_SEARCH) {
		str_addf(&text, "/%s", str_text(&b->search));
		const unsigned end = grid_puts(g, row, 0, str_text(&text), plain);

		grid_puts(g, row, end, " ", reverse);
		str_cut(&text, 0);
		str_addf(&text, "  %zu found%s", b->lineup.n_found,
			b->lineup.search.is_plain ? ", as plain text" : "");
		grid_puts(g, row, end + 1, str_text(&text), dim);
	} else if (b->message.n) {
		grid_puts(g, row, 0, str_text(&b->message), bold);
	} else if (b->mode == BROWSER_MENU) {
		grid_puts(g, row, 0, "Enter: take it  q: back to the rows", dim);
	} else {
		str_addf(&text, "%zu of %zu lines", b->lineup.lines.n ? b->line + 1 : 0,
			b->lineup.lines.n);
		if (b->lineup.search.words.n)
			str_addf(&text, ", %zu of %zu rows have /%s", b->lineup.n_found,
				b->lineup.order.n, str_text(&b->search));
		if (b->source->live) {
			str_add(&text, "   ");
			b->source->live->add_status(b->source->of, &text);
		}
		add_hints(b, g, &text);
		grid_puts(g, row, 0, str_text(&text), dim);
	}
	str_fini(&text);
}

static void draw_menu(struct browser *b, struct grid *g)
{
	const size_t height = MAX(g->rows - HEAD_LINES - FOOT_LINES, 1u),
		     first = b->choice >= height ? b->choice - height + 1 : 0;

	grid_blank(g, 0, 0, g->columns, reverse);
	grid_puts(g, 0, 1, b->menu_title, reverse);
	for (size_t i = 0; i < height && first + i < b->menu.n; i++) {
		const unsigned row = HEAD_LINES + (unsigned)i;

		grid_puts(g, row, 3, str_text(&b->menu.at[first + i].title),
			b->menu.at[first + i].why.n ? dim : plain);
		if (first + i == b->choice)
			grid_mark(g, row, 1, g->columns, GRID_REVERSE, GRID_DEFAULT);
	}
}

/* Keeps the cursor among the lines that are drawn. */
static void scroll(struct browser *b, unsigned height)
{
	const size_t n = b->lineup.lines.n;

	b->height = MAX(height, 1u);
	b->line = n ? MIN(b->line, n - 1) : 0;
	if (b->line < b->first)
		b->first = b->line;
	if (b->line >= b->first + b->height)
		b->first = b->line - b->height + 1;
	b->first = MIN(b->first, n > b->height ? n - b->height : 0);
}

static void draw_rows(struct browser *b, struct grid *g)
{
	struct drawer d = {.b = b, .g = g};
	size_t widths = 0, before;

	/* A wider cell moves those of the lines above it: then they are drawn again. */
	do {
		for (unsigned row = HEAD_LINES; row + FOOT_LINES < g->rows; row++)
			grid_blank(g, row, 0, g->columns, plain);
		before = widths;
		for (unsigned i = 0; i < b->height && b->first + i < b->lineup.lines.n; i++) {
			d.row = HEAD_LINES + i;
			draw_line(&d, b->first + i);
		}
		widths = 1;
		for (size_t c = 0; c < b->rows->n_shown; c++)
			widths += b->widths[c];
	} while (widths != before);
	draw_title(b, g);
	draw_header(b, g);
	if (b->lineup.lines.n)
		grid_mark(g, HEAD_LINES + (unsigned)(b->line - b->first), 0, g->columns,
			GRID_REVERSE, GRID_DEFAULT);
	else
		grid_puts(g, HEAD_LINES, MARKER,
			b->lineup.search.words.n
				? "no row is found: f shows all, / searches for something else"
				: "there are no rows",
			plain);
	str_fini(&d.room);
	str_fini(&d.text);
}

void browser_draw(struct browser *b, struct grid *g)
{
	if (g->rows <= HEAD_LINES + FOOT_LINES || g->columns < 10) {
		grid_puts(g, 0, 0, "too small", plain);
		return;
	}
	scroll(b, g->rows - HEAD_LINES - FOOT_LINES);
	if (b->page.is_open) {
		textpage_draw(&b->page, g);
		return;
	}
	if (b->mode == BROWSER_MENU)
		draw_menu(b, g);
	else
		draw_rows(b, g);
	draw_status(b, g);
}
