/*
 * diffpage.h - what the page of diff --html says besides stacks.
 *
 * In       the recordings; for each event how much runs differ
 * Out      facts, and the document "sides": {"events": [{"has_variance", "factor"}, ...]}: the variance between runs of one side as a
 *          multiple of that from sampling, if there are several on each side
 */
#ifndef PACE_CMD_DIFFPAGE_H
#define PACE_CMD_DIFFPAGE_H

#include "profile/diff/significance.h"
#include "view/forms/forms.h"

struct diffpage {
	const struct delta_recording *recordings;
	size_t n;
	struct str text;
};

void diffpage_open(struct diffpage *p, const struct delta_recording *recordings, size_t n);
void diffpage_add_event(struct diffpage *p, const struct significance *s);

/* Gives all that to *ret_about. */
void diffpage_close(struct diffpage *p, struct page_about *ret_about);

#endif
