/*
 * graph_json.h - a row's call graph as a member of a JSON object.
 *
 * In       an entry of a histogram; the period that is 100 %
 * Out      "calls" or "callers", an array of nodes, which have "nodes" below them
 * Owns     nothing
 */
#ifndef PACE_VIEW_GRAPH_JSON_H
#define PACE_VIEW_GRAPH_JSON_H

#include "profile/graph.h"

/* With a comma behind it. */
void graph_json_add(struct hist_view *view, const struct hist_entry *e, enum graph_order order,
	u64 whole, struct str *text);

#endif
