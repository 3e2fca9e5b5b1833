/*
 * json.h - writes JSON: the members of an object, each followed by a comma.
 *
 *     str_addc(&text, '{');
 *     json_text(&text, "name", name);
 *     json_u64(&text, "count", n);
 *     json_open(&text, "names", '[');
 *     json_element(&text, name);
 *     json_close(&text, ']');
 *     json_end(&text, '}');          removes the last comma
 *
 * Keys and texts are untrusted: characters that a terminal would obey (utf8.h) are written as \uXXXX,
 * and each byte that is not valid UTF-8 as U+FFFD. Addresses are strings like "0x1f", because most
 * readers cannot represent numbers beyond 2^53.
 * Source   RFC 8259
 */
#ifndef PACE_BASE_JSON_H
#define PACE_BASE_JSON_H

#include "base/str.h"
#include "base/types.h"

void json_string(struct str *out, const char *text); /* quoted; no comma */
void json_key(struct str *out, const char *key);
void json_text(struct str *out, const char *key, const char *text); /* NULL: null */
void json_u64(struct str *out, const char *key, u64 v);
void json_bool(struct str *out, const char *key, bool v);
void json_s64(struct str *out, const char *key, s64 v);
void json_hex(struct str *out, const char *key, u64 v);
void json_null(struct str *out, const char *key);
void json_element(struct str *out, const char *text); /* of an array */
void json_element_u64(struct str *out, u64 v);

/* Begins a member that is an object or an array with the bracket `open`. json_close() ends it and adds a comma. */
void json_open(struct str *out, const char *key, char open);
void json_close(struct str *out, char close);

/* Ends an object or an array: replaces the last comma with `close`. */
void json_end(struct str *out, char close);

#endif
