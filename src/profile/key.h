/*
 * key.h - everything a report can sort by or show in a column: one row of a table each.
 *
 * Adding a key is adding a row to one of the families (key_*.c): option parsing, grouping, sorting,
 * headers, columns and help follow.
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
	bool is_value; /* a figure, right-aligned; else something to group by */
	bool is_wall;  /* only of recordings that are read as time on and off CPUs */
	bool is_right; /* right-aligned though it is something to group by */
	/* What tells entries apart: a label of the rows, or something of the frame; neither: a figure. */
	enum profile_label label;
	enum key_frame frame;
	unsigned min_width;
	/* With a label: what of it tells entries apart; NULL: all. */
	u64 (*value)(const struct profile *p, u64 label);
	/* With a label: the order of two values; NULL: as numbers. */
	int (*compare)(const struct profile *p, u64 a, u64 b);
	/* `value` is the entry's, 0 without a label; see key_print(). */
	void (*print)(const struct hist *h, const struct hist_entry *e, u64 value,
		struct str *text);
};

const struct key *key_find(const char *name, size_t n);
const struct key *key_at(size_t i); /* NULL behind the last */

/* An entry's cell. */
void key_print(const struct key *key, const struct hist *h, const struct hist_entry *e,
	struct str *text);

/* The labels that rows need: LABEL_BIT()s. */
u64 key_labels(const struct key *const *keys, size_t n);

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
