/*
 * demangle.h - names as they were in the source.
 *
 * Source   libiberty (C++ Itanium ABI, Rust legacy and v0, D)
 */
#ifndef PACE_SYMBOL_DEMANGLE_H
#define PACE_SYMBOL_DEMANGLE_H

#include "base/str.h"

/*
 * The readable name, interned; `name` itself if it is not mangled, or if its text would be longer
 * than anybody reads. Parameter lists make long names longer: perf leaves them out unless it is
 * verbose.
 */
const char *demangle(const char *name, bool with_parameters, struct intern *strings);

#endif
