/*
 * fresh.h - a file that gets its name only when it is complete.
 *
 * In       the name it is to have
 * Out      a temporary name beside it to write to; the rename at the end
 * Owns     nothing: the caller closes what it opened
 * Errors   ERR_INVAL for a name of something other than a file, or of a link to such or to an open stream
 *          (/dev/stdout); ERR_SYS
 *
 * A writer that is killed leaves its temporary file. The next one that creates a file of this name removes it, if no
 * process has its number any more and nothing was written to it for FRESH_STALE_S: another machine or container that
 * shares the folder has processes of its own.
 *
 * A file that has the name already is moved to NAME.old, as `pace record` does it, unless it is to be
 * replaced.
 */
#ifndef PACE_FILE_FRESH_H
#define PACE_FILE_FRESH_H

#include "base/err.h"
#include "base/types.h"

enum { FRESH_STALE_S = 3600 };

struct fresh {
	const char *path; /* borrowed */
	char temporary[4096];
	bool replaces;
};

int fresh_init(struct fresh *f, const char *path, bool replaces, struct err *err);

/* Creates the temporary file, readable by its owner only. Returns a descriptor, or < 0. */
int fresh_open(struct fresh *f, struct err *err);

/* Gives the file its name. */
int fresh_commit(struct fresh *f, struct err *err);

/* Removes what was written so far. */
void fresh_abandon(struct fresh *f);

#endif
