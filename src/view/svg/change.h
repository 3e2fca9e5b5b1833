/*
 * change.h - how boxes of two sides differ: in which direction, by how much, and whether chance alone would do that.
 *
 * Recordings are first made comparable, as pace diff does it. With one recording a side, chance is that of sampling; with several, the
 * spread among them (profile/diff/significance.h).
 * In       boxes whose parts are recordings
 * Out      a change for each box
 * Owns     its array, until changes_fini()
 */
#ifndef PACE_VIEW_CHANGE_H
#define PACE_VIEW_CHANGE_H

#include "profile/diff/delta.h"
#include "view/svg/boxes.h"
#include "view/svg/picture.h"

enum { CHANGE_STEPS = 4 };

struct change {
	double ratio; /* B divided by A; NAN: not in A */
	double half;  /* of its 95% interval; NAN: not known */
	double share[DELTA_SIDES];
	bool is_unknown; /* only in B, but A's code there has no name either, or its callers have none */
	int step;        /* -CHANGE_STEPS to CHANGE_STEPS; 0: within chance */
};

struct changes {
	VEC(struct change) of; /* by box */
	double level;          /* B's divided by A's, by which B was divided */
	double whole;          /* all of B divided by all of A, before that */
	bool has_variance;     /* several recordings on each side */
};

void changes_init(struct changes *c, const struct boxes *b, const struct rowset *r,
	const struct picture *p);
void changes_fini(struct changes *c);

#endif
