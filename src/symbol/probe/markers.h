/*
 * markers.h - the markers (SDT) of programs and libraries: of files that are named, and of those in the build-id cache.
 *
 * In       ELF files; perf's cache (symbol/find/filecache.h)
 * Out      each marker of each build of a file, once, by name and then by build
 * Owns     its texts
 * Errors   those of opening a file that is named; what the cache cannot deliver is left out
 */
#ifndef PACE_SYMBOL_MARKERS_H
#define PACE_SYMBOL_MARKERS_H

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct marker {
	const char *provider, *name, *args;
	const char *path; /* the file's */
	const char *id;   /* its build-id; "": it has none */
	u32 n_places;     /* in the file's code */
};

struct markers {
	VEC(struct marker) at;
	struct intern strings;
};

int markers_add_file(struct markers *m, const char *path, struct err *err);

/* Those of all files that the cache keeps. ERR_NOENT: nothing says where it is. */
int markers_add_cache(struct markers *m, struct err *err);

/* Sorts them, and drops doubles. Call it after the last file. */
void markers_finish(struct markers *m);
void markers_fini(struct markers *m);

/* "sdt_PROVIDER:NAME", as events are called. */
void marker_add_name(const struct marker *m, struct str *text);

/* Whether a word names it: a glob for PROVIDER:NAME, with or without sdt_, or for NAME. */
bool marker_is(const struct marker *m, const char *word);

#endif
