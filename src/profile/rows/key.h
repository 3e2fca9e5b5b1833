/*
 * key.h - everything a report can sort by or show in a column: one row of a table each.
 *
 * Adding a key is adding a row to one of the families (key_*.c): option parsing, grouping, sorting,
 * titles, columns and help follow. How wide a column is and what perf prints in it is in view/text/celltext.c.
 * Source   perf-report(1), --sort and --fields
 */
#ifndef PACE_PROFILE_KEY_H
#define PACE_PROFILE_KEY_H

#include "base/err.h"
#include "base/str.h"
#include "profile/rows/cell.h"
#include "profile/rows/hist.h"
#include "profile/gather/naming.h"

enum key_frame {
	KEY_NO_FRAME,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_LINE,
	KEY_FILE,
	KEY_SIZE
}; /* what of a frame it tells apart */

/* An entry's value, that a cell is made of. */
struct key_value {
	const struct hist *hist;
	const struct hist_entry *entry;
	u32 event; /* of a figure: which of the table's */
	u64 label; /* of something to group by: what it sees of the entry's label; 0 without one */
	struct str *room; /* for texts that are put together */
};

struct key {
	const char *name, *alias;
	const char *title;
	const char *title_with_children; /* NULL: the same */
	const char *help;
	bool is_value;     /* a figure; else something to group by */
	bool is_wall;      /* only of recordings that are read as time on and off CPUs */
	bool is_of_blocks; /* only where the cycles from branch to branch are counted */
	/*
	 * What tells entries apart: a label of the rows, or something of the frame. A figure has neither,
	 * or a label that is added up.
	 */
	enum profile_label label;
	bool is_of_line; /* the label is a frame whose line of source is needed */
	enum key_frame frame;
	bool has_name; /* cells are numbers that have a name: programs get a column NAME_name */
	bool is_descending; /* something to group by: the largest value first */
	/* A figure: what rows are put in order by, the largest first; NULL: they cannot be. */
	u64 (*figure)(const struct hist *h, const struct hist_entry *e, u32 k);
	/* With a label: what of it tells entries apart; NULL: all. */
	u64 (*value)(const struct profile *p, u64 label);
	/* With a label: the order of two values; NULL: as numbers. */
	int (*compare)(const struct profile *p, u64 a, u64 b);
	enum cell_kind kind; /* of its cells, unless nothing is known */
	/* Fills in a cell that is nothing yet. */
	void (*cell)(const struct key_value *v, struct cell *ret);
};

/* The shares that rows stand in the order of, if nobody says otherwise. */
extern const struct key *const key_self;
extern const struct key *const key_total;

const struct key *key_find(const char *name, size_t n);
const struct key *key_at(size_t i); /* NULL behind the last */

/* All of them, a line each, by what they are about. */
void key_add_help(struct str *text);

/*
 * An entry's cell; of a figure what it has of one of the table's events. The room is the caller's: it is
 * cleared, and the cell's text may lie in it.
 */
void key_cell(const struct key *key, const struct hist *h, const struct hist_entry *e, u32 event,
	struct str *room, struct cell *ret);

/* In a table of several events figures have a part for each of them. */
unsigned key_n_parts(const struct key *key, const struct hist *h);

/* The cell of a label that is a text; a number, if it reads as one. */
void key_cell_decimal(const struct key_value *v, struct cell *ret);

/* The labels that rows need: LABEL_BIT()s. */
u64 key_labels(const struct key *const *keys, size_t n);

/* What of the sources they need. */
enum naming_source key_naming_source(const struct key *const *keys, size_t n);

/* Whether it tells branches apart, and nothing where samples are counted. */
bool key_is_of_branches(const struct key *key);

/* Keys that only one recording has: the key of that name, or NULL. */
struct key_source {
	void *ctx;
	const struct key *(*find)(void *ctx, const char *name, size_t n);
};

/* As key_parse_list(), with more keys. */
int key_parse_list_of(const char *text, const struct key_source *more, const struct key **keys,
	size_t max, size_t *ret_n, struct err *err);

/* Splits "comm,dso,symbol"; ERR_INVAL names the unknown key and the nearest one. */
int key_parse_list(const char *text, const struct key **keys, size_t max, size_t *ret_n,
	struct err *err);

/*
 * The place of each value in ascending order, equal values having the same: by symbol, by DSO, or
 * by group of the histogram, as the key tells apart. To be freed by mem_free().
 */
u32 *key_ranks(const struct key *key, const struct hist *h);

/* A symbol's text: its name, or its address. */
void key_add_symbol(const struct profile_symbol *s, struct str *text);

/* Of frames that labels are: what of them keys tell apart, and how these are ordered. */
u64 key_dso_of(const struct profile *p, u64 frame);
u64 key_function_of(const struct profile *p, u64 frame);
u64 key_line_of(const struct profile *p, u64 frame);
int key_compare_functions(const struct profile *p, u64 a, u64 b);
int key_compare_texts(const struct profile *p, u64 a, u64 b);

#endif
