/*
 * words.h - labels, numbers, times and untrusted text, in sentences and in columns.
 */
#ifndef PACE_VIEW_WORDS_H
#define PACE_VIEW_WORDS_H

#include "base/str.h"

enum { WORDS_LABEL = 13 }; /* columns of "Written by   " */

void words_add_safe(struct str *text, const char *s);
void words_add_label(struct str *text, const char *label);
/* Adds untrusted text in a column, cut to fit. */
void words_add_column(struct str *text, const char *s, unsigned width);
/* Adds a number with thousands separators, flush right. */
void words_add_number(struct str *text, u64 v, unsigned width);
/* "1 record", "2 records". */
void words_add_count(struct str *text, u64 n, const char *what);
void words_add_seconds(struct str *text, u64 ns);
/* Adds untrusted words in indented lines of at most `columns` columns. */
void words_add_wrapped(const char *words, size_t indent, size_t columns, struct str *text);
void words_add_ns(struct str *text, u64 ns);
/* The size of a page, which is a power of two: "4K". */
void words_add_page_size(struct str *text, u64 size);

#endif
