/*
 * stackrows.h - all stacks of recordings, or of events, as a tree of cells for flame graphs.
 *
 * In       profiles with names and stacks
 * Out      struct rowset with nodes, root first: a name, and the samples (in imported profiles their numbers) and the
 *          period of each part. A row's LABEL_COMM, if there is one, is the outermost. With `detail`, nodes are told
 *          apart by their code and have a place; without, by their names. After stackrows_add_part(), a head with the
 *          parts' names and sums; with stackrows.timeline, where each of its samples is in the tree
 * Owns     its nodes and names, until stackrows_fini(); profiles may go as soon as they are added
 */
#ifndef PACE_VIEW_STACKROWS_H
#define PACE_VIEW_STACKROWS_H

#include "profile/tree/calls.h"
#include "profile/gather/profile.h"
#include "profile/rows/rowset.h"

enum stackrows_detail {
	STACKROWS_NAMES,
	STACKROWS_FUNCTIONS, /* places are functions; of one profile, unless it has_builds */
	STACKROWS_ADDRESSES, /* places are addresses of code, and functions inlined there; of one */
};

/* What a place is made from. */
struct stackrows_code {
	u32 frame;  /* of the profile; PROFILE_NO_FRAME with functions only */
	u32 symbol; /* the frame's, or of a function inlined there */
	u32 nth;    /* 0: the frame's own symbol */
	u32 place;
};

/* The row of a stack below an outermost row. */
struct stackrows_known {
	u32 call, base, node;
};

struct stackrows_sum {
	u64 n_samples, period;
};

struct stackrows {
	struct rowset rows; /* valid after stackrows_finish() */
	VEC(struct rowset_node) nodes;
	VEC(const char *) names; /* of the nodes */
	VEC(u64) samples;        /* likewise, n_parts each: the samples that ended there */
	VEC(u64) periods;        /* likewise */
	enum stackrows_detail detail;
	VEC(struct rowset_part) parts;
	VEC(struct stackrows_sum) sums; /* likewise */
	struct rowset head;
	VEC(struct rowset_place) places;
	VEC(struct stackrows_code) codes;
	struct table code_index;     /* of codes */
	struct table function_index; /* of places, by name and dso */
	u32 n_functions;
	VEC(struct stackrows_code) code; /* of the current stack, innermost first */
	u32 n_parts, part;               /* the latter is being added */
	struct table index;              /* of nodes, by parent and name */
	const struct timeline *timeline; /* of the one profile; NULL: not wanted */
	struct rowset_times times;
	VEC(struct rowset_spot) spots; /* with a timeline: by row of the profile */
	struct intern strings;
	VEC(u32) path; /* the current stack, innermost first: nodes of the call tree */
	VEC(struct stackrows_known) known;
	struct table known_index; /* of known, by node of the call tree and outermost row */
	/*
	 * Names made from addresses get their builds, fun_1140@9a3b12cd, because parts come from several builds. Places are then the same if
	 * their names are, without what compilers add to them.
	 */
	bool has_builds;
	/* With has_builds: threads of the first name are counted as those of the second; NULL: none are. */
	const char *renamed_thread, *known_thread;
	bool is_one_recording; /* all parts come from one: equal addresses of unknown builds are equal places */
	bool are_imports; /* all parts are imported profiles: names stay as they are */
};

/* Says what the next part is of, in the order of the parts; needed with `detail` and for a head. */
void stackrows_add_part(struct stackrows *s, const char *name, bool is_time);

/* Adds the samples of an event to a part. */
void stackrows_add(struct stackrows *s, const struct profile *p, const struct calls *c, u32 event,
	u32 part);
/* Whether any stack that was added is of threads of that name. */
bool stackrows_has_thread(const struct stackrows *s, const char *name);
void stackrows_finish(struct stackrows *s);
void stackrows_fini(struct stackrows *s);

#endif
