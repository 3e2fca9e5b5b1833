/*
 * stackrows.h - all stacks of recordings, or of events, as a tree of cells for flame graphs.
 *
 * In       profiles with names and stacks
 * Out      struct rowset with nodes, root first: a name, and the samples of each part (in imported profiles their numbers). A row's LABEL_COMM, if there
 *          is one, is the outermost. With has_places also the DSO and the kind of code. Its head has the parts' names and sums
 * Owns     its nodes and names, until stackrows_fini(); profiles may go as soon as they are added
 */
#ifndef PACE_VIEW_STACKROWS_H
#define PACE_VIEW_STACKROWS_H

#include "profile/tree/calls.h"
#include "profile/gather/profile.h"
#include "profile/rows/rowset.h"

/* The row of a stack below an outermost row. */
struct stackrows_known {
	u32 call, base, node;
};

struct stackrows_part {
	const char *name; /* of the event, the profile's */
	u64 n_samples, period;
};

struct stackrows {
	struct rowset rows; /* valid after stackrows_finish() */
	VEC(struct rowset_node) nodes;
	VEC(const char *) names; /* of the nodes */
	VEC(u64) samples;        /* likewise, n_parts each: the samples that ended there */
	VEC(u64) periods;        /* likewise: their periods */
	u32 n_parts;
	struct table index; /* of nodes, by parent and name */
	struct intern strings;
	VEC(u32) path; /* the current stack, innermost first: nodes of the call tree */
	VEC(struct stackrows_known) known;
	struct table known_index; /* of known, by node of the call tree and outermost row */
	VEC(struct stackrows_part) parts;
	struct rowset head;
	/* Names made from addresses get their builds, fun_1140@9a3b12cd, because parts come from several builds. */
	bool has_builds;
	bool is_one_recording; /* all parts come from one: equal addresses of unknown builds are equal places */
	bool are_imports; /* all parts are imported profiles: names stay as they are */
	bool has_places; /* functions of the same name in several files, or of several kinds, are not one */
};

/* Adds the samples of an event to a part. */
void stackrows_add(struct stackrows *s, const struct profile *p, const struct calls *c, u32 event,
	u32 part);
void stackrows_finish(struct stackrows *s);
void stackrows_fini(struct stackrows *s);

#endif
