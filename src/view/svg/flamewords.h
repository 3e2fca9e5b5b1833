/*
 * flamewords.h - what a flame graph says: the texts of its boxes, and the lines above and below them.
 *
 * In       boxes, their changes, what is known of the recording
 * Out      text; markup where it says so
 * Owns     nothing
 */
#ifndef PACE_VIEW_FLAMEWORDS_H
#define PACE_VIEW_FLAMEWORDS_H

#include "view/svg/boxes.h"
#include "view/svg/change.h"
#include "view/svg/picture.h"

enum { FLAMEWORDS_NAME = 300 }; /* characters of a name; longer ones are cut in the middle */

struct flamewords {
	const struct rowset *r;
	const struct boxes *b;
	const struct changes *c; /* NULL: no comparison */
	const struct picture *p;
	u32 part; /* the event, if it is no comparison */
};

/* Adds a name of at most FLAMEWORDS_NAME characters. True: it was cut. */
bool flamewords_add_name(struct str *out, const char *name);

/* Adds the name of a box as markup, at most `columns` wide; a change has its sign. */
void flamewords_add_label(const struct flamewords *w, size_t box, size_t columns, struct str *out);

/* Adds how much more than before there is, in a few characters: "+22%", "-10%", "new". */
void flamewords_add_sign(const struct change *c, struct str *out);

/* Adds what a box says when it is pointed at, as markup: its name, where it is, its figures, a line each. */
void flamewords_add_title(const struct flamewords *w, size_t box, struct str *out);

/* Adds what is drawn: the event and its sum, or the two sides. */
void flamewords_add_facts(const struct flamewords *w, struct str *out);

/* Adds what was merged; nothing, if nothing was. */
void flamewords_add_merged(const struct flamewords *w, struct str *out);

/* Adds what colours of a comparison mean. */
void flamewords_add_colours(const struct flamewords *w, struct str *out);

/* Adds what only A has; nothing, if there is nothing. */
void flamewords_add_gone(const struct flamewords *w, struct str *out);

/* The columns that text takes: two for most characters from U+1100 on. */
size_t flamewords_columns(const char *text, size_t n);

#endif
