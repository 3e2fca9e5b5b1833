/*
 * hook.h - runs a shell command of the user's before or after each run.
 *
 * In       its text; NULL: nothing is run. The signals of collect/run/stop.h are blocked, so that one
 *          that comes meanwhile stays pending for the caller; the command gets it at once
 * Errors   it cannot be started, or ends with a status other than 0 and that of such a signal
 */
#ifndef PACE_COLLECT_HOOK_H
#define PACE_COLLECT_HOOK_H

#include "base/err.h"

/* `option` is the option that gave the command, for messages: "--pre". */
int hook_run(const char *option, const char *command, struct err *err);

#endif
