/*
 * tracing.h - the TRACING_DATA section: the formats of tracepoints, so that their samples can be read on
 * other machines.
 *
 * In       tracefs; the ids of the recorded tracepoints
 * Out      the section's bytes
 * Errors   those of tracefs_find(); a format that cannot be read
 * Source   trace-cmd.dat(5), version 6, as perf puts it into its files
 */
#ifndef PACE_FILE_TRACING_H
#define PACE_FILE_TRACING_H

#include "base/err.h"
#include "base/str.h"
#include "event/event.h"

/* Whether any event is a tracepoint. */
bool tracing_is_needed(const struct event_list *events);

/* Appends the section. `root` NULL asks tracefs_find(). */
int tracing_write(const char *root, const struct event_list *events, struct str *out,
	struct err *err);

#endif
