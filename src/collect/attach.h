/*
 * attach.h - every event on every thread of processes that start threads meanwhile.
 *
 * A thread inherits those events that the thread which starts it has at that moment. Who began while
 * events were being opened has some and lacks others, and nobody can tell which: opened for it as well,
 * some would count twice. So all are closed, which takes them from whoever inherited them, and opened
 * again for the threads that there are now, until nobody began meanwhile, or for a time.
 * In       who opens and closes events that are inherited; what the target was made of
 * Out      the target as it was when they were opened; who began during the last attempt
 * Owns     the list of those
 * Errors   those of target_init() and of who opens
 * Source   perf_event_open(2): inherit; clone(2)
 */
#ifndef PACE_COLLECT_ATTACH_H
#define PACE_COLLECT_ATTACH_H

#include "base/err.h"
#include "base/log.h"
#include "event/target.h"

struct attach {
	VEC(struct target_thread) late; /* of a process that was started: it and its first thread */
	unsigned n_attempts;
};

struct attach_opener {
	void *ctx;
	int (*open)(void *ctx, struct err *err); /* everything, on the target as it is listed now */
	void (*close)(void *ctx);                /* what that opened */
};

/* Whether the words name processes that may start threads meanwhile. */
static inline bool attach_is_needed(const struct target_words *words)
{
	return words->pids || words->users;
}

int attach_open(struct attach *a, const struct attach_opener *opener,
	const struct target_words *words, struct target *target, struct log *log, struct err *err);
void attach_fini(struct attach *a);

/* "of 7 threads that were started meanwhile, WHAT may be missing: 123, 124 and 5 more"; nothing if there are none. */
void attach_add_late(const struct attach *a, const char *what, struct str *text);
/* The same with how often it was tried, as a warning. */
void attach_warn(const struct attach *a, const char *what, struct log *log);

#endif
