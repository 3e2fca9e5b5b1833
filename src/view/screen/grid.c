#include "view/screen/grid.h"

#include <string.h>

static const struct grid_cell blank = {.glyph = " ", .columns = 1};

void grid_clear(struct grid *g)
{
	for (size_t i = 0; i < (size_t)g->columns * g->rows; i++)
		g->cells[i] = blank;
}

void grid_resize(struct grid *g, unsigned columns, unsigned rows)
{
	mem_free(g->cells);
	g->columns = columns;
	g->rows = rows;
	g->cells = mem_alloc(((size_t)columns * rows + 1) * sizeof(*g->cells));
	grid_clear(g);
}

void grid_fini(struct grid *g)
{
	mem_free(g->cells);
	*g = (struct grid){0};
}

/* Half a wide glyph cannot be drawn: what is left of one becomes a blank. */
static void set(struct grid *g, unsigned row, unsigned column, const struct grid_cell *cell)
{
	struct grid_cell *at = grid_at(g, row, column);

	if (!at->columns && column) {
		memcpy(at[-1].glyph, " ", 2);
		at[-1].columns = 1;
	}
	if (at->columns == 2 && column + 1 < g->columns) {
		memcpy(at[1].glyph, " ", 2);
		at[1].columns = 1;
	}
	*at = *cell;
}

/* An escape takes a cell for each of its characters. */
static unsigned put_escape(struct grid *g, unsigned row, unsigned column, const struct glyph *glyph,
	struct grid_style style)
{
	struct grid_cell cell = {.columns = 1, .style = style};

	for (u8 i = 0; i < glyph->n; i++) {
		cell.glyph[0] = glyph->text[i];
		set(g, row, column++, &cell);
	}
	return column;
}

static unsigned put_glyph(struct grid *g, unsigned row, unsigned column, const struct glyph *glyph,
	struct grid_style style)
{
	struct grid_cell cell = {.columns = glyph->columns, .style = style}, space = blank;

	memcpy(cell.glyph, glyph->text, glyph->n);
	space.style = style;
	for (unsigned i = 0; i < glyph->columns; i++)
		set(g, row, column + i, &space);
	*grid_at(g, row, column) = cell;
	if (glyph->columns == 2)
		grid_at(g, row, column + 1)->columns = 0;
	return column + glyph->columns;
}

unsigned grid_put(struct grid *g, unsigned row, unsigned column, unsigned end, const char *text,
	size_t n, struct grid_style style)
{
	struct glyph glyph;

	end = MIN(end, g->columns);
	if (row >= g->rows)
		return column;
	while (n && column < end) {
		const size_t taken = glyph_next(text, n, g->is_ascii, &glyph);

		if (glyph.columns > end - column)
			break;
		column = glyph.is_escape ? put_escape(g, row, column, &glyph, style)
					 : put_glyph(g, row, column, &glyph, style);
		text += taken;
		n -= taken;
	}
	return column;
}

unsigned grid_puts(struct grid *g, unsigned row, unsigned column, const char *text,
	struct grid_style style)
{
	return grid_put(g, row, column, g->columns, text, strlen(text), style);
}

void grid_blank(struct grid *g, unsigned row, unsigned column, unsigned end,
	struct grid_style style)
{
	struct grid_cell cell = blank;

	cell.style = style;
	for (; row < g->rows && column < MIN(end, g->columns); column++)
		set(g, row, column, &cell);
}

size_t grid_width(const struct grid *g, const char *text, size_t n)
{
	struct glyph glyph;
	size_t width = 0;

	while (n) {
		const size_t taken = glyph_next(text, n, g->is_ascii, &glyph);

		width += glyph.columns;
		text += taken;
		n -= taken;
	}
	return width;
}

void grid_mark(struct grid *g, unsigned row, unsigned column, unsigned end, u8 attributes, u32 bg)
{
	for (; row < g->rows && column < MIN(end, g->columns); column++) {
		struct grid_style *style = &grid_at(g, row, column)->style;

		style->attributes |= attributes;
		style->bg = bg != GRID_DEFAULT ? bg : style->bg;
	}
}

void grid_add_row(const struct grid *g, unsigned row, struct str *text)
{
	size_t used = text->n;

	for (unsigned column = 0; column < g->columns; column++) {
		const struct grid_cell *cell = grid_at(g, row, column);

		if (!cell->columns)
			continue;
		str_add(text, cell->glyph);
		used = strcmp(cell->glyph, " ") ? text->n : used;
	}
	str_cut(text, used);
}

void grid_add_text(const struct grid *g, struct str *text)
{
	for (unsigned row = 0; row < g->rows; row++) {
		grid_add_row(g, row, text);
		str_addc(text, '\n');
	}
}
