/*
 * sharers.h - the callers of code that uses shared cache lines: a profile with separate rows for each use.
 *
 * In       samples of profile/memory/sharing with call chains, and the number of the use of each
 * Out      a profile with an event for each kind of access, LABEL_USE in its rows; names by sharers_name()
 * Owns     its profile
 * Units    samples: each counts 1
 * Errors   none
 * Threads  one
 */
#ifndef PACE_PROFILE_SHARERS_H
#define PACE_PROFILE_SHARERS_H

#include "machine/machine.h"
#include "profile/tree/calls.h"
#include "trace/visit.h"

enum sharers_event { SHARERS_HITM, SHARERS_PEER, SHARERS_STORE, SHARERS_EVENTS };

struct sharers {
	const struct machine *machine;
	struct profile profile;
	struct calls calls; /* valid once the profile has names */
	u32 *dsos;          /* by dso->id: position in the profile + 1 */
	bool has_calls;
};

/* The machine may get new DSOs until the first sample is added. */
void sharers_init(struct sharers *s, const struct machine *m);
void sharers_fini(struct sharers *s);

/* kinds: 1 << enum datasrc_kind */
void sharers_add(struct sharers *s, struct visit *v, u32 use, u32 kinds);

void sharers_name(struct sharers *s, struct resolver *resolver, unsigned style);

#endif
