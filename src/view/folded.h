/*
 * folded.h - stacks on one line each, root first: what flame graphs are drawn from.
 *
 *     sqlite3;main;sqlite3_step;sqlite3VdbeExec 120 143
 *
 * In       profiles with names and stacks, one or several
 * Out      a line for each distinct stack with a number for each profile: samples
 * Owns     its lines until folded_fini()
 * Source   Brendan Gregg's stackcollapse and difffolded formats
 */
#ifndef PACE_VIEW_FOLDED_H
#define PACE_VIEW_FOLDED_H

#include "base/str.h"
#include "profile/calls.h"
#include "profile/profile.h"

enum { FOLDED_COLUMNS = 2 };

struct folded_line {
	const char *stack;
	u64 n[FOLDED_COLUMNS];
};

struct folded {
	VEC(struct folded_line) lines;
	struct table index;
	struct intern strings;
	/* Names made of addresses get their builds, fun_1140@9a3b12cd: columns are of several. */
	bool has_builds;
	bool is_one_recording; /* all columns are: addresses of unknown builds are the same places */
};

/* Adds the samples of an event to one column. A row's LABEL_COMM, if there is one, is the root. */
void folded_add(struct folded *f, const struct profile *p, const struct calls *c, u32 event,
	unsigned column);

/* All lines, sorted by their stacks, with the first n_columns numbers. */
void folded_add_text(struct folded *f, unsigned n_columns, struct str *text);
void folded_fini(struct folded *f);

#endif
