/*
 * stackrows.h - all stacks of recordings, or of events, as a tree of cells: what flame graphs are drawn from.
 *
 * In       profiles with names and stacks
 * Out      struct rowset with nodes, root first: a name, samples of each part (of profiles of other programs: their numbers). A row's LABEL_COMM, if there
 *          is one, is the outermost
 * Owns     its nodes and names, until stackrows_fini(); profiles may go as soon as they are added
 */
#ifndef PACE_VIEW_STACKROWS_H
#define PACE_VIEW_STACKROWS_H

#include "profile/tree/calls.h"
#include "profile/gather/profile.h"
#include "profile/rows/rowset.h"

struct stackrows {
	struct rowset rows; /* from stackrows_finish() on */
	VEC(struct rowset_node) nodes;
	VEC(const char *) names; /* of the nodes */
	VEC(u64) samples;        /* likewise, n_parts each: those that ended there */
	u32 n_parts;
	struct table index; /* of nodes, by parent and name */
	struct intern strings;
	VEC(u32) path; /* symbols of the stack that is being added, the innermost first */
	/* Names made of addresses get their builds, fun_1140@9a3b12cd: parts are of several. */
	bool has_builds;
	bool is_one_recording; /* all parts are: addresses of unknown builds are the same places */
	bool are_imports; /* all parts are profiles of other programs: names are as these have them */
};

/* Adds the samples of an event to a part. */
void stackrows_add(struct stackrows *s, const struct profile *p, const struct calls *c, u32 event,
	u32 part);
void stackrows_finish(struct stackrows *s);
void stackrows_fini(struct stackrows *s);

#endif
