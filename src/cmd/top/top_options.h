/*
 * top_options.h - top: its options, as given.
 *
 * Owns     the words of events; other strings are argv's
 */
#ifndef PACE_CMD_TOP_OPTIONS_H
#define PACE_CMD_TOP_OPTIONS_H

#include "cmd/record/record_options.h"
#include "cmd/codeoptions.h"
#include "cmd/graphwords.h"
#include "cmd/symbols.h"
#include "profile/gather/filter.h"
#include "cmd/live/feed.h"
#include "view/text/colour.h"

/* Seconds between two refreshes. */
#define TOP_DELAY_LEAST 0.05
#define TOP_DELAY_MOST  86400

struct top_options {
	/* First: the rows that both commands have fill it in. Only what concerns sampling is used. */
	struct record_options record;
	const char *sort, *fields, *widths, *ignored_callees;
	const char *fleet; /* the address of a fleet's store; NULL: this machine */
	struct graph_options graph;
	struct symbol_options symbols;
	struct code_options code; /* of the screen that shows code */
	struct profile_filter filter;
	double delay_s; /* negative: the default */
	double percent_limit;
	u64 n_rows, n_refreshes, least_samples;
	u64 count_most; /* addresses of a chain; 0: the default */
	bool hides_kernel, hides_user, has_idle, is_zeroed;
	bool has_counts, has_periods;
	bool is_text, is_json, is_screen;
	int children, inlines;
	int browser; /* --tui; -1: where the terminal allows it */
	enum colour_mode colour;
};

extern const struct opt top_option_rows[];

/* The defaults. */
void top_options_init(struct top_options *o);

/* What is wrong with them together, and with a command: ERR_INVAL. */
int top_options_check(const struct top_options *o, bool has_command, struct err *err);
/* What of them concerns measuring; it borrows them. */
struct feed_options top_options_feed(const struct top_options *o);
void top_options_fini(struct top_options *o);

#endif
