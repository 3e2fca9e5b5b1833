/*
 * alias.h - names in the place of names: the same for the same, and nothing of it is in them.
 *
 * In       a name of n bytes
 * Out      "kind-3" for the third one that was met; what the kernel or the recorder calls things
 *          stays: "[vdso]", "//anon"
 * Owns     the names that were met; not what it returns
 * Life     what is returned is valid until the next call with any alias
 * Threads  one in the process
 */
#ifndef PACE_EDIT_ALIAS_H
#define PACE_EDIT_ALIAS_H

#include "base/str.h"
#include "base/table.h"

/* Names of one kind. */
struct alias {
	struct intern known;
	struct table index; /* of known.strings */
};

void alias_fini(struct alias *a);

/* "" for "". */
const char *alias_name(struct alias *a, const char *kind, const char *text, size_t n);

/* Of threads: idle ones keep theirs. */
const char *alias_comm(struct alias *a, const char *text, size_t n);

/* Of mapped files: what readers tell kinds of maps by stays. */
const char *alias_path(struct alias *a, const char *text, size_t n);

#endif
