/*
 * markup.h - foreign text within HTML and XML: it appears, and does nothing else.
 *
 * In       text of any bytes
 * Out      characters that XML 1.0 allows, with entities for those that mean something; control characters, those that reorder text and
 *          bytes that are not UTF-8 as \xNN or \uNNNN
 * Owns     nothing
 * Source   Extensible Markup Language 1.0, section 2.2
 */
#ifndef PACE_VIEW_MARKUP_H
#define PACE_VIEW_MARKUP_H

#include "base/str.h"

void markup_add(struct str *out, const char *text);

/* Adds n bytes of text that str_add_safe() made. */
void markup_addn(struct str *out, const char *safe, size_t n);

#endif
