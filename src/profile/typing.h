/*
 * typing.h - which type of data, and which member of it, each row's instruction accesses.
 *
 * In       a profile with names, whose rows have LABEL_ACCESS; the resolver that named it
 * Out      that label; profile.accesses
 * Owns     nothing; texts are the profile's
 * Errors   none: an access whose type is not known says why, see symbol/datatype.h
 * Threads  n_workers, each for whole DSOs
 */
#ifndef PACE_PROFILE_TYPING_H
#define PACE_PROFILE_TYPING_H

#include "base/log.h"
#include "file/reader.h"
#include "profile/profile.h"
#include "symbol/resolver.h"

/* Which instruction's access counts. */
enum typing_skid {
	TYPING_AS_EVENTS_ARE, /* whichever took the time, as far as that is known of the events */
	TYPING_SAMPLED,
	TYPING_BEFORE, /* the one that ran before it */
};

enum { TYPING_NOT_SAID = 2 }; /* a number that --skid does not have */

static inline enum typing_skid typing_skid(u64 option)
{
	return option == 0 ? TYPING_SAMPLED : option == 1 ? TYPING_BEFORE : TYPING_AS_EVENTS_ARE;
}

/* One of the two for all events, and says what that means. */
enum typing_skid typing_choose(const struct profile *p, const struct event_list *events,
	enum typing_skid wish, struct log *log);

/* is_before: of the instruction that ran before the sampled one. */
void typing_resolve(struct profile *p, struct resolver *resolver, unsigned n_workers,
	bool is_before);

#endif
