/*
 * alias.h - replacement names that reveal nothing of the original. Equal names get equal replacements.
 *
 * In       a name of n bytes
 * Out      "kind-3" for the third distinct name; names that the kernel or the recorder gives stay as
 *          they are: "[vdso]", "//anon"
 * Owns     the names seen so far; not what it returns
 * Life     a result is valid until the next call with any alias
 * Threads  one in the process
 */
#ifndef PACE_EDIT_ALIAS_H
#define PACE_EDIT_ALIAS_H

#include "base/str.h"
#include "base/table.h"

/* The names of one kind, numbered as they are first seen. */
struct alias {
	struct intern known;
	struct table index; /* by string: indexes of known.strings */
};

void alias_fini(struct alias *a);

/* Returns "" for an empty text. */
const char *alias_name(struct alias *a, const char *kind, const char *text, size_t n);

/* The same for a thread's name; the idle threads stay "swapper". */
const char *alias_comm(struct alias *a, const char *text, size_t n);

/* The same for the path of a mapped file. Keeps what readers recognize kinds of maps by. */
const char *alias_path(struct alias *a, const char *text, size_t n);

#endif
