#include "view/screen/repaint.h"

#include <string.h>

struct pen {
	struct str *text;
	enum repaint_colours colours;
	struct grid_style style; /* what the terminal draws with */
	unsigned row, column;    /* where it draws next */
	bool is_placed;          /* it is known to be there */
};

enum repaint_colours repaint_colours(const char *colorterm, const char *term, const char *no_color)
{
	if (no_color && *no_color)
		return REPAINT_NONE;
	if (colorterm && (!strcmp(colorterm, "truecolor") || !strcmp(colorterm, "24bit")))
		return REPAINT_RGB;
	if (!term || !*term || !strcmp(term, "dumb") || !strncmp(term, "vt1", 3) ||
		!strncmp(term, "vt2", 3))
		return REPAINT_NONE;
	return strstr(term, "256color") || strstr(term, "direct") ? REPAINT_256 : REPAINT_16;
}

/* The step of xterm's colour cube that is nearest: 0, 95, 135, 175, 215, 255. */
static unsigned cube(unsigned v)
{
	return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

/* Of the 256 colours: greys are in a ramp of their own, from 8 to 238. */
static unsigned indexed(u32 rgb)
{
	const unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;

	if (r == g && g == b && r >= 4 && r < 243)
		return 232 + (r < 8 ? 0 : MIN((r - 8 + 5) / 10, 23u));
	return 16 + 36 * cube(r) + 6 * cube(g) + cube(b);
}

/* Of the eight colours: each of red, green and blue is there or not, measured by the strongest. */
static unsigned basic(u32 rgb)
{
	const unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255,
		       most = MAX(r, MAX(g, b));

	if (most < 64)
		return 0;
	return (r * 3 > most * 2) | (g * 3 > most * 2) << 1 | (b * 3 > most * 2) << 2;
}

static void add_colour(struct pen *pen, u32 colour, unsigned base)
{
	if (colour == GRID_DEFAULT || pen->colours == REPAINT_NONE)
		return;
	if (pen->colours == REPAINT_RGB)
		str_addf(pen->text, ";%u;2;%u;%u;%u", base + 8, colour >> 16 & 255,
			colour >> 8 & 255, colour & 255);
	else if (pen->colours == REPAINT_256)
		str_addf(pen->text, ";%u;5;%u", base + 8, indexed(colour));
	else
		str_addf(pen->text, ";%u", base + basic(colour));
}

static void set_style(struct pen *pen, const struct grid_style *style)
{
	static const char *const codes[] = {";1", ";2", ";4", ";7"};

	if (pen->style.fg == style->fg && pen->style.bg == style->bg &&
		pen->style.attributes == style->attributes)
		return;
	str_add(pen->text, "\033[0");
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		str_add(pen->text, style->attributes & 1u << i ? codes[i] : "");
	add_colour(pen, style->fg, 30);
	add_colour(pen, style->bg, 40);
	str_addc(pen->text, 'm');
	pen->style = *style;
}

static void place(struct pen *pen, unsigned row, unsigned column)
{
	if (!pen->is_placed || pen->row != row || pen->column != column)
		str_addf(pen->text, "\033[%u;%uH", row + 1, column + 1);
	pen->row = row;
	pen->column = column;
	pen->is_placed = true;
}

/*
 * Terminals may disagree on how wide a character outside of ASCII is: the place of what follows is said again. So is
 * the place behind the last column, where terminals wrap or do not.
 */
static void draw(struct pen *pen, const struct grid *g, unsigned row, unsigned column)
{
	const struct grid_cell *cell = grid_at(g, row, column);

	place(pen, row, column);
	set_style(pen, &cell->style);
	str_add(pen->text, cell->glyph);
	pen->column += cell->columns;
	pen->is_placed = !cell->glyph[1] && (u8)cell->glyph[0] < 0x80 && pen->column < g->columns;
}

static bool is_equal(const struct grid_cell *a, const struct grid_cell *b)
{
	return a->columns == b->columns && a->style.fg == b->style.fg &&
		a->style.bg == b->style.bg && a->style.attributes == b->style.attributes &&
		!strcmp(a->glyph, b->glyph);
}

/* Whether the row must be drawn whole: with wide glyphs or marks, a terminal may have drawn something else than cells. */
static bool has_foreign(const struct grid *g, unsigned row)
{
	for (unsigned column = 0; column < g->columns; column++)
		if ((u8)grid_at(g, row, column)->glyph[0] >= 0x80 &&
			grid_at(g, row, column)->columns != 1)
			return true;
	return false;
}

void repaint(const struct grid *from, const struct grid *to, enum repaint_colours colours,
	struct str *text)
{
	const bool is_whole = !from || from->columns != to->columns || from->rows != to->rows;
	struct pen pen = {.text = text, .colours = colours};

	if (is_whole)
		str_add(text, "\033[0m\033[2J");
	for (unsigned row = 0; row < to->rows; row++) {
		bool differs = is_whole;

		for (unsigned column = 0; !differs && column < to->columns; column++)
			differs = !is_equal(grid_at(from, row, column), grid_at(to, row, column));
		if (!differs)
			continue;
		const bool draws_all = is_whole || has_foreign(from, row) || has_foreign(to, row);

		for (unsigned column = 0; column < to->columns; column++)
			if (grid_at(to, row, column)->columns &&
				(draws_all ||
					!is_equal(grid_at(from, row, column),
						grid_at(to, row, column))))
				draw(&pen, to, row, column);
	}
	if (pen.style.fg || pen.style.bg || pen.style.attributes)
		str_add(text, "\033[0m");
}
