/*
 * graphwords.h - the words of -g: how call graphs are drawn.
 *
 * In       "graph,0.5,caller": words and numbers in any order
 * Out      struct graph_options
 * Owns     nothing
 * Errors   ERR_INVAL names the word
 */
#ifndef PACE_CMD_GRAPHWORDS_H
#define PACE_CMD_GRAPHWORDS_H

#include "base/err.h"
#include "profile/rows/graph.h"
#include "view/forms/drawing.h"

struct graph_options {
	bool is_given, is_none, has_style;
	enum drawing_style style;
	enum drawing_value value;
	bool has_order;
	enum graph_order order;
	double limit; /* percent; negative: not given */
	u64 entries;
};

/* Later words override earlier ones; NULL or "" asks for a default graph. */
int graph_options_parse(struct graph_options *g, const char *value, struct err *err);

#endif
