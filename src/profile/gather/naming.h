/*
 * naming.h - gives the frames of a profile their symbols: each distinct address once, DSO by DSO,
 * on all cores.
 *
 * In       a profile gathered from a session; a resolver for that session's machine
 * Out      frame.symbol of every frame; the symbols' names, demangled and interned in the profile; if asked for, the
 *          frames' inlined functions and their places in the source
 */
#ifndef PACE_PROFILE_NAMING_H
#define PACE_PROFILE_NAMING_H

#include "base/progress.h"
#include "profile/gather/profile.h"
#include "symbol/name/demangle.h"
#include "symbol/resolve/resolver.h"

/* The part of the source location that distinguishes symbols, or that they carry. */
enum naming_source {
	NAMING_NO_SOURCE,
	NAMING_FILES,         /* a function in several files (by inlining) is several symbols */
	NAMING_LINES,         /* each line of a function is a symbol */
	NAMING_FUNCTION_FILES /* every function carries the file it begins in */
};

struct naming_options {
	unsigned n_workers;
	unsigned style;      /* of names: enum demangle_style */
	bool has_inlined;    /* frames get the functions inlined there; not together with lines */
	bool has_full_paths; /* source files with their paths; else the last part only */
	enum naming_source source;
	bool has_sites; /* frames know their lines, which distinguish nothing; not together with `source` */
	struct progress *progress; /* begun by the caller. NULL: none */
	bool may_stop; /* the user may: frames that nobody looked up yet have addresses for names */
};

void naming_resolve(struct profile *p, struct resolver *resolver,
	const struct naming_options *options);

/*
 * The share of all samples in each DSO of the machine, by its id; the caller frees the array. As
 * dso_files.places.shares it tells for which files a search for missing debug information is worth it.
 */
double *naming_shares(const struct profile *p, size_t n_dsos);

#endif
