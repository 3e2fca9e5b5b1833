/*
 * demangle.h - names as they were in the source.
 *
 * Source   libiberty (C++ Itanium ABI, Rust legacy and v0, D); symbol/jit/foreign (OCaml, Java)
 */
#ifndef PACE_SYMBOL_DEMANGLE_H
#define PACE_SYMBOL_DEMANGLE_H

#include "base/str.h"

enum demangle_style { /* bits; 0: names without parameter lists, as perf prints them */
	DEMANGLE_PARAMETERS = 1 << 0, /* with parameter lists */
	DEMANGLE_COMPACT = 1 << 1,    /* template arguments become <...> */
	DEMANGLE_NOT = 1 << 2,        /* as in the file */
};

/*
 * The readable name, interned; `name` itself if it is not mangled, or if its text would be longer
 * than anybody reads. What the compiler hung behind a name stays visible: f [clone .cold].
 */
const char *demangle(const char *name, unsigned style, struct intern *strings);

#endif
