/*
 * foreign.h - files that the profiled program leaves for its profiler: perf maps, jitdumps.
 *
 * Any user can put a file into /tmp. One of these files is read only if it is a regular file, not a link, and
 * belongs to root, to this user, or to the user of the process in question.
 *
 * In       whose file, and its path as that process has it
 * Out      a file that is open for reading
 * Owns     nothing; the caller closes
 * Errors   ERR_NOENT, ERR_SYS; ERR_PERM for refused files, with the remedy
 * Source   pid_namespaces(7), proc(5): NSpid, /proc/PID/root; /tmp is world-writable: open(2)
 *          O_NOFOLLOW
 */
#ifndef PACE_SYMBOL_FOREIGN_H
#define PACE_SYMBOL_FOREIGN_H

#include "base/err.h"
#include "base/types.h"

struct foreign {
	const char *proc;  /* "/proc"; "": the recorded processes do not run here */
	const char *symfs; /* prefix of the path; "": none, the process' own files are searched */
	u32 pid;           /* as recorded */
};

/*
 * Opens the file. `path` is its path outside of containers, `own_path` the process' own: while the process
 * lives, and sees other files than we do, its own file is opened.
 */
int foreign_open(const struct foreign *f, const char *path, const char *own_path, int *ret_fd,
	struct err *err);

/* The process' pid in its own namespace; `pid` itself if the process is gone. */
u32 foreign_own_pid(const struct foreign *f);

#endif
