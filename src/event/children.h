/*
 * children.h - which processes a thread has started.
 *
 * In       a thread
 * Out      the processes that it has started and that are still its children, appended
 * Errors   none: a thread that has ended, and a kernel without such lists, add nothing
 * Source   proc(5): /proc/PID/task/TID/children
 */
#ifndef PACE_EVENT_CHILDREN_H
#define PACE_EVENT_CHILDREN_H

#include <sys/types.h>

#include "base/types.h"
#include "base/vec.h"

struct children {
	pid_t *at;
	size_t n, cap;
};

void children_add(struct children *c, pid_t pid, pid_t tid);

#endif
