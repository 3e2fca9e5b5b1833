/*
 * key.h - everything a report can sort by or show in a column: one row of a table each.
 *
 * Adding a key is adding a row: option parsing, grouping, sorting, headers, columns and help
 * follow.
 * Source   perf-report(1), --sort and --fields
 */
#ifndef PACE_PROFILE_KEY_H
#define PACE_PROFILE_KEY_H

#include "base/err.h"
#include "base/str.h"
#include "profile/hist.h"

enum key_frame {
	KEY_NO_FRAME,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_LINE,
	KEY_FILE,
	KEY_SIZE
}; /* what of a frame it tells apart */

struct key {
	const char *name, *alias;
	const char *header;
	const char *header_with_children; /* NULL: the same */
	const char *help;
	bool is_value;   /* a figure, right-aligned; else something to group by */
	bool is_right;   /* right-aligned though it is something to group by */
	bool is_wall;    /* of recordings with wall-clock time only, read as such */
	unsigned labels; /* bits 1 << enum profile_label that rows must have */
	enum key_frame frame;
	unsigned min_width;
	/* keys without a frame: ascending, by labels alone */
	int (*compare)(const struct profile *p, const u64 *labels_a, const u64 *labels_b);
	void (*print)(const struct hist *h, const struct hist_entry *e, struct str *text);
};

const struct key *key_find(const char *name, size_t n);
const struct key *key_at(size_t i); /* NULL behind the last */

/* Splits "comm,dso,symbol"; ERR_INVAL names the unknown key and the nearest one. */
int key_parse_list(const char *text, const struct key **keys, size_t max, size_t *ret_n,
	struct err *err);

/*
 * The place of each value in ascending order, equal values having the same: by symbol, by DSO, or
 * by group of the histogram, as the key tells apart. To be freed by mem_free().
 */
u32 *key_ranks(const struct key *key, const struct hist *h);

/* A symbol's text: its name, or its address. */
void key_add_symbol(const struct profile *p, const struct profile_symbol *s, bool is_padded,
	struct str *text);

#endif
