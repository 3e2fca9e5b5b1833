/*
 * part.h - some rows of a profile as a profile of its own, for views that show less and go back.
 *
 * In       a profile with names, its call tree; which rows
 * Out      a profile and a call tree with these rows. All else is the whole's: events keep their totals
 *          unless shares are relative
 * Owns     its rows; the whole must stay, and must not change
 * Errors   none
 */
#ifndef PACE_PROFILE_PART_H
#define PACE_PROFILE_PART_H

#include "profile/tree/calls.h"

struct part {
	struct profile profile; /* without a timeline */
	struct calls calls;
};

void part_init(struct part *part, const struct profile *p, const struct calls *c, bool is_relative,
	bool (*is_kept)(void *ctx, size_t row), void *ctx);
void part_fini(struct part *part);

#endif
