/*
 * typeprofile.h - the data types that were accessed, and how often each of their members.
 *
 * In       a profile whose rows have LABEL_ACCESS, as profile/gather/typing leaves it
 * Out      types with members, the most accessed first; counts of each of their lines
 * Owns     its arrays
 * Units    period as in the profile
 *
 * An access counts for the innermost member that contains its first byte, and for all members around that one.
 * An access to a member of a union counts for the union only.
 */
#ifndef PACE_PROFILE_TYPEPROFILE_H
#define PACE_PROFILE_TYPEPROFILE_H

#include "profile/code/annotation.h"
#include "profile/gather/profile.h"

struct typeprofile_type {
	u32 type;      /* in profile->types */
	double share;  /* percent of an event's period, the largest of all events */
	size_t counts; /* in typeprofile->counts: for each line of the type one for each event */
};

struct typeprofile {
	const struct profile *profile;
	VEC(struct typeprofile_type) types;
	struct annotation_count *counts;
	struct annotation_count *totals; /* by event: all rows */
	struct annotation_count *typed;  /* by event: in types with members */
};

void typeprofile_init(struct typeprofile *a, const struct profile *p);
void typeprofile_fini(struct typeprofile *a);

/* Keeps only types of that name, with or without struct, class or union in front; false: there are none. */
bool typeprofile_keep(struct typeprofile *a, const char *name);

/* The counts of a type's line: one for each event. */
static inline const struct annotation_count *typeprofile_counts(const struct typeprofile *a,
	const struct typeprofile_type *t, u32 line)
{
	return &a->counts[t->counts + line * a->profile->events.n];
}

#endif
