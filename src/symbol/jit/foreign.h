/*
 * foreign.h - files that the profiled program leaves for its profiler: perf maps, jitdumps.
 *
 * Anybody can put a file into /tmp. One of these is read only if it is a plain file, no link, and
 * belongs to root, to this user, or to the user whose process is meant.
 *
 * In       whose file, and its path as that process has it
 * Out      a file that is open for reading
 * Owns     nothing; the caller closes
 * Errors   ERR_NOENT, ERR_SYS; ERR_PERM for what is refused, with the remedy
 * Source   pid_namespaces(7), proc(5): NSpid, /proc/PID/root; /tmp is world-writable: open(2)
 *          O_NOFOLLOW
 */
#ifndef PACE_SYMBOL_FOREIGN_H
#define PACE_SYMBOL_FOREIGN_H

#include "base/err.h"
#include "base/types.h"

struct foreign {
	const char *proc; /* "/proc"; "": processes of the recording do not run here */
	const char
		*symfs; /* put in front of the path; "" for none: then the process is asked too */
	u32 pid;        /* as recorded */
};

/*
 * Opens the file. `path` is as processes outside of containers see it, `own_path` as the process
 * itself: while it lives, and has other files than we, its own are meant.
 */
int foreign_open(const struct foreign *f, const char *path, const char *own_path, int *ret_fd,
	struct err *err);

/* The pid that a process has in its own namespace; `pid` itself if it is gone. */
u32 foreign_own_pid(const struct foreign *f);

#endif
