/*
 * filecache.h - perf's cache of programs and libraries by build-id, which it keeps in ~/.debug.
 *
 *     usr/bin/dash/ID/elf          the file: a hard link, or a copy where there can be none; beside it an empty `probes`
 *     .build-id/XX/YYYY            a link to ../../usr/bin/dash/ID, where ID is XXYYYY
 *
 * In       files of this machine; build-ids
 * Out      entries that perf finds, and those that perf made
 * Owns     the list's texts
 * Errors   ERR_NOENT: no such file or entry; ERR_FORMAT: no ELF file, or one without a build-id; ERR_SYS
 * Source   perf-buildid-cache(1), and the folder itself
 */
#ifndef PACE_SYMBOL_FILECACHE_H
#define PACE_SYMBOL_FILECACHE_H

#include "base/err.h"
#include "base/str.h"
#include "record/record.h"

struct filecache_entry {
	const char *id;   /* hexadecimal */
	const char *path; /* "/usr/bin/dash", "[vdso]" */
};

struct filecache {
	struct str folder;
	VEC(struct filecache_entry) entries; /* by id */
	struct intern strings;
};

/* PERF_BUILDID_DIR or ~/.debug. ERR_NOENT: HOME does not say where that is. */
int filecache_open(struct filecache *c, struct err *err);
void filecache_close(struct filecache *c);

const struct filecache_entry *filecache_find(const struct filecache *c, const char *id);

/* The build-id of a file, as text. */
int filecache_id(const char *path, struct str *ret_id, struct err *err);

/*
 * Adds a file, which is called `path` and found at `root` + path. *ret_id: its build-id. Nothing happens if the entry is there. The
 * list does not change.
 */
int filecache_add(const struct filecache *c, const char *root, const char *path, struct str *ret_id,
	struct err *err);

/* Removes an entry's files and its link; folders that others may use stay. */
int filecache_remove(const struct filecache *c, const struct filecache_entry *e, struct err *err);

/* The entry's link and folder, relative to the cache's: what an archive holds. */
void filecache_add_names(const struct filecache_entry *e, struct str *ret_link,
	struct str *ret_folder);

#endif
