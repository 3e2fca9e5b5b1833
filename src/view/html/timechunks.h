/*
 * timechunks.h - the samples of a page's tree in the order of time, as chunks.
 *
 * The page's code can count the samples of any range of time itself, because each has its node of the tree.
 * In       a tree with times (rowset.times), and its columns
 * Out      chunk "times": JSON with the clock, the number of samples of each part and of threads; "threads": a line
 *          "PID TID NAME" each, those with most samples first; for each part "moments0", "moments1"..., columns of
 *          numbers, one column behind the other: ticks since the sample before (since the first tick), thread, CPU (0:
 *          the one that the thread had before, 1: not recorded, else CPU + 2), node in preorder, and the period unless
 *          all have the same
 *          "states", if they are known: of each thread's life and each CPU a lane: 0 and the tid, or 1 and the CPU; when it
 *          begins; how many pieces it has; of each its length and its state (enum lane_state)
 * Units    ticks: 1 us or more, so that a recording has at most about 10 million; the first is a multiple of their
 *          length since the clock's zero, so that a range of whole ticks has the same samples as --time
 */
#ifndef PACE_VIEW_TIMECHUNKS_H
#define PACE_VIEW_TIMECHUNKS_H

#include "base/out.h"
#include "profile/chart/chart.h"
#include "profile/rows/rowset.h"
#include "view/html/columns.h"

/* Whether the samples of a tree have times. */
bool timechunks_are_there(const struct rowset *r);

/* `states` NULL: not known. */
void timechunks_add(struct out *out, const struct rowset *r, const struct columns *c,
	const struct chart *states);

#endif
