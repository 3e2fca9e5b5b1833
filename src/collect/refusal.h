/*
 * refusal.h - why perf_event_open(2) said no, in words a user can act on.
 *
 * In       what was asked for, and the errno
 * Out      the call's subject, the kernel's setting, the least that would change the answer, what
 *          works instead
 * Source   perf_event_open(2), ERRORS
 */
#ifndef PACE_COLLECT_REFUSAL_H
#define PACE_COLLECT_REFUSAL_H

#include <sys/types.h>

#include "base/err.h"
#include "event/attr.h"

/*
 * `name` is what the user calls the event; pid -1 everybody, 0 this thread. Returns the error's
 * code.
 */
int refusal_explain(const struct event_attr *attr, const char *name, pid_t pid, int cpu, int sys,
	struct err *err);

#endif
