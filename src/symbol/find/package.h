/*
 * package.h - finds the package that has a file's debug symbols, from the data of this machine's package
 * manager. It uses no network and starts no program.
 *
 * In       a root folder that holds the package manager's data ("" for this machine); a file's path
 *          and build-id. dpkg's file lists tell which package the file belongs to, apt's lists which packages
 *          have debug symbols: by build-id (Build-Ids of -dbgsym packages), or by the name of the file's
 *          package (libc6-dbg). rpm links the build-ids of what it has installed, by which dnf finds the others
 * Out      a remedy for messages: "install 'libc6-dbg'"
 *          The relevant parts of large lists are cached (symbol/find/cache.h), by the lists' size and time
 * Owns     what it has read: the files of dpkg's packages, the names of packages with debug symbols
 * Errors   none: unreadable data counts as absent
 * Threads  any number
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
	u32 name, files, end; /* offsets in packages.owners: the name, the first line, the end */
};

struct package_debug {
	const char *name;
	const char *build_ids; /* separated by blanks; may be "" */
};

struct packages {
	const char *root;
	pthread_mutex_t lock;
	bool is_read;
	struct str owners;
	VEC(struct package_files) lists;
	struct intern texts;
	VEC(struct package_debug) debug;
	bool has_lists; /* there are lists of apt */
};

void packages_init(struct packages *p, const char *root);
void packages_fini(struct packages *p);

/* Appends the remedy. Returns false, with nothing appended, if nothing is known of the file. */
bool packages_advise(struct packages *p, const char *path, const u8 *build_id, u8 build_id_size,
	struct str *out);

#endif
