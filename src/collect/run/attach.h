/*
 * attach.h - everything that is measured of a target: opened at once, and again on CPUs that come back.
 *
 * A thread inherits those events that the thread which starts it has at that moment. Who began while
 * events were being opened has some and lacks others, and nobody can tell which: opened for it as well,
 * some would count twice. So all are closed, which takes them from whoever inherited them, and opened
 * again for the threads that there are now, until nobody began meanwhile, or for a time.
 * In       the parts: who opens and closes events; what the target was made of
 * Out      the target as it was when they were opened; who began during the last attempt; of CPUs that
 *          come and go what hotplug.h says
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

/* Some of what is opened on the target. */
struct attach_part {
	void *ctx;
	/* On the target as it is listed now; on failure nothing is left open. */
	int (*open)(void *ctx, struct err *err);
	void (*close)(void *ctx);
	/* What was open on a CPU that is back; how many could not be. */
	size_t (*reopen)(void *ctx, s32 cpu);
};

struct attach {
	const char *done; /* what is done with the target: "recorded" */
	struct target *target;
	struct log *log;
	VEC(struct attach_part) parts;  /* in the order in which they are opened */
	VEC(struct target_thread) late; /* of a process that was started: it and its first thread */
	unsigned n_attempts;
	struct hotplug hotplug;
};

void attach_init(struct attach *a, struct target *target, const char *done, struct log *log);
void attach_add(struct attach *a, const struct attach_part *part);
void attach_fini(struct attach *a); /* closes nothing */

/*
 * Opens all parts. `words` name the target if its threads inherit events, so that those of processes that run
 * are listed again; NULL: nothing is inherited.
 */
int attach_open(struct attach *a, const struct target_words *words, struct err *err);

/* Looks whether CPUs went off or came back. */
void attach_look(struct attach *a);

/* "of 7 threads that were started meanwhile, WHAT may be missing: 123, 124 and 5 more"; nothing if there are none. */
void attach_add_late(const struct attach *a, const char *what, struct str *text);
/* The same with how often it was tried, as a warning. */
void attach_warn(const struct attach *a, const char *what);

#endif
