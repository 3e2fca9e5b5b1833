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

/* Of events that are known to be sampled one instruction late it is the instruction before. */
void typing_resolve(struct profile *p, struct resolver *resolver, const struct event_list *events,
	unsigned n_workers);

/* Says which events' samples are not of the very instruction that they name. */
void typing_note_skid(const struct profile *p, const struct event_list *events, struct log *log);

#endif
