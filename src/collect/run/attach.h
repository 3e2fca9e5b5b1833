/*
 * attach.h - opens everything that is measured of a target, and opens it again on CPUs that come back.
 *
 * A new thread inherits the events that its creator has at that moment. One that starts while events are
 * being opened has some of them and lacks others, and it cannot be known which: if they were opened for
 * it as well, some would count twice. So all are closed, which also takes them from threads that
 * inherited them, and opened again for the present threads, until no thread starts meanwhile or time
 * is up.
 * In       the parts, which open and close events; the words that the target was made from
 * Out      the target as it was when they were opened; threads that started during the last attempt; for
 *          CPUs that come and go see hotplug.h
 * Owns     the list of parts, that of threads; not the target, which it lists again
 * Errors   those of target_init() and of the parts; then nothing is left open
 * Source   perf_event_open(2): inherit; clone(2)
 */
#ifndef PACE_COLLECT_ATTACH_H
#define PACE_COLLECT_ATTACH_H

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "collect/run/hotplug.h"
#include "event/target.h"

/* Opens and closes some of the events on the target. */
struct attach_part {
	void *ctx;
	/* Opens the events on the target as it is listed now. On failure nothing is left open. */
	int (*open)(void *ctx, struct err *err);
	void (*close)(void *ctx);
	/* Opens what was open on a CPU that came back. Returns how many could not be opened. */
	size_t (*reopen)(void *ctx, s32 cpu);
};

struct attach {
	const char *done; /* what is done with the target: "recorded" */
	struct target *target;
	struct log *log;
	VEC(struct attach_part) parts; /* in the order of opening */
	/* Threads that started meanwhile; a new process stands for its threads. */
	VEC(struct target_thread) late;
	unsigned n_attempts;
	struct hotplug hotplug;
};

void attach_init(struct attach *a, struct target *target, const char *done, struct log *log);
void attach_add(struct attach *a, const struct attach_part *part);
void attach_fini(struct attach *a); /* closes nothing */

/*
 * Opens all parts. If threads inherit events, `words` name the target, so that running processes
 * can be listed again; NULL: nothing is inherited.
 */
int attach_open(struct attach *a, const struct target_words *words, struct err *err);

/* Checks whether CPUs went offline or came back. */
void attach_look(struct attach *a);

/*
 * Adds "of 7 threads that were started meanwhile, WHAT may be missing: 123, 124 and 5 more";
 * nothing if there are none.
 */
void attach_add_late(const struct attach *a, const char *what, struct str *text);
/* Warns about them, with the number of attempts. */
void attach_warn(const struct attach *a, const char *what);

#endif
