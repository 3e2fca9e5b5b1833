/*
 * textpage.h - a text on the screen, to be read with the keys that move.
 *
 * In       lines of text; keys
 * Out      cells of a grid: a title, the lines below it, folded between words where they are too long, and how to go back
 * Owns     its copy of the text
 */
#ifndef PACE_VIEW_TEXTPAGE_H
#define PACE_VIEW_TEXTPAGE_H

#include "view/screen/grid.h"
#include "view/screen/keytable.h"

struct textpage {
	const char *title;
	struct str text;
	size_t first,
		n_lines; /* the first line that is drawn, and how many there are, when folded to fit */
	unsigned height; /* lines that are drawn */
	bool is_open;
};

extern const struct keytable textpage_keys;

/* Opens it with another text, at its beginning. */
void textpage_show(struct textpage *p, const char *title, const char *text);
/* Opens it with the help of a view: its keys, then `text`, which may be NULL, then the keys of all views. */
void textpage_show_help(struct textpage *p, const struct keytable *keys, const char *text);
/* While it is open, keys and the mouse are the page's. False: the event is for the view below. */
bool textpage_take(struct textpage *p, const struct screen_event *e);
void textpage_move(struct textpage *p, long by);
void textpage_draw(struct textpage *p, struct grid *g);
void textpage_fini(struct textpage *p);

/* Where in a text to begin so that its first columns are left out. */
size_t textpage_shifted(const struct grid *g, unsigned columns, const char *text, size_t n);

/* One step to the side: how many columns of long lines are left out. */
void textpage_shift(unsigned *shift, bool is_right);

/* Farther than any text or table is long. */
#define TEXTPAGE_FAR (1l << 40)

/* A position among n, moved, but not beyond the first and the last. */
size_t textpage_moved(size_t at, long by, size_t n);

#endif
