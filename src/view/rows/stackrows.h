/*
 * stackrows.h - all stacks of recordings, or of events, as a tree of cells for flame graphs.
 *
 * In       profiles with names and stacks
 * Out      struct rowset with nodes, root first: a name, and the samples (in imported profiles their numbers) and the
 *          period of each part. A row's LABEL_COMM, if there is one, is the outermost. With `detail`, nodes are told
 *          apart by their code and have a place; without, by their names
 * Owns     its nodes and names, until stackrows_fini(); profiles may go as soon as they are added
 */
#ifndef PACE_VIEW_STACKROWS_H
#define PACE_VIEW_STACKROWS_H

#include "profile/tree/calls.h"
#include "profile/gather/profile.h"
#include "profile/rows/rowset.h"

enum stackrows_detail {
	STACKROWS_NAMES,
	STACKROWS_FUNCTIONS, /* places are functions; of one profile only */
	STACKROWS_ADDRESSES, /* places are addresses of code, and functions inlined there; likewise */
};

/* A place before it is found by what it is made from. */
struct stackrows_code {
	u32 frame;  /* of the profile */
	u32 symbol; /* the frame's, or of a function inlined there */
	u32 nth;    /* 0: the frame's own symbol */
};

struct stackrows {
	struct rowset rows; /* valid after stackrows_finish() */
	VEC(struct rowset_node) nodes;
	VEC(const char *) names; /* of the nodes */
	VEC(u64) samples;        /* likewise, n_parts each: the samples that ended there */
	VEC(u64) periods;        /* likewise */
	enum stackrows_detail detail;
	VEC(struct rowset_part) parts;
	VEC(struct rowset_place) places;
	struct table place_index;         /* of places, by what they are made from */
	VEC(struct stackrows_code) codes; /* likewise, by place */
	struct table function_index;      /* of places, by name and dso */
	u32 n_functions;
	VEC(struct stackrows_code) code; /* of the current stack, innermost first */
	u32 n_parts;
	struct table index; /* of nodes, by parent and name */
	struct intern strings;
	VEC(u32) path; /* symbols of the current stack, innermost first */
	/* Names made from addresses get their builds, fun_1140@9a3b12cd, because parts come from several builds. */
	bool has_builds;
	bool is_one_recording; /* all parts come from one: equal addresses of unknown builds are equal places */
	bool are_imports; /* all parts are imported profiles: names stay as they are */
};

/* With `detail`: says what the next part is of, in the order of the parts. */
void stackrows_add_part(struct stackrows *s, const char *name, bool is_time);

/* Adds the samples of an event to a part. */
void stackrows_add(struct stackrows *s, const struct profile *p, const struct calls *c, u32 event,
	u32 part);
void stackrows_finish(struct stackrows *s);
void stackrows_fini(struct stackrows *s);

#endif
