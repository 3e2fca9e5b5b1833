/*
 * key.h - everything a report can sort by or show in a column, each as one row of a table.
 *
 * To add a key, add a row to one of the families (key_*.c): option parsing, grouping, sorting, titles, columns
 * and help follow. Widths of columns, and what perf prints in them, are in view/text/celltext.c.
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
}; /* the property of a frame by which a key groups */

/* The value of an entry from which a key makes a cell. */
struct key_value {
	const struct hist *hist;
	const struct hist_entry *entry;
	u32 event;        /* for a figure: which event of the table */
	u64 label;        /* for a key to group by: its value of the entry's label; 0 without one */
	struct str *room; /* for texts that the key builds */
	const struct key *key;
};

struct key {
	const char *name, *alias;
	const char *title;
	const char *title_with_children; /* NULL: the same */
	const char *help;
	bool is_value;      /* a figure; else something to group by */
	bool is_wall;       /* only for recordings that are read as wall-clock time */
	bool is_of_blocks;  /* only if the cycles between branches are counted */
	bool is_of_history; /* only if stacks begin with the branches before samples */
	bool is_of_code;    /* only for rows by function: hist->options->ipc */
	/*
	 * The key groups entries by a label of the rows or by a property of the frame. A figure has neither,
	 * or a label that is summed up.
	 */
	enum profile_label label;
	bool is_of_line; /* the label is a frame whose source line is needed */
	enum key_frame frame;
	bool has_name; /* cells are numbers that have a name: programs get a column NAME_name */
	bool is_descending; /* for a key to group by: the largest value comes first */
	/* For a figure: what is summed up for it beside its label. */
	const struct hist_sum *sums;
	u8 n_sums;
	bool is_data;           /* programs get the figure itself */
	const struct key *data; /* what programs get besides that, and the sum of its label */
	u8 n_data;
	bool has_parts; /* people see the data, too, as far as there are some, side by side in one band */
	const char *band; /* of such a part: the title of the whole */
	/* For a figure: the number to sort rows by, the largest first; NULL: no sorting by it. */
	u64 (*figure)(const struct hist *h, const struct hist_entry *e, u32 k);
	/* With a label: the part of it to group by; NULL: all of it. */
	u64 (*value)(const struct profile *p, u64 label);
	/* With a label: compares two values; NULL: as numbers. */
	int (*compare)(const struct profile *p, u64 a, u64 b);
	enum cell_kind kind; /* of its cells, unless the value is unknown */
	/* Fills in a cell that is zeroed. */
	void (*cell)(const struct key_value *v, struct cell *ret);
};

/* The shares by which rows are sorted by default. */
extern const struct key *const key_self;
extern const struct key *const key_total;
/* The same of sampled latency. */
extern const struct key *const key_total_latency;
/* What "latency" means of recordings that are not read as wall-clock time. */
extern const struct key key_sampled_latency;

const struct key *key_find(const char *name, size_t n);
/* Of the words of -F: some name figures that break the period down, where -s groups by what they say. */
const struct key *key_find_field(const char *name, size_t n);
/* Of these words, those that name sums in -s and averages in -F: the average's own name; else NULL. */
const char *key_field_average(const char *name, size_t n);
const struct key *key_at(size_t i); /* NULL past the last */

/* Adds a line of help for each key, family by family. */
void key_add_help(struct str *text);

/*
 * Fills in an entry's cell; for a figure, the value of one event of the table. The caller owns the room: it is
 * cleared, and the cell's text may be in it.
 */
void key_cell(const struct key *key, const struct hist *h, const struct hist_entry *e, u32 event,
	struct str *room, struct cell *ret);

/* Fills in the cell of a text label, as a number if the text is a decimal number. */
void key_cell_decimal(const struct key_value *v, struct cell *ret);

/* The labels that these keys need in rows: LABEL_BIT()s. */
u64 key_labels(const struct key *const *keys, size_t n);

/* The part of the source location that these keys need. */
enum naming_source key_naming_source(const struct key *const *keys, size_t n);

/* Whether the key groups branches, so that it has no value where samples are counted. */
bool key_is_of_branches(const struct key *key);

/* A source of keys that only one recording has; find: the key of that name, or NULL. */
struct key_source {
	void *ctx;
	bool has_fields; /* the words are those of -F: key_find_field() */
	const struct key *(*find)(void *ctx, const char *name, size_t n);
};

/* Like key_parse_list(), with keys from `more` too. */
int key_parse_list_of(const char *text, const struct key_source *more, const struct key **keys,
	size_t max, size_t *ret_n, struct err *err);

/* Splits "comm,dso,symbol"; ERR_INVAL names the unknown key and the nearest one. */
int key_parse_list(const char *text, const struct key **keys, size_t max, size_t *ret_n,
	struct err *err);

/*
 * The rank of each value in ascending order, equal values having the same rank: an array by symbol, by DSO, or by
 * group of the histogram, depending on the key. The caller frees it with mem_free().
 */
u32 *key_ranks(const struct key *key, const struct hist *h);

/* A symbol's text: its name, or its address. */
void key_add_symbol(const struct profile_symbol *s, struct str *text);

/* For labels that are frames: the values that keys group by, and the order of these. */
u64 key_dso_of(const struct profile *p, u64 frame);
u64 key_function_of(const struct profile *p, u64 frame);
u64 key_line_of(const struct profile *p, u64 frame);
int key_compare_functions(const struct profile *p, u64 a, u64 b);
int key_compare_texts(const struct profile *p, u64 a, u64 b);

#endif
