/*
 * flamegraph.h - a flame graph as an SVG of bounded size, whatever the tree: it can be searched and zoomed, and read without scripts.
 *
 * In       rows with nodes and places (view/rows/stackrows.h); what is asked of the picture; what is known of the recording
 * Out      one XML document, with our script in it (flamegraph.js); what was drawn, in picture.said
 * Owns     nothing
 * Limits   FLAMEGRAPH_ELEMENTS elements, FLAMEGRAPH_BYTES bytes
 * Source   Scalable Vector Graphics 1.1
 */
#ifndef PACE_VIEW_FLAMEGRAPH_H
#define PACE_VIEW_FLAMEGRAPH_H

#include "base/out.h"
#include "profile/rows/rowset.h"
#include "view/svg/picture.h"

enum { FLAMEGRAPH_ELEMENTS = 10000, FLAMEGRAPH_BYTES = 2000000 };

/* Lines of text that stand above and below the graph. All texts are foreign. */
struct flamegraph_about {
	const char *title;
	const char *ledger;    /* lines that begin with "# " */
	u64 n_samples, n_lost; /* lost: what the kernel dropped */
	const char *lost;      /* what that is: "sample", or "record" */
};

void flamegraph_add(struct out *out, const struct rowset *r, struct picture *p,
	const struct flamegraph_about *about);

#endif
