/*
 * growth.h - how perf maps grew while they were recorded: /tmp/perf-PID.map.
 *
 * No line of a perf map says from when on it holds. But a line that was not there yet at one time is
 * newer than that.
 * In       a directory
 * Out      marks: at that time the map of that process had so many bytes
 * Owns     an inotify descriptor, the marks
 * Errors   growth_open(): ERR_SYS. A map that cannot be looked at has no marks
 * Threads  one
 * Source   inotify(7)
 */
#ifndef PACE_COLLECT_GROWTH_H
#define PACE_COLLECT_GROWTH_H

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"
#include "collect/around/perfclock.h"

enum { GROWTH_MARKS_MAX = 1 << 18 }; /* more are forgotten: what comes then counts as of the end */

struct growth_mark {
	u32 pid;
	u64 size, time; /* time 0: before the recording */
};

struct growth_watch {
	int wd;
	u32 pid;
};

struct growth {
	const char *dir;
	VEC(struct growth_watch) watches; /* of one map each */
	int fd;                           /* can be read when a map may have grown; -1: not open */
	VEC(struct growth_mark) marks;    /* in the order of time */
};

/* Marks what is there already. */
int growth_open(struct growth *g, const char *dir, struct err *err);
void growth_close(struct growth *g);

/* Marks what has grown since the last time. True if anything did; it waits for nothing. */
bool growth_look(struct growth *g, struct perfclock *clock);

#endif
