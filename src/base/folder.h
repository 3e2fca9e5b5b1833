/*
 * folder.h - the entries of a folder, one after the other.
 *
 * Owns     the open folder while it goes through it: it is closed also if there is no memory for what `see`
 *          does (base/mem.h, mem_try())
 * Errors   errno of opendir(3)
 */
#ifndef PACE_BASE_FOLDER_H
#define PACE_BASE_FOLDER_H

#include <dirent.h>
#include <stdbool.h>

/* Until `see` returns false; "." and ".." are not shown. 0, or the errno. */
int folder_each(const char *path, bool (*see)(void *ctx, const struct dirent *entry), void *ctx);

#endif
