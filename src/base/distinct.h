/*
 * distinct.h - byte strings, each kept once and numbered in the order in which they came.
 *
 * Formats whose parts refer to each other by number are written with it: their texts, and their messages once they are
 * encoded.
 * In       byte strings; they may hold any bytes
 * Out      numbers from 0 on, and the strings in that order
 * Owns     the copies, until distinct_fini()
 */
#ifndef PACE_BASE_DISTINCT_H
#define PACE_BASE_DISTINCT_H

#include "base/mem.h"
#include "base/table.h"
#include "base/vec.h"

struct distinct_item {
	const char *at; /* ends with a NUL that does not count */
	size_t n;
};

struct distinct {
	VEC(struct distinct_item) items;
	struct table index;
	struct arena arena;
};

/* The number of the string, which is new if there is none like it. */
u32 distinct_add(struct distinct *d, const void *data, size_t n);
u32 distinct_add_text(struct distinct *d, const char *text);
void distinct_fini(struct distinct *d);

#endif
