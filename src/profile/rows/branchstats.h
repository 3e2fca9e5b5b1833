/*
 * branchstats.h - what is known of the branches that samples passed through on their way, node by node of a call graph.
 *
 * In       a graph that is complete; the histogram, whose options have has_row_groups and has_history; the
 *          entry it is of and its order
 * Out      graph->branches
 * Owns     nothing
 * Errors   none
 * Threads  one for each graph
 */
#ifndef PACE_PROFILE_BRANCHSTATS_H
#define PACE_PROFILE_BRANCHSTATS_H

#include "profile/rows/graph.h"

void branchstats_count(struct graph *g, const struct hist *h, const struct hist_entry *e,
	enum graph_order order);

#endif
