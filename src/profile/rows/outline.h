/*
 * outline.h - a call tree cut to a number of lines that still account for all of it.
 *
 * The functions shown are those that tell most about where the time goes (profile/rows/budget), always with
 * all their callers. Samples in other functions are summed up in "more" lines below a shown caller; so the
 * own periods of all lines sum to the whole. A function whose time nearly all goes into one callee shares the
 * callee's line.
 * In       a named profile, its call tree
 * Out      lines, callees below their callers, the largest first; an id for each node
 * Owns     its arrays
 * Units    period
 *
 * A node's id is made only of the names and files on the way to it, from main() or from the first function
 * outside the C library: it is the same in every recording of the program, on every machine. Functions that
 * are reached through different preludes have the same id. For functions without a name, the file's build is
 * part of the id, because an address is another function in another build.
 */
#ifndef PACE_PROFILE_OUTLINE_H
#define PACE_PROFILE_OUTLINE_H

#include "base/err.h"
#include "profile/tree/calls.h"
#include "profile/gather/profile.h"

enum { OUTLINE_ID_DIGITS = 10, OUTLINE_LINES = 40 };

struct outline_node {
	u64 id;
	u32 parent;                    /* node 0 is the root; parents come before their children */
	u32 symbol;                    /* one of the symbols with this name in this file */
	u32 first_child, next_sibling; /* largest first; 0: none */
	u32 line_parent;               /* the nearest node above that does not share its line */
	bool is_prelude;               /* all of the path up to here is in the C library */
	bool shares_line; /* with its largest child; set like line_parent by outline_cut() */
	u64 own, total;
};

struct outline_line {
	u32 node;     /* for a rest: the node above it */
	bool is_rest; /* the sum of what is below the node and has no line */
	u32 depth;
	u64 own, total; /* equal for a rest */
	u64 n_hidden;   /* for a rest: the number of nodes with own samples in it */
};

struct outline {
	const struct profile *profile;
	u64 whole; /* the event's period after filtering */
	VEC(struct outline_node) nodes;
	VEC(struct outline_line) lines;
	u32 top; /* the node of the first line, all others are below it; 0: the whole tree */
};

void outline_init(struct outline *o, const struct profile *p, const struct calls *c, u32 event);
void outline_fini(struct outline *o);

/* Compares two nodes: the larger one first, equal ones by name, so that the order is the same everywhere. */
int outline_compare(const struct outline *o, u32 a, u32 b);

/*
 * Fills in o->lines with at most n lines: `top` is the first, the others are below it; 0: the whole tree. There
 * is at least one line, and two with a top.
 */
void outline_cut(struct outline *o, u32 top, u64 n);

/*
 * The node whose id begins with `id`, the largest if several nodes have the same id. ERR_INVAL if there is none, or
 * if several ids begin with it.
 */
int outline_find(const struct outline *o, const char *id, u32 *ret_node, struct err *err);

/* Add the node's id, and the names on its line: "main > run > f". */
void outline_add_id(const struct outline *o, u32 node, struct str *text);
void outline_add_names(const struct outline *o, u32 node, u32 above, struct str *text);

#endif
