/*
 * text.h - a report as plain text, in the layout that perf's users know.
 *
 * In       the entries of an event, the columns, how call graphs are drawn
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_TEXT_H
#define PACE_VIEW_TEXT_H

#include "base/out.h"
#include "profile/hist.h"
#include "profile/key.h"
#include "view/drawing.h"

struct text_options {
	const struct key *columns[HIST_KEYS_MAX];
	size_t n_columns;
	u16 fixed[HIST_KEYS_MAX]; /* how wide; 0: as wide as it needs */
	bool has_graph;
	struct drawing_options drawing;
	double row_limit; /* percent: smaller rows are not printed */
	unsigned n_workers;
	bool is_wall; /* who has told of samples has said more */
	bool is_bare; /* nothing but rows */
};

/* "# Samples: 3K of event ..." and what they stand for. */
void text_add_event(const struct profile_event *event, u64 n_samples, u64 period, struct str *text);

/* Whether the row has a call graph below it. */
bool text_has_graph(const struct hist *h, const struct hist_entry *e, const struct text_options *o);

/* The same of a histogram, which may be of several events. */
void text_add_title(const struct hist *h, struct str *text);

/* The title and the table of a histogram, which may be of several events. */
void text_report(struct out *out, const struct hist *h, const struct text_options *o);

#endif
