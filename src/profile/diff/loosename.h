/*
 * loosename.h - names of functions and files without what tells one build of them from another.
 *
 * In       names as symbol tables and demanglers have them
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_PROFILE_LOOSENAME_H
#define PACE_PROFILE_LOOSENAME_H

#include "base/str.h"

/* A function's name without what compilers hang behind it: .isra.0, .llvm.123, a Rust hash, [clone .part.1]. */
void loosename_add_function(const char *name, struct str *text);

/* libfoo.so.1.2.3 -> libfoo.so; also libfoo-1.2.so. */
void loosename_add_file(const char *name, struct str *text);

#endif
