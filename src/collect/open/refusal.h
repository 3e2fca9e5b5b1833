/*
 * refusal.h - why perf_event_open(2) refused, in words a user can act on.
 *
 * In       the request and the errno
 * Out      the cause with the kernel's values, the least that would change the answer, and what works
 *          instead. refusal_explain() makes one sentence of them; the doctor prints them separately
 * Source   perf_event_open(2), ERRORS
 */
#ifndef PACE_COLLECT_REFUSAL_H
#define PACE_COLLECT_REFUSAL_H

#include <sys/types.h>

#include "base/err.h"
#include "collect/around/privilege.h"
#include "collect/around/remedy.h"
#include "event/attr.h"

struct refusal {
	int code;             /* an enum err_code */
	const char *verdict;  /* "access denied"; NULL: the cause says it */
	char why[512];        /* the cause */
	const char *instead;  /* what works instead, or NULL */
	struct remedy remedy; /* what would change the answer; REMEDY_NONE: nothing */
};

/* `pid` -1: everybody, 0: this thread. The machine is the one that `p` was read from. */
void refusal_find(const struct privilege *p, const struct event_attr *attr, pid_t pid, int cpu,
	int sys, struct refusal *ret);

/*
 * Sets the error, for this machine: "opening 'NAME': cause: run 'command'; what works instead".
 * `name` is the user's name for the event. Returns the error's code.
 */
int refusal_explain(const struct event_attr *attr, const char *name, pid_t pid, int cpu, int sys,
	struct err *err);

#endif
