/*
 * chartstacks.h - the stacks of a recording's events as a tree of names, so that a chart can say where tasks were.
 *
 * In       visits in the order of time
 * Out      nodes: a function and its caller's node, which has a smaller number; 0 is no stack
 * Owns     nodes, names, and which chain is which node
 * Errors   none: functions without a name are those of their file
 * Threads  one
 */
#ifndef PACE_VIEW_CHARTSTACKS_H
#define PACE_VIEW_CHARTSTACKS_H

#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"
#include "symbol/resolve/location.h"
#include "trace/visit.h"

struct chartstacks_node {
	u32 parent, name;
};

struct chartstacks_name {
	const char *text; /* interned, as it may be shown */
	u8 kind;          /* enum codekind */
};

struct chartstacks_chain {
	const u8 *words;
	u64 n;
	u32 user, kernel, node; /* ids of spaces */
	u8 mode;
};

struct chartstacks {
	struct trace *trace;
	struct locator locator;
	struct arena arena;
	struct intern strings;
	VEC(struct chartstacks_node) nodes; /* [0] is no stack */
	VEC(struct chartstacks_name) names;
	VEC(struct chartstacks_chain) chains;
	struct table node_index, name_index, chain_index;
};

void chartstacks_init(struct chartstacks *s, struct trace *t);
void chartstacks_fini(struct chartstacks *s);

/* The node of a sample's stack; 0: it has none. */
u32 chartstacks_of(struct chartstacks *s, struct visit *v);

u64 chartstacks_bytes(const struct chartstacks *s);

#endif
