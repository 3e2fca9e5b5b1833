/*
 * typing.h - finds the data type, and the member of it, that each row's instruction accesses.
 *
 * In       a profile with names, whose rows have LABEL_ACCESS; the resolver that named it
 * Out      LABEL_ACCESS of each row; profile.accesses
 * Owns     nothing; texts are the profile's
 * Errors   none: an access whose type is unknown holds the reason, see symbol/types/datatype.h
 * Threads  n_workers, each for whole DSOs
 */
#ifndef PACE_PROFILE_TYPING_H
#define PACE_PROFILE_TYPING_H

#include "base/log.h"
#include "file/reader.h"
#include "profile/gather/profile.h"
#include "symbol/resolve/resolver.h"

/* The instruction whose access counts. */
enum typing_skid {
	TYPING_AS_EVENTS_ARE, /* the one that took the time, as far as the event's skid is known */
	TYPING_SAMPLED,
	TYPING_BEFORE, /* the one that ran before the sampled one */
};

enum { TYPING_NOT_SAID = 2 }; /* no --skid was given: a value that the option does not accept */

static inline enum typing_skid typing_skid(u64 option)
{
	return option == 0 ? TYPING_SAMPLED : option == 1 ? TYPING_BEFORE : TYPING_AS_EVENTS_ARE;
}

/* What the recording says about the events of a profile. */
struct typing_events {
	const struct event_list *events; /* of the recording */
	enum typing_skid skid;
	/*
	 * The profile's events are counts of wall-clock time, not the recording's: what is known about
	 * the samples of all is what is known about those of `clock`, the recording's event.
	 */
	bool is_wall;
	u32 clock;
};

/* Fills in LABEL_ACCESS. For events known to be sampled one instruction late, the instruction before counts. */
void typing_resolve(struct profile *p, struct resolver *resolver,
	const struct typing_events *events, unsigned n_workers);

/* How far an event's samples are from the accesses that count for them. */
enum typing_distance {
	TYPING_EXACT,
	TYPING_ONE_BEFORE, /* that of the instruction that ran before the sampled one */
	TYPING_SOME_BEFORE, /* the instruction that caused the sample is some way before the one whose access counts */
};

/* `event` is the profile's. */
enum typing_distance typing_distance(const struct typing_events *e, u32 event);

/* Notes which events' samples do not name the instruction that caused them. */
void typing_note_skid(const struct profile *p, const struct typing_events *events, struct log *log);

#endif
