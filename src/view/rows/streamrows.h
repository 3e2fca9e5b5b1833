/*
 * streamrows.h - the streams of two recordings as a table of cells.
 *
 * In       streams, paired and sorted; recordings; what to show
 * Out      struct rowset: figures of both sides, and the stream as one text; programs that read JSON get its steps, too
 * Owns     what streamrows_init() makes
 */
#ifndef PACE_VIEW_STREAMROWS_H
#define PACE_VIEW_STREAMROWS_H

#include "profile/rows/rowmaker.h"
#include "view/diff/streamtext.h"

struct streamrows {
	struct rowset rows, head;
	struct rowmaker made, facts;
};

/* has_steps: with a table of each stream's steps in its row. */
void streamrows_init(struct streamrows *r, const struct streamtext *what, const char *event,
	const struct delta_recording *recordings, size_t n, bool is_data, bool has_steps);
void streamrows_fini(struct streamrows *r);

#endif
