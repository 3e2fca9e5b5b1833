/*
 * hook.h - a command of the user's for the shell, before or behind each run.
 *
 * In       its text, or NULL: nothing is run. The signals of collect/run/stop.h are blocked, so that one
 *          that comes meanwhile waits for whoever takes it; the command gets it at once
 * Errors   it cannot be started, or ends with a status that is not 0 and is not that of such a signal
 */
#ifndef PACE_COLLECT_HOOK_H
#define PACE_COLLECT_HOOK_H

#include "base/err.h"

/* `option` is where it comes from, for messages: "--pre". */
int hook_run(const char *option, const char *command, struct err *err);

#endif
