/*
 * typing.h - which type of data, and which member of it, each row's instruction accesses.
 *
 * In       a profile with names, whose rows have LABEL_ACCESS; the resolver that named it
 * Out      that label; profile.accesses
 * Owns     nothing; texts are the profile's
 * Errors   none: an access whose type is not known says why, see symbol/types/datatype.h
 * Threads  n_workers, each for whole DSOs
 */
#ifndef PACE_PROFILE_TYPING_H
#define PACE_PROFILE_TYPING_H

#include "base/log.h"
#include "file/reader.h"
#include "profile/gather/profile.h"
#include "symbol/resolve/resolver.h"

/* Which instruction's access counts. */
enum typing_skid {
	TYPING_AS_EVENTS_ARE, /* of each event whichever took the time, as far as that is known */
	TYPING_SAMPLED,
	TYPING_BEFORE, /* the one that ran before it */
};

enum { TYPING_NOT_SAID = 2 }; /* a number that --skid does not have */

static inline enum typing_skid typing_skid(u64 option)
{
	return option == 0 ? TYPING_SAMPLED : option == 1 ? TYPING_BEFORE : TYPING_AS_EVENTS_ARE;
}

struct typing_events {
	const struct event_list *events;
	enum typing_skid skid;
};

/* Of events that are known to be sampled one instruction late it is the instruction before. */
void typing_resolve(struct profile *p, struct resolver *resolver,
	const struct typing_events *events, unsigned n_workers);

/* Says which events' samples are not of the very instruction that they name. */
void typing_note_skid(const struct profile *p, const struct event_list *events,
	enum typing_skid wish, struct log *log);

#endif
