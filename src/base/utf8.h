/*
 * utf8.h - characters of foreign text, and which of them a terminal obeys instead of showing them.
 *
 * Source   RFC 3629; Unicode Standard Annex 9 (bidirectional marks, overrides and isolates)
 */
#ifndef PACE_BASE_UTF8_H
#define PACE_BASE_UTF8_H

#include "base/types.h"

enum { UTF8_LENGTH_MAX = 4 }; /* of a character, in bytes */

/*
 * Bytes of the character at p, of which n >= 1 may be read; 0 if there is none: overlong forms and
 * surrogates are none. Its number goes to *ret_cp.
 */
size_t utf8_length(const u8 *p, size_t n, u32 *ret_cp);

/*
 * Whether a terminal shows the character and does nothing else. It obeys control characters (C0, DEL,
 * C1), what reorders the text that follows, and separators of lines and paragraphs. All of those have
 * four hexadecimal digits.
 */
bool utf8_is_shown(u32 cp);

#endif
