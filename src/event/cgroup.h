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
 * Writes to buf where the hierarchy is mounted that perf events use: version 1's perf_event if there
 * is one, else version 2. `mounts` is "/proc/mounts" unless a test says otherwise.
 */
int cgroup_find_mount(const char *mounts, char *buf, size_t size, struct err *err);

/*
 * -G: gives the names of a list to the events in order, from the first one without a cgroup on. An
 * empty name leaves its event as it is; a single name is for all of them. Every name must exist below
 * `root`.
 */
int cgroup_assign(struct event_list *events, const char *list, const char *root, struct err *err);

/*
 * --for-each-cgroup: repeats all events for each cgroup. A name that does not exist is taken as a
 * regular expression that matches the paths of cgroups.
 */
int cgroup_for_each(struct event_list *events, const char *list, const char *root, struct err *err);

/*
 * Opens the directory of a cgroup, as perf_event_open(2) wants it. `path` is relative to the mount
 * point ("/" is the root cgroup), or begins with it.
 */
int cgroup_open(const char *path, int *ret_fd, struct err *err);

#endif
