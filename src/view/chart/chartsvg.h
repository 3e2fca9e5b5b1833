/*
 * chartsvg.h - a chart of CPUs and tasks as one SVG, of a size that is bounded however long the recording was.
 *
 * A lane is a group of paths, one for each state: each horizontal piece of a path is one interval, in ticks of time, so that the picture can
 * be zoomed without end. If there are many pieces there are two levels: the coarse one for a whole screen, the fine one for those who
 * zoom in. Browsers change over by themselves (media queries; and chartsvg.js, which also zooms along the axis of time only); viewers that
 * know neither always show the fine one.
 * In       a finished chart, which is made coarser; options; what is known of the recording
 * Out      one XML document
 * Owns     nothing
 * Limits   about CHARTSVG_FINE pieces in the fine level, CHARTSVG_COARSE in the coarse one
 * Source   Scalable Vector Graphics 1.1; CSS Media Queries 4
 */
#ifndef PACE_VIEW_CHARTSVG_H
#define PACE_VIEW_CHARTSVG_H

#include "base/out.h"
#include "view/chart/chartrows.h"

enum { CHARTSVG_WIDTH = 1000, CHARTSVG_FINE = 250000, CHARTSVG_COARSE = 60000 };

struct chartsvg_options {
	u64 width;
	bool has_power_only, has_tasks_only; /* only CPUs; only tasks */
	struct chartrows_options choice;
	const char *highlight_name; /* NULL: none */
	u64 highlight_ns;           /* pieces of running that last so long; 0: none */
	bool skips_eagain;
	u64 io_least_ns; /* shorter I/O is drawn as long as this */
};

/* All texts are foreign. */
struct chartsvg_about {
	const char *title, *remarks; /* remarks: lines */
	const u32 *cpu_order;        /* n_cpus of them; NULL: by number */
	size_t n_cpus;
};

void chartsvg_add(struct out *out, struct chart *t, const struct chartsvg_options *o,
	const struct chartsvg_about *about);

#endif
