/*
 * sysfile.h - one small text file of the kernel's (/proc, /sys), read whole.
 *
 * Errors   ERR_NOENT, ERR_PERM or ERR_SYS with the path and the reason
 */
#ifndef PACE_BASE_SYSFILE_H
#define PACE_BASE_SYSFILE_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

/* Appends the file's contents, at most `limit` bytes; more is an error. */
int sysfile_read(const char *path, size_t limit, struct str *text, struct err *err);

/*
 * The first line, without its newline, cut to size - 1 bytes. False if there is none or it cannot
 * be read.
 */
bool sysfile_line(const char *path, char *buf, size_t size);

/*
 * The beginning of the file, at most size - 1 bytes, for long files whose first lines say all that is
 * needed.
 */
bool sysfile_start(const char *path, char *buf, size_t size);

/*
 * Interns the names of a directory's entries, without hidden ones, in alphabetical order; false if it
 * cannot be read.
 */
bool sysfile_entries(const char *path, struct intern *names);

/* The number that a file starts with; false if it cannot be read or does not start with one. */
bool sysfile_s64(const char *path, s64 *ret_v);

#endif
