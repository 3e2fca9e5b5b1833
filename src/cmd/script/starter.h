/*
 * starter.h - a script to begin with: a function for each tracepoint of a recording, which prints its fields.
 *
 * Errors   ERR_UNSUPPORTED: another language than Python; ERR_SYS: the file cannot be written; it is not overwritten
 */
#ifndef PACE_CMD_STARTER_H
#define PACE_CMD_STARTER_H

#include "event/event.h"
#include "file/tracepoints.h"

/* Writes perf-script.py, and adds a line about it to *text. */
int starter_write(const char *language, const struct event_list *events,
	const struct tracepoints *tracepoints, struct str *text, struct err *err);

#endif
