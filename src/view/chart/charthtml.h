/*
 * charthtml.h - a chart of CPUs and tasks as a page for browsers, which needs nothing but itself.
 *
 * Data are columns (view/html/chunk.h), inflated and drawn by chartpage.js: rows, lives, pieces and wake-ups. Without scripts the page has the
 * sums of the busiest rows.
 * In       a finished chart; which rows; what is known of the recording
 * Out      one HTML document
 * Owns     nothing
 *
 * Chunks, all of numbers (varints) but for the first two: about (JSON), names (a line each); rows: name, process, lives, the first one's tid; lives: tid,
 * process, name, row + 1 (0: none), start, length, of which tid and start are distances from the life before and process from the tid, doubled, and
 * one less if they are negative; pieces: for each lane (CPUs, then rows) their number, then of each its distance from the one before,
 * 4 * state + 2 if it is of a group + 1 if it begins one, who + 1 (0: several), and at last the distance to the lane's end; wakes: distance
 * from the one before, life that wakes + 1 (0: not known), life that is woken, how many they are, the waker's stack. ios: from and length, kind
 * (enum chart_io_kind), life, bytes, file descriptor + 1, errno, how many they are; speeds: for each CPU their number, then times and kHz.
 * If there are stacks: frames (a line each), kinds (enum codekind of each); stacks: number - 1 - parent, frame, from node 1 on; waits: the distance
 * of their ends, length, life, stack, state; samples: time, life, stack. Times are ns since the beginning, or since the one before.
 */
#ifndef PACE_VIEW_CHARTHTML_H
#define PACE_VIEW_CHARTHTML_H

#include "view/chart/chartsvg.h"
#include "view/chart/chartstacks.h"

enum { CHARTHTML_PIECES = 2 << 20, CHARTHTML_ROWS = 20000, CHARTHTML_WAITS = 1 << 18 };

/* `stacks`: those of the chart's numbers; NULL: it has none. */
void charthtml_add(struct out *out, struct chart *t, const struct chartsvg_options *o,
	const struct chartsvg_about *about, const struct chartstacks *stacks);

#endif
