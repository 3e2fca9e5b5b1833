/*
 * outline.h - a call tree cut to so many lines, whose remainder is always there.
 *
 * Shown are the functions that tell most of where the time goes (profile/rows/budget), always with all their
 * callers. What ends in others is summed up in lines more, below a caller that is shown; so the selves of
 * all lines sum to the whole. Functions from which nearly all goes on into one other share its line.
 * In       a named profile, its call tree
 * Out      lines, deepest last, larger ones first; an id for each node
 * Owns     its arrays
 * Units    period
 *
 * A node's id is made of the names and files on the way to it from main() or from what is no C library,
 * and of nothing else: it is the same in every recording of the program, on every machine. Functions that
 * are reached through different preludes have the same id. Where functions have no names the files' builds
 * are part of it: an address is another function in another build.
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
	u32 symbol;                    /* one of those with this name in this file */
	u32 first_child, next_sibling; /* 0: none. The largest first */
	u32 line_parent;               /* the nearest one above that does not share its line */
	bool is_prelude;               /* up to here all is of the C library */
	bool shares_line;              /* with its largest child; these two by outline_cut() */
	u64 own, total;
};

struct outline_line {
	u32 node;     /* of a rest: whose */
	bool is_rest; /* what is below the node and has no line */
	u32 depth;
	u64 own, total; /* of a rest both are the same */
	u64 n_hidden;   /* of a rest: in how many nodes it ends */
};

struct outline {
	const struct profile *profile;
	u64 whole; /* what filters have left of the event's period */
	VEC(struct outline_node) nodes;
	VEC(struct outline_line) lines;
	u32 top; /* the node that they are below of, which has the first; 0: all */
};

void outline_init(struct outline *o, const struct profile *p, const struct calls *c, u32 event);
void outline_fini(struct outline *o);

/* Larger ones first; what is equally large by its name, which is the same everywhere. */
int outline_compare(const struct outline *o, u32 a, u32 b);

/*
 * Fills in o->lines, at most n: of what lies below `top`, which has the first; 0: of all. At least one is
 * filled in, two for a top.
 */
void outline_cut(struct outline *o, u32 top, u64 n);

/*
 * The node of an id, the largest of several, or of how an id begins; ERR_INVAL if there is none, or ids
 * that differ.
 */
int outline_find(const struct outline *o, const char *id, u32 *ret_node, struct err *err);

/* Adds the id, and what stands on the node's line: "main > run > f". */
void outline_add_id(const struct outline *o, u32 node, struct str *text);
void outline_add_names(const struct outline *o, u32 node, u32 above, struct str *text);

#endif
