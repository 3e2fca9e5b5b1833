/*
 * working.h - work that takes long, while the screen goes on: it says how far the work is, and Esc ends it.
 *
 * In       a function that works, with nothing of what the screen shows
 * Out      the last line of a browser, from the first moment on; whether the work came to its end
 * Owns     a thread, until working_run() returns
 * Errors   none: without a thread the work is done before the screen goes on
 * Threads  the function runs on a thread of its own, which blocks signals. It says how far it is by base/progress, and
 *          stops early where that says so
 */
#ifndef PACE_VIEW_WORKING_H
#define PACE_VIEW_WORKING_H

#include "view/screen/browser.h"

/* False: the user gave it up, and what it made is not whole. Keys that are pressed meanwhile are for the next view. */
bool working_run(struct browser *b, const char *what, void (*work)(void *of), void *of);

#endif
