/*
 * growth.h - how perf maps, /tmp/perf-PID.map, grew during the recording.
 *
 * The lines of a perf map have no times. But a line that was missing at some time is newer than that.
 * In       a directory
 * Out      marks: at this time this process's map had this many bytes
 * Owns     an inotify descriptor, the marks
 * Errors   growth_open(): ERR_SYS. A map that cannot be examined has no marks
 * Threads  one
 * Source   inotify(7)
 */
#ifndef PACE_COLLECT_GROWTH_H
#define PACE_COLLECT_GROWTH_H

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"
#include "collect/around/perfclock.h"

/* Later marks are dropped: their lines count as written at the end. */
enum { GROWTH_MARKS_MAX = 1 << 18 };

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
	VEC(struct growth_watch) watches; /* each of one map */
	int fd;                           /* readable when a map may have grown; -1: not open */
	VEC(struct growth_mark) marks;    /* ordered by time */
};

/* Starts to watch, and marks the maps that exist already. */
int growth_open(struct growth *g, const char *dir, struct err *err);
void growth_close(struct growth *g);

/* Marks the maps that have grown since the last call, without waiting. True if any has. */
bool growth_look(struct growth *g, struct perfclock *clock);

#endif
