/*
 * rules.h - what the kernel would answer to perf_event_open(2), by its documented rules.
 *
 * For machines that are not here: the doctor judges them by copies of their /proc and /sys. On this
 * machine the kernel itself is asked; tests compare its answers with these.
 * In       the privileges of the process, and its request
 * Out      0 or an errno
 * Source   perf_event_open(2); Documentation/admin-guide/sysctl/kernel.rst;
 *          levels above 2 as Debian and Ubuntu have them; containers' default seccomp profiles
 */
#ifndef PACE_COLLECT_RULES_H
#define PACE_COLLECT_RULES_H

#include <sys/types.h>

#include "collect/around/privilege.h"
#include "event/attr.h"

/* `pid` as in the system call; any pid but 0 and -1 belongs to another user. */
int rules_answer(const struct privilege *p, const struct event_attr *attr, pid_t pid);

#endif
