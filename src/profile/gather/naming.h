/*
 * naming.h - gives the frames of a profile their symbols: each distinct address once, DSO by DSO,
 * on all cores.
 *
 * In       a profile gathered from a session; a resolver for that session's machine
 * Out      frame.symbol of every frame; the symbols' names, demangled and interned in the profile
 */
#ifndef PACE_PROFILE_NAMING_H
#define PACE_PROFILE_NAMING_H

#include "profile/gather/profile.h"
#include "symbol/name/demangle.h"
#include "symbol/resolve/resolver.h"

/* What of the source code symbols are told apart by, or told with. */
enum naming_source {
	NAMING_NO_SOURCE,
	NAMING_FILES,         /* a function in several files (by inlining) is several symbols */
	NAMING_LINES,         /* each line of a function is a symbol */
	NAMING_FUNCTION_FILES /* every function has the file it begins in */
};

struct naming_options {
	unsigned n_workers;
	unsigned style;      /* of names: enum demangle_style */
	bool has_inlined;    /* frames get the functions inlined there; not together with lines */
	bool has_full_paths; /* of source files; else their last part */
	enum naming_source source;
};

void naming_resolve(struct profile *p, struct resolver *resolver,
	const struct naming_options *options);

/*
 * By DSO of the machine: which part of all samples is in it; to be freed. dso_files.places.shares: it is worth
 * looking for what a file with many of them lacks.
 */
double *naming_shares(const struct profile *p, size_t n_dsos);

#endif
