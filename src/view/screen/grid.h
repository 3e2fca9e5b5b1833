/*
 * grid.h - the cells of a screen in memory: the only thing that views of screens draw on.
 *
 * In       texts, at places; what does not fit is cut off
 * Out      cells: a glyph, how wide it is, its colours and attributes
 * Owns     its cells
 * Units    columns and rows from 0; colours 0xRRGGBB
 */
#ifndef PACE_VIEW_GRID_H
#define PACE_VIEW_GRID_H

#include "base/str.h"
#include "view/screen/glyph.h"

enum grid_attribute { GRID_BOLD = 1, GRID_DIM = 2, GRID_UNDERLINE = 4, GRID_REVERSE = 8 };

#define GRID_DEFAULT  0 /* the terminal's own colour */
#define GRID_RGB(rgb) ((u32)0x1000000 | (rgb))

struct grid_style {
	u32 fg, bg; /* GRID_DEFAULT or GRID_RGB() */
	u8 attributes;
};

struct grid_cell {
	char glyph[GLYPH_SIZE];
	u8 columns; /* 1 or 2; 0: the right half of the glyph before it */
	struct grid_style style;
};

struct grid {
	struct grid_cell *cells;
	unsigned columns, rows;
	bool is_ascii; /* the terminal shows only ASCII */
};

/* Gives it a size; all cells are blank. */
void grid_resize(struct grid *g, unsigned columns, unsigned rows);
void grid_clear(struct grid *g);
void grid_fini(struct grid *g);

static inline struct grid_cell *grid_at(const struct grid *g, unsigned row, unsigned column)
{
	return &g->cells[(size_t)row * g->columns + column];
}

/*
 * Draws the text from `column` on, up to the column `end`, and returns the column behind it. An escape or a wide glyph
 * that does not fit whole is not drawn.
 */
unsigned grid_put(struct grid *g, unsigned row, unsigned column, unsigned end, const char *text,
	size_t n, struct grid_style style);
unsigned grid_puts(struct grid *g, unsigned row, unsigned column, const char *text,
	struct grid_style style);
/* Draws blanks. */
void grid_blank(struct grid *g, unsigned row, unsigned column, unsigned end,
	struct grid_style style);
/* The columns that grid_put() would take if there were room. */
size_t grid_width(const struct grid *g, const char *text, size_t n);

/* Adds attributes, and unless it is GRID_DEFAULT the background, to cells that are drawn. */
void grid_mark(struct grid *g, unsigned row, unsigned column, unsigned end, u8 attributes, u32 bg);

/* Adds a row as text without the blanks at its end; grid_add_text(): all rows, each with a newline. */
void grid_add_row(const struct grid *g, unsigned row, struct str *text);
void grid_add_text(const struct grid *g, struct str *text);

#endif
