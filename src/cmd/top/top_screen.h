/*
 * top_screen.h - top on a terminal: the browser over what is measured meanwhile, and the keys that steer it.
 *
 * In       options, a command to start or none
 * Out      the screen
 * Owns     the thread that measures, and what it hands over
 * Errors   those of opening; later ones are on the screen
 * Threads  the caller's has the screen; another one measures
 */
#ifndef PACE_CMD_TOP_SCREEN_H
#define PACE_CMD_TOP_SCREEN_H

#include "base/log.h"
#include "cmd/top/top_options.h"

/* Until a key or a signal ends it, or --refreshes. */
int top_screen(const struct top_options *o, char **command, struct log *log, struct err *err);

#endif
