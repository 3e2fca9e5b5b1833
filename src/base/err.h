/*
 * err.h - what went wrong, in one struct on the caller's stack.
 *
 * Out      a negative code and one sentence: lower case, what failed first, the subject in quotes,
 *          the numbers that disagree, and the remedy when it is known
 * Owns     nothing: no allocation, so reporting an error cannot fail
 * Life     the caller's; functions that succeed leave it untouched
 * Threads  one per thread
 */
#ifndef PACE_BASE_ERR_H
#define PACE_BASE_ERR_H

#include "base/types.h"

enum err_code {
	ERR_SYS = -1,         /* a system call failed: err->sys holds its errno */
	ERR_PERM = -2,        /* the kernel or the file's owner does not allow it */
	ERR_NOENT = -3,       /* there is no such thing */
	ERR_INVAL = -4,       /* an argument makes no sense */
	ERR_FORMAT = -5,      /* input bytes break the rules of their format */
	ERR_UNSUPPORTED = -6, /* this machine, kernel or build cannot do it */
	ERR_LIMIT = -7,       /* a bound would be exceeded */
};

struct err {
	int code;       /* 0, or one of enum err_code */
	int sys;        /* errno of the failed call, or 0 */
	char msg[1024]; /* room for a path and a remedy */
};

/* Sets code and message; returns code, so that `return err_set(...)` reads well. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF(3, 4);

/*
 * As err_set() with ERR_PERM for EACCES and EPERM, ERR_NOENT for ENOENT, ENOTDIR and ENAMETOOLONG, else
 * ERR_SYS; appends strerror(sys).
 */
int err_sys(struct err *err, int sys, const char *fmt, ...) PRINTF(3, 4);

/* Puts "context: " in front of the message; returns err->code. */
int err_prefix(struct err *err, const char *fmt, ...) PRINTF(2, 3);

#endif
