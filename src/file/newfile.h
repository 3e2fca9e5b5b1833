/*
 * newfile.h - creates a file in a folder where others may create files too.
 *
 * In       a name; the first bytes of the file
 * Out      a descriptor of a file of ours, mode 0600, that has its first bytes before it gets its name. A
 *          file that had the name becomes NAME.old. A character device of that name is opened and stays
 *          empty
 * Owns     nothing: the descriptor is the caller's
 * Errors   ERR_INVAL for a folder, a FIFO, or a link to such or to an open stream (/dev/stdout); else the
 *          system's error, also in err->sys. After an error the old file has its name again
 * Source   open(2): O_EXCL, O_NOFOLLOW; rename(2): RENAME_NOREPLACE
 */
#ifndef PACE_FILE_NEWFILE_H
#define PACE_FILE_NEWFILE_H

#include "base/err.h"
#include "base/types.h"

struct newfile {
	const char *path; /* borrowed */
	int fd;
	bool is_file;        /* false: a device */
	char old_path[4096]; /* where the old file went; "": there was none */
};

int newfile_create(struct newfile *f, const char *path, const void *front, size_t n,
	struct err *err);

/* Gives the old file its name back. */
void newfile_bring_back(const struct newfile *f);

#endif
