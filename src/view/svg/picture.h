/*
 * picture.h - what is asked of a picture, and what it says about itself.
 */
#ifndef PACE_VIEW_PICTURE_H
#define PACE_VIEW_PICTURE_H

#include "base/str.h"
#include "profile/diff/delta.h"

enum { PICTURE_WIDTH = 1200, PICTURE_NARROWEST = 240, PICTURE_WIDEST = 16384 };

struct picture_options {
	const char *title; /* NULL: the command that was recorded */
	const char *event; /* the only one that is drawn; NULL: the first */
	u64 width;         /* pixels; 0: PICTURE_WIDTH */
	double least_pct;  /* what has less than this share is merged */
	bool is_icicle, is_inverted, is_heaviest;
};

/* How recordings are made comparable: see delta_level(). */
enum picture_scale { PICTURE_BY_LEVEL, PICTURE_BY_TOTAL, PICTURE_BY_RUN };

struct picture {
	const struct picture_options *options; /* NULL: the defaults */
	/* Of a comparison: what each part of the table is of, A's first; NULL: parts are events. */
	const struct delta_recording *recordings;
	enum picture_scale scale;
	const char *notes; /* sentences about how recordings are compared, safe; or NULL */
	struct str said;   /* what was drawn, and what was merged: for whoever asked */
};

#endif
