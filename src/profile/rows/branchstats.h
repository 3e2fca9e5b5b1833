/*
 * branchstats.h - adds up what is known of the branches before samples, for each node of a call graph.
 *
 * In       a complete graph; its histogram, whose options have has_row_groups and has_history; its entry and
 *          order
 * Out      graph->branches
 * Owns     nothing
 * Errors   none
 * Threads  one per graph
 */
#ifndef PACE_PROFILE_BRANCHSTATS_H
#define PACE_PROFILE_BRANCHSTATS_H

#include "profile/rows/graph.h"

void branchstats_count(struct graph *g, const struct hist *h, const struct hist_entry *e,
	enum graph_order order);

#endif
