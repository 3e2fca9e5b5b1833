/*
 * roots.h - keeps the files of containers, and files that may be deleted, open until names have been looked
 * up in them.
 *
 * When the last process of a mount namespace ends, its mounts go, and with them the only way to the
 * programs that ran there. A file that a program deletes after mapping it (libraries that Java unpacks,
 * tests in folders of their own) goes with the program.
 * In       a command's or a target's process, looked at now and then together with its descendants; or all
 *          processes of the machine, each a few times after it was first seen: a container's runtime
 *          creates the namespace first and changes the root before it starts the program
 * Out      for each namespace and root other than ours the root's descriptor, which keeps the mounts
 *          below it; descriptors of the files that were named
 * Owns     the descriptors
 * Errors   none: what ended before it was seen, or is closed to this user, is missing
 * Source   mount_namespaces(7), namespaces(7): a namespace lives as long as a descriptor of it; proc(5)
 */
#ifndef PACE_COLLECT_ROOTS_H
#define PACE_COLLECT_ROOTS_H

#include <sys/types.h>

#include "base/types.h"
#include "base/vec.h"

struct root {
	u64 ns, dev, inode; /* of the namespace; device and inode of the root directory */
	int ns_fd, fd;      /* of the namespace; of the root directory, for paths only */
};

struct roots_file {
	char *name; /* as it was recorded */
	u64 inode;
	int fd;
};

struct roots_process {
	pid_t pid;
	unsigned n_looks;
};

typedef VEC(struct roots_process) roots_process_list;

struct roots {
	VEC(struct root) at;
	roots_process_list seen; /* by roots_look_everywhere(); ascending */
	u64 last_pid;            /* the machine's newest process at that time */
	VEC(struct roots_file) files;
};

void roots_look(struct roots *r, pid_t pid);
/* Looks at all processes; cheap if none is new. If there are too many roots, the oldest are dropped. */
void roots_look_everywhere(struct roots *r);
/* Keeps a file open, if there are not too many. `path` is where it can be opened now. */
void roots_keep_file(struct roots *r, const char *name, u64 inode, const char *path);

/* A descriptor of the file, owned by the roots; -1: the file was not kept. */
int roots_find_file(const struct roots *r, const char *name, u64 inode);
void roots_fini(struct roots *r);

#endif
