/*
 * places.h - samples counted by event and place as they stream past: a profile without stacks, whose
 * size is that of the code that ran, not of the recording.
 *
 * In       samples, placed already
 * Out      the profile; its frames get names by naming_resolve()
 * Owns     the profile
 */
#ifndef PACE_PROFILE_PLACES_H
#define PACE_PROFILE_PLACES_H

#include "machine/dso.h"
#include "profile/profile.h"

struct places {
	struct profile profile;
	struct table index; /* of its rows */
	VEC(u32) dsos;      /* by dso->id: position in the profile + 1, 0: not there yet */
};

void places_init(struct places *p);
void places_fini(struct places *p);

/* Events are numbered in the order in which they are added. */
void places_add_event(struct places *p, const char *name);

/* address: an offset in the DSO's file, or absolute where there is none. */
void places_add(struct places *p, u32 event, const struct dso *dso, u64 address, u8 mode,
	u64 period);

#endif
