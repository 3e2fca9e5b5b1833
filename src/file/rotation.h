/*
 * rotation.h - numbers of recordings, named by time: perf.data.YYYYMMDDhhmmsscc.
 *
 * In       a finished file under its usual name
 * Out      the same file under a name with the time; the oldest files removed
 * Owns     the names
 * Errors   ERR_SYS if the file cannot be renamed: then it keeps its name
 * Source   perf-record(1), --timestamp-filename, --switch-max-files
 */
#ifndef PACE_FILE_ROTATION_H
#define PACE_FILE_ROTATION_H

#include <time.h>

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

struct rotation {
	const char *path;     /* borrowed: the usual name */
	u64 most;             /* files kept; 0: all */
	VEC(char *) names;    /* of the existing files, oldest first */
	struct timespec last; /* the time in the newest name */
};

/* Appends the path and the local time, to hundredths of a second. */
void rotation_add_name(const char *path, const struct timespec *when, struct str *name);

/* Renames the file. *ret_name belongs to the rotation. */
int rotation_move(struct rotation *r, const char **ret_name, struct err *err);
void rotation_fini(struct rotation *r);

#endif
