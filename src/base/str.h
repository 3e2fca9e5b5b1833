/*
 * str.h - text that grows, and text that is stored once.
 *
 * struct str     {0} is the empty string; at[n] is always NUL once something was added
 * struct intern  equal strings get the same pointer, so that pointers can be compared instead
 * Owns     str its buffer; intern every string it handed out, until intern_fini()
 * Threads  one at a time
 */
#ifndef PACE_BASE_STR_H
#define PACE_BASE_STR_H

#include <stdarg.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

struct str {
	char *at;
	size_t n, cap;
};

/* The text so far, never NULL, valid until the next change. */
static inline const char *str_text(const struct str *s)
{
	return s->at ? s->at : "";
}

void str_reserve(struct str *s, size_t more);
/* Gives memory back, if there is far more than the text takes: of buffers that were large once. */
void str_shrink(struct str *s);
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const void *text, size_t n);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) PRINTF(2, 3);
void str_vaddf(struct str *s, const char *fmt, va_list ap);
void str_fill(struct str *s, char c, size_t n);
/* Pads the text from `start` on to `width` characters, with spaces in front of it. */
void str_pad_left(struct str *s, size_t start, size_t width);
/* The same, with spaces after it. */
void str_pad_right(struct str *s, size_t start, size_t width);
/* Adds a word of pace's own, right-aligned in `width` columns. */
void str_add_right(struct str *s, const char *word, size_t width);

/* Adds v in hexadecimal, right-aligned in `width` columns, as most lines of disassembly begin. */
void str_add_hex(struct str *s, u64 v, size_t width);

/*
 * Adds foreign text so that a terminal shows it and does nothing else: control characters (C0, DEL,
 * C1), bidirectional overrides and bytes that are not UTF-8 become \xNN. Returns the columns used,
 * counting one for each character.
 */
size_t str_add_safe(struct str *s, const char *text, size_t n);

/* Cuts the text to n bytes. */
void str_cut(struct str *s, size_t n);
void str_clear(struct str *s); /* keeps the buffer */
void str_fini(struct str *s);

struct intern {
	struct table index;
	VEC(const char *) strings;
	struct arena arena;
};

/* The one stored copy of the n bytes at text, or of those before the first NUL. */
const char *intern_add(struct intern *in, const char *text, size_t n);
const char *intern_str(struct intern *in, const char *text);
void intern_fini(struct intern *in);

#endif
