/*
 * glyph.h - foreign text, one glyph after the other: what a terminal draws in cells of its own.
 *
 * In       any bytes
 * Out      texts that draw in as many columns as they say, and do nothing else: controls, invisible characters, characters
 *          that reorder text, and bytes that are not UTF-8 become \xNN, \uNNNN or \UNNNNNN; marks stay on their character
 * Owns     nothing
 * Source   Unicode 14: general categories; widths: base/utf8.h
 */
#ifndef PACE_VIEW_GLYPH_H
#define PACE_VIEW_GLYPH_H

#include "base/types.h"

enum { GLYPH_SIZE = 16 }; /* bytes with the NUL at the end: a character and three or more marks */

struct glyph {
	char text[GLYPH_SIZE];
	u8 n;           /* bytes of `text` */
	u8 columns;     /* of an escape: one for each byte */
	bool is_escape; /* ASCII that stands for something else */
};

/* Takes the first glyph of n >= 1 bytes, and returns how many bytes it took. is_ascii: show other characters as escapes. */
size_t glyph_next(const char *text, size_t n, bool is_ascii, struct glyph *ret);

#endif
