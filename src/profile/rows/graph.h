/*
 * graph.h - the call graph below one row of a report: what it called, or who called it.
 *
 * In       a view of the call tree (hist_view) that shows the entry's group; the entry; the order
 * Out      a tree with its most expensive children first
 * Owns     its nodes
 * Units    value: period
 *
 * caller   from callers to callees: the entry's own samples are on their whole path from the root, samples
 *          below it on the path from the entry down
 * callee   from the entry up to its callers
 * With recursion, the outermost call (caller) or the innermost call (callee) counts.
 */
#ifndef PACE_PROFILE_GRAPH_H
#define PACE_PROFILE_GRAPH_H

#include "profile/rows/hist.h"
#include "profile/rows/rowset.h"

enum graph_order { GRAPH_CALLER, GRAPH_CALLEE };

/* What is known of the branches in a node: see profile/gather/history.h. */
struct graph_branches {
	u64 n_callers; /* samples in which the node is a caller, not a branch */
	u64 n_to, n_told, n_predicted, n_aborts;
	u64 n_from, cycles, n_iterations, loop_cycles;
};

struct graph {
	VEC(struct rowset_node) nodes;
	struct table index;              /* of the children of nodes that have many */
	struct graph_branches *branches; /* by node; NULL: stacks have no branches */
};

void graph_init(struct graph *g, struct hist_view *view, const struct hist_entry *e,
	enum graph_order order);
/* The child of a node with that symbol; 0: there is none. */
u32 graph_child(const struct graph *g, u32 parent, u32 symbol);

void graph_fini(struct graph *g);

#endif
