/*
 * typefiles.h - the files whose types are asked for, kept open from function to function: reading which units of a large
 * file have which code takes longer than a function.
 *
 * In       DSOs of a resolver
 * Out      for each: what tells types of its data, or why there is none
 * Owns     what it opens, until typefiles_fini(); the resolver must keep the DSOs' files that long
 * Units    `shift`: from addresses of the symbol table to those of the debug information
 */
#ifndef PACE_PROFILE_TYPEFILES_H
#define PACE_PROFILE_TYPEFILES_H

#include "symbol/resolve/resolver.h"
#include "symbol/types/datatype.h"

struct typefile {
	const struct dso *dso;
	struct datatypes *types; /* NULL: for the reason in `why` */
	u64 shift;
	struct err why;
};

struct typefiles {
	VEC(struct typefile) at;
};

/* Opens the DSO's file if it is new. The answer is valid until the next call. */
const struct typefile *typefiles_get(struct typefiles *f, struct resolver *resolver,
	const struct dso *dso);
void typefiles_fini(struct typefiles *f);

#endif
