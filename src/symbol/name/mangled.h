/*
 * mangled.h - demangles OCaml functions and Java methods.
 *
 * In       a symbol: camlStdlib__List__iter_120; Ljava/lang/String;equals(Ljava/lang/Object;)Z
 * Out      Stdlib.List.iter; java.lang.String.equals
 * Source   OCaml's asmcomp/compilenv.ml; JVM specification, 4.3 Descriptors
 */
#ifndef PACE_SYMBOL_MANGLED_H
#define PACE_SYMBOL_MANGLED_H

#include "base/str.h"

/* Both append to `text`. They return false, with nothing appended, if the symbol is not of that language. */
bool mangled_ocaml(const char *name, struct str *text);
bool mangled_java(const char *name, bool with_parameters, struct str *text);

#endif
