/*
 * celltext.h - how cells stand in text: perf's widths, padding and words for what is not known.
 *
 * What a key has no row for follows from its kind: figures are 8 wide and flush right, what rows are
 * grouped by is flush left and as wide as it needs.
 * In       cells of keys
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_CELLTEXT_H
#define PACE_VIEW_CELLTEXT_H

#include "profile/rows/key.h"
#include "profile/rows/rowset.h"

struct celltext {
	const char *key;     /* its name */
	const char *title;   /* as perf has it, padded; NULL: the key's */
	const char *unknown; /* what stands for a value that is not known */
	u8 width;            /* at least */
	bool is_right;       /* flush right */
	void (*add)(const struct cell *c, struct str *text); /* NULL: as any text */
};

struct celltext celltext_of(const struct key *key);
struct celltext celltext_of_column(const struct rowset_column *c);

void celltext_add(const struct celltext *l, const struct cell *c, struct str *text);
/* The cells of a row in a column, for each part that the column has. */
void celltext_add_row(const struct celltext *l, const struct rowset *r,
	const struct rowset_column *c, size_t row, struct str *room, struct str *text);

#endif
