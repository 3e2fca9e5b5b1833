/*
 * json.h - JSON on its way out: members of an object, each with the comma behind it.
 *
 *     str_addc(&text, '{');
 *     json_text(&text, "name", name);
 *     json_u64(&text, "count", n);
 *     json_open(&text, "names", '[');
 *     json_element(&text, name);
 *     json_close(&text, ']');
 *     json_end(&text, '}');          takes the last comma away
 *
 * Keys and texts may be anybody's: what a terminal would obey (utf8.h) is written as \uXXXX, and text
 * that is no UTF-8 comes out as one: each byte that does not fit is U+FFFD. Addresses are
 * strings like "0x1f", because numbers beyond 2^53 do not survive most readers.
 * Source   RFC 8259
 */
#ifndef PACE_BASE_JSON_H
#define PACE_BASE_JSON_H

#include "base/str.h"
#include "base/types.h"

void json_string(struct str *out, const char *text); /* quoted; no comma */
void json_key(struct str *out, const char *key);
void json_text(struct str *out, const char *key, const char *text);
void json_u64(struct str *out, const char *key, u64 v);
void json_bool(struct str *out, const char *key, bool v);
void json_s64(struct str *out, const char *key, s64 v);
void json_hex(struct str *out, const char *key, u64 v);
void json_null(struct str *out, const char *key);
void json_element(struct str *out, const char *text); /* of an array */

/* A member that is an object or an array: `open` is its bracket. json_close() ends it, as json_end(). */
void json_open(struct str *out, const char *key, char open);
void json_close(struct str *out, char close);

/* Ends an object or array: `close` instead of the comma before it. */
void json_end(struct str *out, char close);

#endif
