/*
 * paint.h - colours of pictures: a hue for each kind of code, a lightness for each name; for changes red and blue, with a pattern each.
 *
 * The same name always has the same colour. Kinds have the hues that the page of --html gives them (KINDS of view/html/flame.js).
 * In       kinds (profile/rows/codekind.h), names, steps (view/svg/change.h)
 * Out      values of the attribute fill
 * Owns     nothing
 */
#ifndef PACE_VIEW_PAINT_H
#define PACE_VIEW_PAINT_H

#include "base/str.h"
#include "base/types.h"

struct paint_kind {
	char kind;     /* enum codekind */
	u16 hue;       /* degrees */
	u8 saturation; /* percent */
	const char *word;
};

/* Ended by a kind of 0. */
extern const struct paint_kind paint_kinds[];

/* Adds the colour of a name; NULL: of the kind in general. */
void paint_add(struct str *out, char kind, const char *name);

/* Adds what a change of so many steps is filled with. */
void paint_add_change(struct str *out, int step);

/* Adds the patterns that changes, rests and lost samples are filled with. */
void paint_add_patterns(struct str *out, bool has_changes);

#define PAINT_REST "url(#dots)"
#define PAINT_LOST "url(#crosses)"

#endif
