/*
 * zoom.h - what a user looks at more closely: one file, thread or function of a profile.
 *
 * In       what a row of a report is about; a profile with names, its call tree
 * Out      the rows of the profile that are about the same: as --dsos, --comms, --pid and --tid choose them, or with a
 *          function anywhere in their stacks
 * Owns     its text
 * Errors   none: a profile that has nothing of it has no such rows
 */
#ifndef PACE_PROFILE_ZOOM_H
#define PACE_PROFILE_ZOOM_H

#include "profile/tree/part.h"

enum zoom_kind { ZOOM_DSO, ZOOM_COMM, ZOOM_PID, ZOOM_TID, ZOOM_FUNCTION };

struct zoom {
	u8 kind;              /* enum zoom_kind */
	u64 number;           /* of a process or thread */
	struct str text, dso; /* its name; of a function, also the file's */
};

/* The label that a profile needs for it; LABEL_NONE: none. */
enum profile_label zoom_label(const struct zoom *z);

/* Adds what it is: "thread sh". */
void zoom_add_text(const struct zoom *z, struct str *text);

/* The part of the profile that all n are about. */
void zoom_part(struct part *part, const struct profile *p, const struct calls *c, bool is_relative,
	const struct zoom *zooms, size_t n);

/* Takes all other rows out of the profile itself, and their samples out of its timeline; the call tree is of before. */
void zoom_keep(struct profile *p, const struct calls *c, const struct zoom *zooms, size_t n);

struct zoom zoom_copy(const struct zoom *z);
void zoom_fini(struct zoom *z);

#endif
