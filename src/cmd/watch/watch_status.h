/*
 * watch_status.h - watch --status: whether one is running, what it takes, what its store has.
 *
 * In       the store; /proc of the process that writes to it
 * Out      lines of text
 * Owns     nothing
 * Errors   those of opening the store
 */
#ifndef PACE_CMD_WATCH_STATUS_H
#define PACE_CMD_WATCH_STATUS_H

#include "cmd/watch/watch_options.h"

int watch_status_add(const struct watch_options *o, struct log *log, bool *ret_is_running,
	struct str *text, struct err *err);

#endif
