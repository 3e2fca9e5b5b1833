/*
 * parts.h - the parts of a recording's file: what its header says lies where.
 *
 * In       an open reader
 * Owns     the list, not the names
 * Units    bytes and offsets of the file
 */
#ifndef PACE_VIEW_PARTS_H
#define PACE_VIEW_PARTS_H

#include "base/str.h"
#include "file/reader.h"

#define PARTS_TABLE   "table of sections"
#define PARTS_PADDING "padding"

struct part {
	const char *name; /* NULL: a section by its number */
	unsigned id;
	u64 offset, size;
};

struct parts {
	struct part *at;
	size_t n, cap;
};

/* Lists the parts in the order of the file. Zeros between and after the parts are parts too: padding. */
void parts_list(const struct reader *r, struct parts *parts);
void parts_fini(struct parts *parts);

u64 parts_end_of(const struct part *p);
void parts_add_name(const struct part *p, struct str *text);

#endif
