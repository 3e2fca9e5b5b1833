/*
 * lookalike.h - characters that printed text has where a keyboard has '-', '"' or '\''.
 *
 * Commands that were copied out of books and web pages contain them. Each is three bytes of UTF-8;
 * no option, event or key has any of them.
 */
#ifndef PACE_BASE_LOOKALIKE_H
#define PACE_BASE_LOOKALIKE_H

enum { LOOKALIKE_BYTES = 3 };

struct lookalike {
	const char *utf8; /* the character */
	char plain;       /* what is meant */
};

/* The lookalike that `text` begins with, or NULL. */
const struct lookalike *lookalike_at(const char *text);

#endif
