/*
 * rotation.h - recordings that are one of many: perf.data.YYYYMMDDhhmmsscc.
 *
 * In       a file under its usual name, finished
 * Out      the same under a name with the time; the oldest ones removed
 * Owns     the names
 * Errors   ERR_SYS if it cannot be renamed: then it keeps its name
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
	VEC(char *) names;    /* of those that are there, the oldest first */
	struct timespec last; /* the name of the newest says this time */
};

/* Appends path and time, local, to hundredths of a second. */
void rotation_add_name(const char *path, const struct timespec *when, struct str *name);

/* Gives the file its name: *ret_name is the rotation's. */
int rotation_move(struct rotation *r, const char **ret_name, struct err *err);
void rotation_fini(struct rotation *r);

#endif
