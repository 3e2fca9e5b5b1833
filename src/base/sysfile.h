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
 * The beginning of the file, at most size - 1 bytes, as one read returns it. For long files of
 * which the first lines tell all.
 */
bool sysfile_start(const char *path, char *buf, size_t size);

/*
 * The names of a directory's entries, hidden ones not, into `names` in the order of the alphabet;
 * false if it cannot be read.
 */
bool sysfile_entries(const char *path, struct intern *names);

/* The number a file starts with; false if it cannot be read or is none. */
bool sysfile_s64(const char *path, s64 *ret_v);

#endif
