/*
 * naming.h - gives the frames of a profile their symbols: each distinct address once, DSO by DSO,
 * on all cores.
 *
 * In       a profile gathered from a session; a resolver for that session's machine
 * Out      frame.symbol of every frame; the symbols' names, demangled and interned in the profile
 */
#ifndef PACE_PROFILE_NAMING_H
#define PACE_PROFILE_NAMING_H

#include "profile/profile.h"
#include "symbol/demangle.h"
#include "symbol/resolver.h"

struct naming_options {
	unsigned n_workers;
	unsigned style; /* of names: enum demangle_style */
};

void naming_resolve(struct profile *p, struct resolver *resolver,
	const struct naming_options *options);

#endif
