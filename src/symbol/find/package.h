/*
 * package.h - which package would bring the debug symbols of a file, as far as the data of this machine's
 * package manager tell. No network is asked, and no program started.
 *
 * In       a root folder, below which the package manager's data lie ("" for this machine); a file's path
 *          and build-id. dpkg's lists of files tell which package it is of, apt's lists which packages have
 *          debug symbols: by build-id (Build-Ids of -dbgsym packages), or by the file's package's name
 *          (libc6-dbg). rpm links the build-ids of what it has installed, by which dnf finds the others
 * Out      a remedy for messages: "install 'libc6-dbg'"
 *          What matters of large lists is kept in the cache (symbol/find/cache.h), by their size and time
 * Owns     what it has read: the files of dpkg's packages, the names of packages with debug symbols
 * Errors   none: what cannot be read tells nothing
 * Threads  any number may ask
 * Source   dpkg-query(1), /var/lib/dpkg/info; sources.list(5), /var/lib/apt/lists; Debian policy,
 *          4.9.1 (-dbgsym); rpm's macros, _build_id_links
 */
#ifndef PACE_SYMBOL_PACKAGE_H
#define PACE_SYMBOL_PACKAGE_H

#include <pthread.h>

#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

struct package_files {
	u32 name, files, end; /* in packages.owners: the list's name; its first line, its end */
};

struct package_debug {
	const char *name;
	const char *build_ids; /* "" or with blanks between them */
};

struct packages {
	const char *root;
	pthread_mutex_t lock;
	bool is_read;
	struct str owners;
	VEC(struct package_files) lists;
	struct intern texts;
	VEC(struct package_debug) debug;
	bool has_lists; /* of apt */
};

void packages_init(struct packages *p, const char *root);
void packages_fini(struct packages *p);

/* Appends the remedy; false: nothing is known of the file, and nothing was appended. */
bool packages_advise(struct packages *p, const char *path, const u8 *build_id, u8 build_id_size,
	struct str *out);

#endif
