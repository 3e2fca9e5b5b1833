/*
 * loosename.h - strips from names of functions and files what differs between builds.
 *
 * In       names from symbol tables and demanglers
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_PROFILE_LOOSENAME_H
#define PACE_PROFILE_LOOSENAME_H

#include "base/str.h"

/* Adds a function's name without the suffixes of compilers: .isra.0, .llvm.123, a Rust hash, [clone .part.1]. */
void loosename_add_function(const char *name, struct str *text);

/* Adds a file's name without its version: libfoo.so.1.2.3 and libfoo-1.2.so -> libfoo.so. */
void loosename_add_file(const char *name, struct str *text);

#endif
