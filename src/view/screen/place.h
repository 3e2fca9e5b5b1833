/*
 * place.h - where a browser is in tables that change: the row of the cursor and all that is open, by their names.
 *
 * In       a browser, before and after its tables have become others
 * Out      the cursor on the same row or call, in the same line of the screen; the same trees and branches open. On the
 *          first line, with nothing open below it, the cursor is on whatever comes first
 * Owns     what place_keep() notes, until place_bring_back()
 */
#ifndef PACE_VIEW_PLACE_H
#define PACE_VIEW_PLACE_H

#include "base/table.h"
#include "view/screen/browser.h"

struct place {
	u64 row, node; /* of the cursor; node 0: the row itself */
	size_t line, first;
	size_t order;
	u32 part;
	size_t *widths, n_widths; /* of columns: they do not become narrower */
	unsigned shift;
	bool has_line, is_top;
	struct table open; /* of rows and branches: hashes of their names */
};

void place_keep(struct place *p, struct browser *b);

/* The tables are opened again (browser_renew()), then the browser is brought there. A row that is gone leaves the cursor in its line. */
void place_bring_back(struct place *p, struct browser *b);

#endif
