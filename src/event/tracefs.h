/*
 * tracefs.h - tracepoints, by name.
 *
 * Errors   ERR_NOENT for an unknown name (with the nearest one) or when no tracefs is mounted (with
 *          the command that mounts it); ERR_PERM with the command that opens it
 * Source   Documentation/trace/events.rst: events/<system>/<name>/id
 */
#ifndef PACE_EVENT_TRACEFS_H
#define PACE_EVENT_TRACEFS_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

/* The commands that mount tracefs, and that open it to a group (%u); the mount point follows the second one. */
#define TRACEFS_MOUNT "sudo mount -t tracefs nodev /sys/kernel/tracing"
#define TRACEFS_OPEN  "sudo mount -o remount,mode=755,gid=%u"

/* Names the only place to look at, if it is set. */
#define TRACEFS_VARIABLE "PACE_TRACEFS"

/* Writes to buf where tracefs is mounted: by itself, else below debugfs. */
int tracefs_find(char *buf, size_t size, struct err *err);

/*
 * Adds the fields of a tracepoint as filters name them, without those that all tracepoints have:
 * "prev_comm prev_pid". Adds nothing if its format cannot be read.
 */
void tracefs_add_fields(const char *root, const char *system, const char *name, struct str *text);

/* The id of tracepoint system:name. `root` NULL: where tracefs_find() finds it. */
int tracefs_id(const char *root, const char *system, const char *name, u64 *ret_id,
	struct err *err);

/*
 * All tracepoints whose system and name match the globs, as "system:name": sorted, interned in
 * `names`. ERR_NOENT if there are none.
 */
int tracefs_match(const char *root, const char *system, const char *name, struct intern *names,
	struct err *err);

#endif
