/*
 * folder.h - visits the entries of a folder; where temporary files belong.
 *
 * Owns     the open folder during the visit: it is closed even if `see` runs out of memory (base/mem.h, mem_try())
 * Errors   the errno of opendir(3)
 */
#ifndef PACE_BASE_FOLDER_H
#define PACE_BASE_FOLDER_H

#include <dirent.h>
#include <stdbool.h>

/* Calls `see` for each entry except "." and "..", until it returns false. Returns 0 or an errno. */
int folder_each(const char *path, bool (*see)(void *ctx, const struct dirent *entry), void *ctx);

/* Where temporary files belong: TMPDIR, else /tmp. */
const char *folder_of_temporaries(void);

#endif
