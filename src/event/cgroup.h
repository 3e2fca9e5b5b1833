/*
 * cgroup.h - a control group by its path, as perf_event_open(2) wants it: an open directory.
 *
 * In       a path below the mount ("system.slice/ssh.service"; "/" is the whole), or one that
 *          begins with the mount itself
 * Out      a descriptor, which is the caller's
 * Errors   ERR_NOENT: no such group, or no hierarchy that perf events can use is mounted; ERR_PERM
 * Source   perf_event_open(2): PERF_FLAG_PID_CGROUP; cgroups(7); proc(5): /proc/self/mountinfo
 */
#ifndef PACE_EVENT_CGROUP_H
#define PACE_EVENT_CGROUP_H

#include "base/err.h"
#include "base/types.h"

/*
 * Where groups of perf events are mounted, into buf: the hierarchy with the controller perf_event,
 * else cgroup2. `mountinfo` NULL: this process's.
 */
int cgroup_find(const char *mountinfo, char *buf, size_t size, struct err *err);

int cgroup_open(const char *path, int *ret_fd, struct err *err);

#endif
