/*
 * arrows.h - jumps, drawn in a margin next to the instructions.
 *
 * In       which row jumps to which
 * Out      for each row a piece of text, all of the same width:
 *
 *              ,--   jle
 *              | ,-> mov
 *              | '-- jne
 *              '---> ret
 *
 *          Jumps to the same row share a line. Those that are too long or find no room are left out
 * Owns     its cells
 */
#ifndef PACE_VIEW_ARROWS_H
#define PACE_VIEW_ARROWS_H

#include "base/str.h"
#include "base/types.h"

#define ARROWS_NONE UINT32_MAX

enum { ARROWS_LANES = 8, ARROWS_REACH = 4096 };

struct arrows {
	u32 n_rows;
	unsigned n_lanes; /* used */
	u8 *cells; /* ARROWS_LANES for each row, the innermost first: what the lane does there */
};

/* `to` has n rows: where each jumps to, or ARROWS_NONE. */
void arrows_init(struct arrows *a, const u32 *to, u32 n);
void arrows_fini(struct arrows *a);

/* Adds the row's part of the drawing: the same width for each row, nothing if nothing is drawn. */
void arrows_add(const struct arrows *a, u32 row, struct str *text);

#endif
