/*
 * roots.h - the files of containers, and files that may be deleted, kept within reach until names were looked
 * up in them.
 *
 * When the last process of a mount namespace ends, its mounts go, and with them the only way to the programs
 * that ran there. A file that a program has deleted after mapping it (libraries that Java unpacks, tests in
 * folders of their own) goes with the program.
 * In       a command's or a target's process, looked at now and then with all that come from it; or all
 *          processes of the machine, each a few times after it was first seen: a container's runtime makes
 *          the namespace first and changes the root before the program is started
 * Out      for each namespace and root that is not ours the root's descriptor; the mounts below it stay;
 *          descriptors of the files that were named
 * Owns     the descriptors
 * Errors   none: what ended before it was seen, or is closed to this user, is not there
 * Source   mount_namespaces(7), namespaces(7): a namespace lives as long as a descriptor of it; proc(5)
 */
#ifndef PACE_COLLECT_ROOTS_H
#define PACE_COLLECT_ROOTS_H

#include <sys/types.h>

#include "base/types.h"
#include "base/vec.h"

struct root {
	u64 ns, dev, inode; /* of the namespace; of the root directory */
	int ns_fd, fd;      /* those two; the second for paths only */
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
	roots_process_list seen; /* of roots_look_everywhere(), ascending */
	u64 last_pid;            /* the newest one of the machine at that look */
	VEC(struct roots_file) files;
};

void roots_look(struct roots *r, pid_t pid);
/* Costs little when no process is new. Of very many roots the oldest are let go. */
void roots_look_everywhere(struct roots *r);
/* Of very many files the first. `path`: where it can be opened now. */
void roots_keep_file(struct roots *r, const char *name, u64 inode, const char *path);

/* A descriptor of the file, which stays the roots'; -1: it is not kept. */
int roots_find_file(const struct roots *r, const char *name, u64 inode);
void roots_fini(struct roots *r);

#endif
