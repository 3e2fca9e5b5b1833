/*
 * folded.h - stacks on one line each, root first: what flame graphs are drawn from.
 *
 *     sqlite3;main;sqlite3_step;sqlite3VdbeExec 120 143
 *
 * In       profiles with names and stacks, one or several
 * Out      a line for each distinct stack with a number for each column: samples
 * Owns     its lines until folded_fini()
 * Source   Brendan Gregg's stackcollapse and difffolded formats
 */
#ifndef PACE_VIEW_FOLDED_H
#define PACE_VIEW_FOLDED_H

#include "base/str.h"
#include "profile/calls.h"
#include "profile/profile.h"

struct folded_line {
	const char *stack;
	size_t counts; /* where its numbers begin in folded.counts */
};

struct folded {
	unsigned n_columns; /* set before the first one is added */
	VEC(struct folded_line) lines;
	VEC(u64) counts;
	struct table index;
	struct intern strings;
	VEC(u32) path; /* symbols of the stack that is being added, the innermost first */
	/* Names made of addresses get their builds, fun_1140@9a3b12cd: columns are of several. */
	bool has_builds;
	bool is_one_recording; /* all columns are: addresses of unknown builds are the same places */
	bool has_marks;        /* "_[k]" and its like, where profiles of other programs have them */
	bool skips_empty;      /* no columns that have nothing */
	bool has_periods;      /* numbers are not samples but what these stand for */
};

/* Adds the samples of an event to one column. A row's LABEL_COMM, if there is one, is the root. */
void folded_add(struct folded *f, const struct profile *p, const struct calls *c, u32 event,
	unsigned column);

/* All lines, sorted by their stacks. */
void folded_add_text(struct folded *f, struct str *text);
void folded_fini(struct folded *f);

#endif
