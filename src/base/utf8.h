/*
 * utf8.h - characters of foreign text, and which of them a terminal obeys instead of showing them.
 *
 * Source   RFC 3629; Unicode Standard Annexes 9 (bidirectional marks, overrides and isolates) and 11 (wide
 *          characters); combining characters: the blocks that consist of nothing else
 */
#ifndef PACE_BASE_UTF8_H
#define PACE_BASE_UTF8_H

#include "base/types.h"

enum { UTF8_LENGTH_MAX = 4 }; /* of a character, in bytes */

/*
 * The length in bytes of the character at p, where n >= 1 bytes may be read; 0 if it is not valid UTF-8,
 * which overlong forms and surrogates are not. *ret_cp is its code point.
 */
size_t utf8_length(const u8 *p, size_t n, u32 *ret_cp);

/*
 * Whether a terminal shows the character and does nothing else. It obeys control characters (C0, DEL,
 * C1), characters that reorder the text that follows, and separators of lines and paragraphs. All of
 * these have four hexadecimal digits.
 */
bool utf8_is_shown(u32 cp);

/* The columns of a terminal that the character takes: 2 if it is wide, 0 if it belongs to the one before, else 1. */
unsigned utf8_columns(u32 cp);

#endif
