/*
 * newfile.h - a file that is made in a folder where others may make files too.
 *
 * In       a name; the bytes that the file begins with
 * Out      a descriptor of a file that is ours, mode 0600, and has them when it gets its name; what had the
 *          name before is NAME.old. A character device of that name is opened as it is, and empty
 * Owns     nothing: the descriptor is the caller's
 * Errors   ERR_INVAL for a folder, a FIFO; else what the system says, also in err->sys. Then what had the
 *          name has it again
 * Source   open(2): O_EXCL, O_NOFOLLOW; rename(2): RENAME_NOREPLACE
 */
#ifndef PACE_FILE_NEWFILE_H
#define PACE_FILE_NEWFILE_H

#include "base/err.h"
#include "base/types.h"

struct newfile {
	const char *path; /* borrowed */
	int fd;
	bool is_file;        /* not a device */
	char old_path[4096]; /* where the file of that name went; "" if there was none */
};

int newfile_create(struct newfile *f, const char *path, const void *front, size_t n,
	struct err *err);

/* The file that had the name before has it again. */
void newfile_bring_back(const struct newfile *f);

#endif
