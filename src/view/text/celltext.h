/*
 * celltext.h - how text shows cells: perf's widths, padding and words for unknown values.
 *
 * A key without a row gets the layout of its kind: figures are 8 wide and flush right, keys that rows
 * are grouped by are flush left and as wide as needed.
 * In       cells of keys
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_CELLTEXT_H
#define PACE_VIEW_CELLTEXT_H

#include "profile/rows/key.h"
#include "profile/rows/rowset.h"

struct celltext {
	const char *key;     /* the key's name */
	const char *title;   /* perf's title, padded; NULL: the key's */
	const char *unknown; /* stands for an unknown value */
	u8 width;            /* minimum */
	bool is_right;       /* flush right */
	bool has_colour;     /* shares of the time have colours; only if it is flush right */
	void (*add)(const struct cell *c, struct str *text); /* NULL: adds it like any text */
};

enum { CELLTEXT_PART = 7 }; /* width of a part of a figure, with the blanks before it */

struct celltext celltext_of(const struct key *key);
struct celltext celltext_of_column(const struct rowset_column *c);

/* Adds the title without the blanks that align it; has_band: with what the column is a part of, "Mem Op: Load". */
void celltext_add_title(const struct celltext *l, const struct rowset_column *c, bool has_band,
	struct str *text);
/* Likewise in a line of titles, where the first part of a band says what all of them are parts of. */
void celltext_add_title_of(const struct celltext *l, const struct rowset *r, size_t column,
	struct str *text);

void celltext_add(const struct celltext *l, const struct cell *c, struct str *text);
/* Adds the cells of a row in a column, for each part that the column has. */
void celltext_add_row(const struct celltext *l, const struct rowset *r,
	const struct rowset_column *c, size_t row, struct str *room, struct str *text);

#endif
