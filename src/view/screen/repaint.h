/*
 * repaint.h - what a terminal must be told so that it shows another grid.
 *
 * In       the grid that it shows, the grid that it is to show
 * Out      control sequences of ECMA-48 and texts: only cells that differ
 * Owns     nothing
 * Source   ECMA-48 (CUP, SGR); ISO 8613-6 (SGR 38 and 48: 24-bit and indexed colours)
 */
#ifndef PACE_VIEW_REPAINT_H
#define PACE_VIEW_REPAINT_H

#include "view/screen/grid.h"

enum repaint_colours { REPAINT_NONE, REPAINT_16, REPAINT_256, REPAINT_RGB };

/* The colours of a terminal, by the values of COLORTERM, TERM and NO_COLOR; each may be NULL. */
enum repaint_colours repaint_colours(const char *colorterm, const char *term, const char *no_color);

/* `from` NULL or of another size: the whole screen. Text and colours end as the terminal's own. */
void repaint(const struct grid *from, const struct grid *to, enum repaint_colours colours,
	struct str *text);

#endif
