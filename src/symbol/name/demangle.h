/*
 * demangle.h - turns symbols into the names of the source.
 *
 * Source   libiberty (C++ Itanium ABI, Rust legacy and v0, D); symbol/jit/foreign (OCaml, Java)
 */
#ifndef PACE_SYMBOL_DEMANGLE_H
#define PACE_SYMBOL_DEMANGLE_H

#include "base/str.h"

enum demangle_style { /* bits; 0: names without parameter lists, as perf prints them */
	DEMANGLE_PARAMETERS = 1 << 0, /* with parameter lists */
	DEMANGLE_COMPACT = 1 << 1,    /* template arguments become <...> */
	DEMANGLE_NOT = 1 << 2,        /* the symbol as it is in the file */
};

/*
 * Returns the readable name, interned; or `name` itself if it is not mangled, or if its text would be too
 * long to read. Suffixes that the compiler added stay visible: f [clone .cold].
 */
const char *demangle(const char *name, unsigned style, struct intern *strings);

#endif
