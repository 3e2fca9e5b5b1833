/*
 * marshal.h - values as Python reads them with marshal.loads().
 *
 * Containers of unknown length: marshal_open() writes the beginning, marshal_close() how many values it got.
 * In       numbers, texts, bytes
 * Out      their encoding, appended to a struct str: version 2 of the format, which all of Python's versions read
 * Errors   none: bytes that are not UTF-8 become U+FFFD in texts
 * Source   the documentation of Python's module marshal; what marshal.dumps(value, 2) writes
 */
#ifndef PACE_BASE_MARSHAL_H
#define PACE_BASE_MARSHAL_H

#include "base/str.h"

void marshal_none(struct str *s);
void marshal_bool(struct str *s, bool v);
void marshal_u64(struct str *s, u64 v);
void marshal_s64(struct str *s, s64 v);
void marshal_text(struct str *s, const char *text, size_t n);
void marshal_bytes(struct str *s, const void *at, size_t n);

enum marshal_kind { MARSHAL_LIST = '[', MARSHAL_TUPLE = '(' };

/* Returns the place that marshal_close() needs. */
size_t marshal_open(struct str *s, enum marshal_kind kind);
void marshal_close(struct str *s, size_t place, u32 n);

/* Keys and values follow, each a value of its own. */
void marshal_open_dict(struct str *s);
void marshal_close_dict(struct str *s);

#endif
