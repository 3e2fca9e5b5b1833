/*
 * streamtext.h - the hottest streams of two recordings as text: those that both have, side by side, then those of each.
 *
 * In       streams, paired and sorted
 * Out      text in perf's layout
 * Owns     nothing
 */
#ifndef PACE_VIEW_STREAMTEXT_H
#define PACE_VIEW_STREAMTEXT_H

#include "profile/diff/branchstreams.h"
#include "view/diff/diff.h"

enum { STREAMTEXT_MOST = 5 }; /* of each side, unless all are wanted: perf's number */

/* "inner a.c:12", or "inner+0x4" where the line is not known. */
void streamtext_add_step(const struct branchstream_step *step, struct str *text);

struct streamtext {
	const struct branchstreams *streams;
	const char *event;            /* NULL: there is only one */
	bool has_cycles[DELTA_SIDES]; /* the processor counted them */
	const struct diff_options *options;
};

void streamtext_add(const struct streamtext *t, struct str *text);

#endif
