/*
 * key.h - everything a report can sort by or show in a column: one row of a table each.
 *
 * Adding a key is adding a row: option parsing, grouping, sorting, headers, columns and help follow.
 * Source   perf-report(1), --sort and --fields
 */
#ifndef PACE_PROFILE_KEY_H
#define PACE_PROFILE_KEY_H

#include "base/err.h"
#include "base/str.h"
#include "profile/hist.h"

enum key_frame { KEY_NO_FRAME, KEY_DSO, KEY_SYMBOL }; /* what of a frame it tells apart */

struct key {
	const char *name, *alias;
	const char *header;
	const char *header_with_children; /* NULL: the same */
	const char *help;
	bool is_value;	  /* a figure, right-aligned; else something to group by */
	unsigned labels;  /* bits 1 << enum profile_label that rows must have */
	enum key_frame frame;
	unsigned min_width;
	/* ascending; NULL for figures */
	int (*compare)(const struct profile *p, const struct hist_entry *a, const struct hist_entry *b);
	void (*print)(const struct hist *h, const struct hist_entry *e, struct str *text);
	bool is_narrow; /* what it prints is never wider than its header: no need to measure */
};

const struct key *key_find(const char *name, size_t n);
const struct key *key_at(size_t i); /* NULL behind the last */

/* Splits "comm,dso,symbol"; ERR_INVAL names the unknown key and the nearest one. */
int key_parse_list(const char *text, const struct key **keys, size_t max, size_t *ret_n, struct err *err);

/* A symbol's text: its name, or its address. */
void key_add_symbol(const struct profile *p, const struct profile_symbol *s, bool is_padded, struct str *text);

#endif
