/*
 * textpage.h - a text on the screen, to be read with the keys that move.
 *
 * In       lines of text
 * Out      cells of a grid: a title, and the lines below it up to the last row, which is the caller's
 * Owns     its copy of the text
 */
#ifndef PACE_VIEW_TEXTPAGE_H
#define PACE_VIEW_TEXTPAGE_H

#include "view/screen/grid.h"

struct textpage {
	const char *title;
	struct str text;
	size_t first;           /* the first line that is drawn */
	unsigned height, shift; /* lines that are drawn; columns that are not */
};

/* Shows another text, from its beginning. */
void textpage_show(struct textpage *p, const char *title, const char *text);
void textpage_move(struct textpage *p, long by);
void textpage_draw(struct textpage *p, struct grid *g);
void textpage_fini(struct textpage *p);

/* Where in a text to begin so that its first columns are left out. */
size_t textpage_shifted(const struct grid *g, unsigned columns, const char *text, size_t n);

/* A position among n, moved, but not beyond the first and the last. */
size_t textpage_moved(size_t at, long by, size_t n);

#endif
