/*
 * cgroup.h - events that count only the tasks of a cgroup.
 *
 * In       -G a,b,c and --for-each-cgroup a,b; where cgroups are mounted
 * Out      event.cgroup of each event: a path below the mount, without a slash in front
 * Errors   ERR_NOENT if nothing is mounted, or with the nearest name; ERR_INVAL for lists that make
 *          no sense
 * Source   cgroups(7); perf-stat(1), -G and --for-each-cgroup
 */
#ifndef PACE_EVENT_CGROUP_H
#define PACE_EVENT_CGROUP_H

#include "base/err.h"
#include "event/event.h"

/*
 * The hierarchy that perf events know, into buf: version 1's perf_event if it is mounted, else
 * version 2, wherever it is. `mounts` is "/proc/mounts" unless a test says otherwise.
 */
int cgroup_find_mount(const char *mounts, char *buf, size_t size, struct err *err);

/*
 * -G: the names of a list go to the events in their order, from the first that has none yet; an
 * empty name leaves its event as it is. One name alone is for all of them. Every name must exist
 * below `root`.
 */
int cgroup_assign(struct event_list *events, const char *list, const char *root, struct err *err);

/*
 * --for-each-cgroup: all events once for each cgroup. A name that does not exist is a regular
 * expression for the paths of those that do.
 */
int cgroup_for_each(struct event_list *events, const char *list, const char *root, struct err *err);

/*
 * A control group as perf_event_open(2) wants it: its directory, opened. `path` is below the mount
 * ("/" is the whole), or begins with the mount itself.
 */
int cgroup_open(const char *path, int *ret_fd, struct err *err);

#endif
