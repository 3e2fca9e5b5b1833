/*
 * roots.h - the files of containers, kept within reach until names were looked up in them.
 *
 * When the last process of a mount namespace ends, its mounts go, and with them the only way to the programs
 * that ran there.
 * In       a command's process; looked at now and then, it and all that come from it
 * Out      for each namespace and root that is not ours the root's descriptor; the mounts below it stay
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

struct roots {
	VEC(struct root) at;
};

void roots_look(struct roots *r, pid_t pid);
void roots_fini(struct roots *r);

#endif
